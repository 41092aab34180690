// clang-format over the C++ and CUDA sources. Where it is missing, or is not the project's version, the check fails in CI,
// and so does it where `setup.mjs --tests` should have installed it; elsewhere it says that nothing was checked.
import { spawnSync } from "node:child_process";
import { root, wasDone } from "./fingerprint.mjs";

const run = (command, args) => spawnSync(command, args, { cwd: root, encoding: "utf8" });
const version = run("clang-format", ["--version"]);
const ci = Boolean(process.env.CI);
const notChecked = (why, isFailure) => {
  console.log(`C++ format not checked: ${why}`);
  process.exit(isFailure ? 1 : 0);
};
if (version.status !== 0) {
  const installs = process.platform === "linux" && wasDone("setup-tests");
  notChecked("clang-format is not installed; `node scripts/setup.mjs --tests` installs it", ci || installs);
}
const major = Number(/version (\d+)/.exec(version.stdout)?.[1]);
if (major !== 14) notChecked(`clang-format ${major} lays out differently from the project's 14`, ci);
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
