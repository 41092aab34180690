// clang-format over the C++ and CUDA sources, where the tool is installed; says so where it is not.
import { spawnSync } from "node:child_process";
import { root } from "./fingerprint.mjs";

const run = (command, args) => spawnSync(command, args, { cwd: root, encoding: "utf8" });
const version = run("clang-format", ["--version"]);
if (version.status !== 0) {
  console.log("C++ format not checked: clang-format is not installed");
  process.exit(0);
}
const major = Number(/version (\d+)/.exec(version.stdout)?.[1]);
if (major !== 14) {
  console.log(`C++ format not checked: clang-format ${major} lays out differently from the project's 14`);
  process.exit(0);
}
const list = run("git", ["ls-files", "cpp/**", "cuda/**", "test/cpp/**"]).stdout.split("\n");
const files = list.filter((path) => /\.(h|cpp|cu|cuh)$/.test(path));
if (files.length < 100) {
  console.error(`found ${files.length} C++ files: is the check still finding anything?`);
  process.exit(1);
}
const { stderr } = run("clang-format", ["--dry-run", ...files]);
const bad = [...new Set([...stderr.matchAll(/^(\S+?):\d+:\d+: (?:warning|error)/gm)].map((m) => m[1]))];
console.log(
  bad.length > 0 ? `not formatted (clang-format -i):\n${bad.join("\n")}` : `C++ format ok: ${files.length} files`,
);
process.exitCode = bad.length > 0 ? 1 : 0;
