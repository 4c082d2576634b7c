// For the tests alone: a code of a codebook.
import type { Code } from "./protocol";

export const code = (id: string, key: string | null, codable = true): Code => ({
  id,
  label: id[0]!.toUpperCase() + id.slice(1),
  definition: `What ${id} means`,
  use_when: [],
  avoid_when: [],
  examples: [],
  counter_examples: [],
  parent: null,
  colour: null,
  codable,
  key,
  look: { light: "#017974", dark: "#0ad9c4", line: 0, short: id },
});
