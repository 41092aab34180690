// Makes a fresh clone runnable: system packages, npm packages, builds. No dependencies; a second run does nothing.
// usage: setup.mjs [--tests]   (--tests also installs what only `npm test` needs)
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isFresh, markFresh, root } from "./fingerprint.mjs";
import { QuietSteps } from "./quiet.mjs";

const MIN_NODE = [20, 15];
const LOG = join(root, "build", "setup.log");
const tests = process.argv.includes("--tests");

const output = (command, args) => spawnSync(command, args, { encoding: "utf8" }).stdout ?? "";
const fail = (message) => {
  console.error(message);
  process.exit(1);
};

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    fail(`Node ${process.versions.node} is too old: ${MIN_NODE.join(".")} or newer is needed (https://nodejs.org).`);
  }
}

/** Missing tools as the Debian packages that bring them. */
function missingPackages() {
  const missing = [];
  const gcc = Number.parseInt(output("g++", ["-dumpversion"]), 10);
  if (!(gcc >= 12)) missing.push("g++");
  const cmake = /cmake version (\d+)\.(\d+)/.exec(output("cmake", ["--version"]));
  if (!cmake || Number(cmake[1]) * 1000 + Number(cmake[2]) < 3025) missing.push("cmake");
  if (!output("ninja", ["--version"]) && !output("make", ["--version"])) missing.push("ninja-build");
  const headers = [
    ["eigen3/Eigen/Core", "libeigen3-dev"],
    ["fast_float/fast_float.h", "libfast-float-dev"],
    ["libdeflate.h", "libdeflate-dev"],
    ...(tests ? [["gtest/gtest.h", "libgtest-dev"]] : []),
  ];
  for (const [header, name] of headers) {
    const folders = ["/usr/include", "/usr/local/include"];
    if (!folders.some((folder) => existsSync(join(folder, header)))) missing.push(name);
  }
  if (tests && !output("clang-format", ["--version"])) missing.push("clang-format");
  return missing;
}

async function installPackages(steps) {
  if (process.platform !== "linux") return; // other systems bring their own compiler; CMake says what it lacks
  const missing = missingPackages();
  if (missing.length === 0) return;
  const isRoot = process.getuid?.() === 0;
  const sudo = isRoot ? [] : ["sudo", "-n"];
  const apt = output("apt-get", ["--version"]) !== "";
  const canSudo = isRoot || spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0;
  const command = `sudo apt-get install -y ${missing.join(" ")}`;
  if (!apt || !canSudo)
    throw new Error(`Missing: ${missing.join(", ")}. Install with:\n  ${command}\nthen run this again.`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // A machine that was just started often installs its updates: they hold the lock for minutes.
  const wait = ["-o", "DPkg::Lock::Timeout=600"];
  for (const step of [
    ["apt-get", ...wait, "update", "-q"],
    ["apt-get", ...wait, "install", "-yq", "--no-install-recommends", ...missing],
  ]) {
    const [program, ...rest] = [...sudo, ...step];
    await steps.run(`installing ${missing.join(", ")}`, program, rest, { env });
  }
  const still = missingPackages();
  if (still.length)
    throw new Error(`Still missing after the install: ${still.join(", ")} (g++ 12, CMake 3.25 or newer are needed).`);
}

async function installModules(steps) {
  const stamp = fingerprint(["package-lock.json"]);
  if (existsSync(join(root, "node_modules", ".package-lock.json")) && isFresh("modules", stamp)) return;
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  await steps.run("installing npm packages", "npm", args, { cwd: root, shell: process.platform === "win32" });
  markFresh("modules", stamp);
}

/** "34 of 183" from the output of ninja, "12 %" from that of make. */
function buildProgress(text) {
  const ninja = [...text.matchAll(/\[(\d+)\/(\d+)\]/g)].at(-1);
  if (ninja) return `${ninja[1]} of ${ninja[2]}`;
  const make = [...text.matchAll(/\[ *(\d+)%\]/g)].at(-1);
  return make ? `${make[1]} %` : "";
}

const build = (steps, script, title) =>
  steps.run(title, process.execPath, [join(root, "scripts", script)], { cwd: root, detailOf: buildProgress });

/** Does what is missing. Prints one line while it works, and nothing when there is nothing to do. */
export async function setup() {
  checkNode();
  const inputs = ["cpp", "cuda", "backend", "shared", "scripts", "CMakeLists.txt", "package.json", "package-lock.json"];
  const stamp = fingerprint(inputs, tests ? "tests" : "");
  const outputs = ["node_modules/.package-lock.json", "build/native/Release/pc.node", "dist/backend/entry/headless.js"];
  const step = tests ? "setup-tests" : "setup";
  if (outputs.every((path) => existsSync(join(root, path))) && isFresh(step, stamp)) return;
  const steps = new QuietSteps(LOG);
  try {
    await installPackages(steps);
    await installModules(steps);
    await build(steps, "build-native.mjs", "building the native addon");
    await build(steps, "build-ts.mjs", "building the backend");
  } catch (error) {
    steps.done();
    fail(`${error.message}\nThe full log is in ${LOG}`);
  }
  steps.done();
  markFresh(step, stamp);
}

if (process.argv[1] === join(root, "scripts", "setup.mjs")) await setup();
