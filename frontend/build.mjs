// Bundles each widget (a folder of src/ next to shared/) into one script and one style sheet inside the Python
// package, without anything from a network. The first line of both holds the hash of the sources, so that a test can
// tell when they are stale.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../sense7_qual/widgets/static");

const files = folder =>
  readdirSync(join(here, "src", folder))
    .sort()
    .map(name => `src/${folder}/${name}`);
const folders = readdirSync(join(here, "src"));

const hash = createHash("sha256");
const sources = folders.flatMap(files).filter(name => !name.includes(".test."));
for (const name of [...sources, "build.mjs", "package-lock.json"].sort()) {
  hash.update(`${name}\n`).update(readFileSync(join(here, name)));
}

for (const widget of folders.filter(folder => folder !== "shared")) {
  const made = `sense7_qual ${widget} widget; sources ${hash.copy().digest("hex")}`;
  const outfile = join(out, `${widget}.js`);
  await build({
    // What anywidget loads: a session and its page in each place where the widget is shown.
    stdin: {
      contents: `import { widget } from "./shared/frame"; import { Page } from "./${widget}/page"; import { Session } from "./${widget}/session"; export default widget(Session, Page);`,
      resolveDir: join(here, "src"),
    },
    outfile,
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "inline",
    tsconfigRaw: {
      compilerOptions: { target: "ES2022", jsx: "react", jsxFactory: "h", jsxFragmentFactory: "Fragment" },
    },
    inject: [join(here, "src/shared/jsx.ts")],
    banner: { js: `// ${made}` },
  });
  // Several widgets are in one page, and their sheets share names of classes: all rules of a sheet, the shared ones
  // too, apply to its own widget alone. Its root is the element with both classes. :where() adds no specificity. They stay
  // nested, which every browser since 2024 reads: the root's name before each selector was a quarter of a sheet.
  const sheets = ["shared", widget].flatMap(files).filter(name => name.endsWith(".css"));
  // A rule of a class that the script does not name, whole or by how it begins, is another widget's.
  const script = readFileSync(outfile, "utf8");
  const words = new Set(script.match(/[\w-]+/g));
  const begun = [...script.matchAll(/(s7-(?:[\w-]+-)?)\$\{/g)].map(([, beginning]) => beginning);
  const isNamed = name =>
    words.has(name) || begun.some(one => name.startsWith(one) && (one !== "s7-" || words.has(name.slice(3))));
  const meets = rule =>
    /^[^{]*[,(]/.test(rule) || (rule.split("{")[0].match(/s7-[\w-]+/g) ?? []).every(isNamed);
  const all = sheets.map(name => readFileSync(join(here, name), "utf8")).join("\n");
  const rules = all
    .replace(/^\.s7[^{}@]*\{[^{}]*\}\n/gm, rule => (meets(rule) ? rule : ""))
    .replace(/\.s7(?![\w-])/g, "&.s7");
  const scoped = await transform(`:where(.s7-${widget}-widget) {\n${rules}}`, {
    loader: "css",
    minify: true,
    charset: "utf8",
    banner: `/* ${made} */`,
  });
  writeFileSync(join(out, `${widget}.css`), scoped.code);
}
