// Makes a fresh clone runnable: system packages, npm packages, builds. No dependencies; a second run does nothing.
// usage: setup.mjs [--tests]   (--tests also installs what only `npm test` needs)
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isFresh, markFresh, root } from "./fingerprint.mjs";

const MIN_NODE = [20, 15];
const tests = process.argv.includes("--tests");

const run = (command, args, options = {}) =>
  spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], ...options });
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
    ...(tests ? [["gtest/gtest.h", "libgtest-dev"]] : []),
  ];
  for (const [header, name] of headers) {
    const folders = ["/usr/include", "/usr/local/include"];
    if (!folders.some((folder) => existsSync(join(folder, header)))) missing.push(name);
  }
  if (tests && !output("clang-format", ["--version"])) missing.push("clang-format");
  return missing;
}

function installPackages() {
  if (process.platform !== "linux") return; // other systems bring their own compiler; CMake says what it lacks
  const missing = missingPackages();
  if (missing.length === 0) return;
  const root_ = process.getuid?.() === 0;
  const sudo = root_ ? [] : ["sudo", "-n"];
  const apt = output("apt-get", ["--version"]) !== "";
  const canSudo = root_ || spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0;
  const command = `sudo apt-get install -y ${missing.join(" ")}`;
  if (!apt || !canSudo) fail(`Missing: ${missing.join(", ")}. Install with:\n  ${command}\nthen run this again.`);
  console.error(`Installing ${missing.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const steps = [
    ["apt-get", "update", "-q"],
    ["apt-get", "install", "-yq", "--no-install-recommends", ...missing],
  ];
  for (const step of steps) {
    const [program, ...rest] = [...sudo, ...step];
    if (run(program, rest, { env }).status !== 0) fail(`Could not install. Try by hand:\n  ${command}`);
  }
  const still = missingPackages();
  if (still.length)
    fail(`Still missing after the install: ${still.join(", ")} (g++ 12, CMake 3.25 or newer are needed).`);
}

function installModules() {
  const stamp = fingerprint(["package-lock.json"]);
  if (existsSync(join(root, "node_modules", ".package-lock.json")) && isFresh("modules", stamp)) return;
  console.error("Installing npm packages");
  if (
    run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund"], { shell: process.platform === "win32" }).status !== 0
  ) {
    fail("npm ci failed; the messages above say why.");
  }
  markFresh("modules", stamp);
}

function build(step, label) {
  if (run(process.execPath, [join(root, "scripts", step)]).status !== 0) fail(`${label} did not build.`);
}

export function setup() {
  checkNode();
  const inputs = ["cpp", "cuda", "backend", "shared", "scripts", "CMakeLists.txt", "package.json", "package-lock.json"];
  const stamp = fingerprint(inputs, tests ? "tests" : "");
  const outputs = ["node_modules/.package-lock.json", "build/native/Release/pc.node", "dist/backend/entry/headless.js"];
  const step = tests ? "setup-tests" : "setup";
  if (outputs.every((path) => existsSync(join(root, path))) && isFresh(step, stamp)) return;
  installPackages();
  installModules();
  build("build-native.mjs", "The native addon");
  build("build-ts.mjs", "The backend");
  markFresh(step, stamp);
}

if (process.argv[1] === join(root, "scripts", "setup.mjs")) setup();
