// Marks of unfinished merges in any file of the repository: prose and data have no compiler that would find them.
import { spawnSync } from "node:child_process";
import { root } from "./fingerprint.mjs";

const MARKS = "^(<{7} .|={7}$|>{7} .)";
const git = (...command) => spawnSync("git", command, { cwd: root, encoding: "utf8" });
const { status, stdout, stderr } = git("grep", "-nIE", MARKS);
if (status === 0) {
  console.error(`marks of an unfinished merge:\n${stdout}`);
  process.exit(1);
}
if (status !== 1 && git("rev-parse", "--git-dir").status === 0) {
  console.error(stderr);
  process.exit(1);
}
console.log(
  status === 1 ? "no marks of unfinished merges" : "marks of unfinished merges not looked for: no git checkout",
);
