// Measures results against known truth and prints the tables of docs/accuracy.md. usage: accuracy.mjs PART ...
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { register } from "tsx/esm/api";
import { root } from "./fingerprint.mjs";

const parts = readdirSync(join(root, "accuracy"))
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.slice(0, -4));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !parts.includes(name));
if (unknown.length > 0 || wanted.length === 0) {
  console.error(`usage: npm run accuracy -- PART ...   parts: ${parts.join(", ")}`);
  process.exit(2);
}
register();
for (const name of wanted) await (await import(`../accuracy/${name}.mjs`)).run();
