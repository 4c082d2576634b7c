// Writes what the widgets and the kernel say to each other, as their `messages.ts` declare it, into messages.json: a JSON
// Schema for each widget, which the tests hold the Python side to.
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createGenerator } from "ts-json-schema-generator";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "messages.json");

const shapes = path =>
  createGenerator({
    path: join(here, path),
    tsconfig: join(here, "tsconfig.json"),
    type: "*",
    jsDoc: "none",
    skipTypeCheck: true,
  }).createSchema("*").definitions;

/** A line for each shape, so that a change of one is seen as that. */
const written = folder => {
  const all = shapes(`src/${folder}/${folder === "shared" ? "protocol" : "messages"}.ts`);
  const lines = Object.keys(all)
    .sort()
    .map(name => `  ${JSON.stringify(name)}: ${JSON.stringify(all[name])}`);
  return ` ${JSON.stringify(folder)}: {\n${lines.join(",\n")}\n }`;
};
const folders = readdirSync(join(here, "src")).sort();
writeFileSync(out, `{\n${folders.map(written).join(",\n")}\n}\n`);
