// Bundles each widget into one file inside the Python package, without anything from a network.
// The first line of the bundle holds the hash of its sources, so that a test can tell when it is stale.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../sense7_qual/widgets/static");

const hash = createHash("sha256");
const sources = readdirSync(join(here, "src")).filter((name) => !name.includes(".test."));
for (const name of [...sources.map((name) => `src/${name}`), "build.mjs", "package-lock.json"].sort()) {
  hash.update(`${name}\n`).update(readFileSync(join(here, name)));
}

for (const widget of ["coding"]) {
  await build({
    entryPoints: [join(here, `src/${widget}.tsx`)],
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
  writeFileSync(join(out, `${widget}.css`), readFileSync(join(here, `src/${widget}.css`)));
}
