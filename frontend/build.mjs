// Bundles each widget (a folder of src/ beside shared/) into one script and one style sheet inside the Python
// package, without anything from a network. The first line of the script holds the hash of the sources, so that a
// test can tell when it is stale.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../sense7_qual/widgets/static");

const files = (folder) => readdirSync(join(here, "src", folder)).sort().map((name) => `src/${folder}/${name}`);
const folders = readdirSync(join(here, "src"));

const hash = createHash("sha256");
const sources = folders.flatMap(files).filter((name) => !name.includes(".test."));
for (const name of [...sources, "build.mjs", "package-lock.json"].sort()) {
  hash.update(`${name}\n`).update(readFileSync(join(here, name)));
}

for (const widget of folders.filter((folder) => folder !== "shared")) {
  await build({
    entryPoints: [join(here, `src/${widget}/index.tsx`)],
    outfile: join(out, `${widget}.js`),
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "inline",
    jsx: "automatic",
    jsxImportSource: "preact",
    banner: { js: `// sense7_qual ${widget} widget; sources ${hash.copy().digest("hex")}` },
  });
  const sheets = ["shared", widget].flatMap(files).filter((name) => name.endsWith(".css"));
  writeFileSync(join(out, `${widget}.css`), sheets.map((name) => readFileSync(join(here, name), "utf8")).join("\n"));
}
