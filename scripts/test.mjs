// Runs the checks and tests and ends with the plain count. usage: test.mjs [all | static | cpp | fuzz | sanitize | limits | ts | gpu]
import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { dropMovedCache } from "./cmake-cache.mjs";
import { fingerprint, root } from "./fingerprint.mjs";

const wanted = process.argv[2] ?? "all";
const FUZZ_CASES = "2000";
/** Threads of small loops would spin at each barrier for as long as the other thread waits for a core. */
const PASSIVE = "passive";
/** Fingerprint of the C++ sources whose tests and fuzzers last passed under the sanitizers. It is committed. */
const SANITIZED = join(root, "test", "sanitized.txt");
const CPP_SOURCES = ["CMakeLists.txt", "cpp/core", "cpp/io", "cpp/ops", "cpp/spatial", "cuda", "test/cpp"];
/** The core as the addon contains it. */
const delivered = join(root, "build", "native", "libpc_core.a");
const env = {
  ...process.env,
  ASAN_OPTIONS: "detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=1:quarantine_size_mb=32",
  UBSAN_OPTIONS: "print_stacktrace=1",
  OMP_WAIT_POLICY: PASSIVE,
};

/** Output of the lane beside the TypeScript tests, held back until its part ends or they do: two at once could not be read. */
const held = new AsyncLocalStorage();
const kept = [];
let alone = false;
const release = () => {
  for (const [stream, chunk] of kept.splice(0)) stream.write(chunk);
};
const show = (stream, chunk) => {
  if (held.getStore() && !alone) kept.push([stream, chunk]);
  else stream.write(chunk);
};
const say = (line) => show(process.stdout, `${line}\n`);

/** Runs a command, shows its output, returns { status, text }. */
function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, ...options, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    const take = (stream) => (chunk) => {
      text += chunk;
      if (text.length > 4e6) text = text.slice(-2e6);
      show(stream, chunk);
    };
    child.stdout.on("data", take(process.stdout));
    child.stderr.on("data", take(process.stderr));
    child.on("error", (error) => resolve({ status: 127, text: `${text}${error.message}` }));
    child.on("close", (status) => resolve({ status: status ?? 1, text }));
  });
}

/** What failed, by name and first lines: said once more at the end, where a reader of a long log looks. */
const failures = [];
const noteFailure = (name, message = "") => {
  const lines = message.split("\n").slice(0, 6);
  failures.push(
    [name, ...lines.filter((line) => line.trim() !== "").map((line) => `  ${line.slice(0, 300)}`)].join("\n"),
  );
};

const lastLines = (text) => text.trimEnd().split("\n").slice(-6).join("\n");

const npx = (name) => join(root, "node_modules", ".bin", process.platform === "win32" ? `${name}.cmd` : name);
const one = ({ status }) => (status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
const counted = ({ status, text }, pattern) => {
  const found = [...text.matchAll(pattern)].at(-1);
  if (!found) return { passed: 0, failed: 1 }; // it never came to the count: a crash is a failure
  const passed = Number(found[1]);
  const failed = Number(found[2] ?? 0);
  return { passed, failed: status !== 0 && failed === 0 ? 1 : failed };
};

async function staticChecks() {
  const results = [];
  for (const [command, ...args] of [
    [process.execPath, "scripts/check-layers.mjs"],
    [process.execPath, "scripts/endpoint-index.mjs", "--check"],
    [process.execPath, "scripts/check-format.mjs"],
    [process.execPath, "scripts/check-conflicts.mjs"],
    [process.execPath, "scripts/check-licences.mjs"],
    [process.execPath, npx("tsc"), "--noEmit"],
    [process.execPath, npx("tsc"), "--noEmit", "-p", "backend/window"],
    [npx("biome"), "check", "--error-on-warnings", "."],
  ]) {
    const result = await run(command, args);
    if (result.status !== 0) noteFailure([command, ...args].join(" "), lastLines(result.text));
    results.push(one(result));
  }
  return results;
}

const passedSanitized = (sources) => existsSync(SANITIZED) && readFileSync(SANITIZED, "utf8").trim() === sources;

/** Whether the sanitizers look this time: their build and their runs take four times as long (ADR 64). */
let sanitized = true;
/** Fingerprint of what is built: later ones may be of files that changed while the tests ran. */
let builtSources = "";
const folderOfCpp = () => join(root, "build", sanitized ? "asan" : "tests");
const failedOfCpp = [];

/** Sources that passed under the sanitizers are tested as they are delivered: with the core of the addon. */
async function buildCpp() {
  builtSources = fingerprint(CPP_SOURCES);
  sanitized = wanted === "sanitize" || !existsSync(delivered) || !passedSanitized(builtSources);
  if (!sanitized)
    say("These C++ sources passed under the sanitizers (test/sanitized.txt): their tests run with the addon's core");
  const generator = (await run("ninja", ["--version"])).status === 0 ? ["-G", "Ninja"] : [];
  const options = ["-DPC_ADDON=OFF", "-DPC_CUDA=OFF", "-DPC_TESTS=ON", "-DPC_WERROR=ON"];
  if (sanitized) options.push("-DPC_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Sanitize", "-DCMAKE_CXX_FLAGS_SANITIZE=-O1");
  else options.push("-DCMAKE_BUILD_TYPE=Plain", "-DCMAKE_CXX_FLAGS_PLAIN=-O1", `-DPC_CORE_LIBRARY=${delivered}`);
  const folder = folderOfCpp();
  dropMovedCache(folder);
  const configured = await run("cmake", ["-S", root, "-B", folder, ...generator, ...options]);
  const build = ["cmake", "--build", folder, "--parallel", String(availableParallelism())];
  const [command, ...rest] = process.platform === "win32" ? build : ["nice", ...build]; // tests with a clock run beside it
  const built = configured.status === 0 ? await run(command, rest) : configured;
  if (built.status === 0) return [];
  noteFailure("the C++ tests do not build", lastLines(built.text));
  return one(built);
}

/** After tests and fuzzers: what passed under the sanitizers has no need of them until it changes. */
async function recordSanitized() {
  if (!sanitized || failedOfCpp.some((failed) => failed > 0) || process.env.GTEST_FILTER) return [];
  writeFileSync(SANITIZED, `${builtSources}\n`);
  say("The C++ sources passed under the sanitizers: commit test/sanitized.txt with them");
  return [];
}

/** Processes of C++ tests side by side: most tests keep one core busy. */
const SHARDS = Math.min(2, availableParallelism());

async function cppShard(index) {
  const temporary = mkdtempSync(join(tmpdir(), "pc-tests-")); // some names of files are those of the test alone
  const shard = { GTEST_TOTAL_SHARDS: String(SHARDS), GTEST_SHARD_INDEX: String(index), TMPDIR: temporary };
  const result = await run(join(folderOfCpp(), "pc_tests"), ["--gtest_brief=1"], { env: { ...env, ...shard } });
  rmSync(temporary, { recursive: true, force: true });
  const failed = [...result.text.matchAll(/\[ {2}FAILED {2}\] (\d+) tests?/g)].at(-1)?.[1] ?? "0";
  const skipped = [...result.text.matchAll(/\[ {2}SKIPPED \] (\d+) tests?/g)].at(-1)?.[1];
  if (skipped) say(`${skipped} C++ tests skipped; the lines above say why`);
  for (const [, name] of result.text.matchAll(/\[ {2}FAILED {2}\] (\w+[./].*?) \(\d+ ms\)/g))
    noteFailure(`C++ ${name}`);
  if (result.status !== 0 && failed === "0") noteFailure("C++ tests ended early", lastLines(result.text));
  const counts = counted(
    { ...result, text: `${result.text}\n#failed ${failed}` },
    /\[ {2}PASSED {2}\] (\d+) tests?[\s\S]*#failed (\d+)/g,
  );
  failedOfCpp.push(counts.failed);
  return counts;
}

const cppTests = () => Promise.all(Array.from({ length: SHARDS }, (_, index) => cppShard(index)));

async function fuzz() {
  const result = await run(join(folderOfCpp(), "pc_fuzz"), ["all", FUZZ_CASES], { cwd: folderOfCpp() });
  if (result.status !== 0) noteFailure("fuzz", lastLines(result.text));
  const counts = counted(result, /(\d+) passed, (\d+) failed/g);
  failedOfCpp.push(counts.failed);
  return counts;
}

async function limits() {
  if (process.platform !== "linux") {
    say("allocator limits: skipped, the preload library needs Linux");
    return { passed: 0, failed: 0 };
  }
  const result = await run(process.execPath, ["scripts/test-limits.mjs"]);
  if (result.status !== 0) noteFailure("allocator limits", lastLines(result.text));
  return one(result);
}

async function typescript() {
  const report = join(root, "build", "vitest.json");
  mkdirSync(join(root, "build"), { recursive: true });
  rmSync(report, { force: true });
  const calls = join(root, "build", "endpoint-calls");
  rmSync(calls, { recursive: true, force: true });
  const { status } = await run(
    process.execPath,
    [npx("vitest"), "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    { env: { ...env, APP_RECORD_CALLS: calls } },
  );
  if (!existsSync(report)) {
    noteFailure(`vitest ended with ${status} and left no report`);
    return { passed: 0, failed: 1 };
  }
  const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(readFileSync(report, "utf8"));
  for (const file of testResults) {
    const name = relative(root, file.name);
    const broken = file.assertionResults.filter((test) => test.status === "failed");
    for (const test of broken) noteFailure(`${name} > ${test.fullName}`, test.failureMessages.join("\n"));
    if (file.status === "failed" && broken.length === 0) noteFailure(name, file.message);
  }
  const failed = numFailedTests || (status === 0 ? 0 : Math.max(1, numFailedTestSuites));
  const tests = { passed: numPassedTests, failed };
  if (failed > 0) return tests; // a failed test may have called less
  const recorded = await run(process.execPath, ["scripts/endpoint-index.mjs", "--check-calls", calls]);
  if (recorded.status !== 0) noteFailure("endpoints no test calls", lastLines(recorded.text));
  return [tests, one(recorded)];
}

/** The parameterised suites with the module beside them. A machine without a device has nothing to show here. */
async function gpu() {
  const folder = join(root, "build", "gpu");
  const options = ["-DPC_ADDON=OFF", "-DPC_CUDA=ON", "-DPC_TESTS=ON", "-DPC_BENCH=ON", "-DCMAKE_BUILD_TYPE=Release"];
  dropMovedCache(folder);
  if ((await run("cmake", ["-S", root, "-B", folder, ...options])).status !== 0) return { passed: 0, failed: 1 };
  const build = ["--build", folder, "--parallel", String(availableParallelism())];
  if ((await run("cmake", build)).status !== 0) return { passed: 0, failed: 1 };
  const result = await run(join(folder, "pc_tests"), ["--gtest_filter=*uda*:*Devices*:*Gpu*"]);
  const skipped = /\[ {2}SKIPPED \] (\d+) tests?/.exec(result.text)?.[1];
  if (skipped) {
    say(`${skipped} tests had no device: a GPU with its driver is needed, and nvcc to build pc_cuda`);
    return { passed: 0, failed: 1 };
  }
  return counted(result, /\[ {2}PASSED {2}\] (\d+) tests?/g);
}

const parts = {
  static: [staticChecks],
  cpp: [buildCpp, cppTests],
  fuzz: [buildCpp, fuzz],
  sanitize: [buildCpp, cppTests, fuzz, recordSanitized],
  limits: [limits],
  ts: [typescript],
  gpu: [gpu],
  all: [staticChecks, buildCpp, cppTests, fuzz, recordSanitized, limits],
};
/** The TypeScript tests mostly wait or use one core: the other parts run beside them. */
const beside = wanted === "all" ? [typescript] : [];
if (!parts[wanted]) {
  console.error(`unknown part: ${wanted}; one of ${Object.keys(parts).join(", ")}`);
  process.exit(2);
}
const started = performance.now();
const results = [];
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;
if ((await run(process.execPath, ["scripts/setup.mjs", "--tests"])).status !== 0)
  results.push({ passed: 0, failed: 1 });
async function runAll(lane) {
  for (const part of lane) {
    const counts = lane === beside ? await part() : await held.run(true, part);
    if (lane !== beside) release();
    const list = [counts].flat();
    results.push(...list);
    if (part === buildCpp && list.length > 0) return; // it failed: there is nothing to run
    console.log(`-- ${part.name}: ${seconds()}`);
  }
  if (lane === beside) {
    alone = true;
    release();
  }
}
if (results.length === 0) await Promise.all([runAll(beside), runAll(parts[wanted])]);
for (const failure of failures) console.log(`FAILED: ${failure}`);
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failed = results.reduce((sum, result) => sum + result.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
