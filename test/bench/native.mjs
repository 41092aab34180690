// Builds the benchmark program, makes the inputs once, and runs its jobs: each a process of its own.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/fingerprint.mjs";
import { availableBytes } from "./process.mjs";

const build = join(root, "build", "bench");
const program = join(build, "pc_bench");
export const dataFolder = join(root, "build", "bench-data");

/** Builds pc_bench (Release, no sanitizers) when its sources changed. */
export function buildProgram() {
  const ninja = spawnSync("ninja", ["--version"]).status === 0 ? ["-G", "Ninja"] : [];
  const options = ["-DPC_BENCH=ON", "-DPC_ADDON=OFF", "-DPC_CUDA=OFF", "-DCMAKE_BUILD_TYPE=Release"];
  const steps = [
    ["-S", root, "-B", build, ...(existsSync(join(build, "CMakeCache.txt")) ? [] : ninja), ...options],
    ["--build", build, "--target", "pc_bench", "--parallel", String(availableParallelism())],
  ];
  for (const step of steps) {
    const { status, stdout, stderr, error } = spawnSync("cmake", step, { encoding: "utf8" });
    if (status !== 0) throw new Error(`cmake ${step[0]} failed:\n${error?.message ?? `${stdout}\n${stderr}`}`);
  }
}

/** Runs a program under `pc_bench measure`; its own last line of JSON, when it prints one, joins the figures. */
export async function measured(command, args) {
  const { status, stdout, stderr } = await run(program, ["measure", command, ...args]);
  const lines = stdout.trim().split("\n");
  const figures = status === 0 ? JSON.parse(lines.at(-1) ?? "") : { exit: status };
  if (figures.exit !== 0) throw new Error(`${command} ended with ${figures.exit}: ${stderr.trim().slice(-2000)}`);
  const own = lines.at(-2)?.startsWith("{") ? JSON.parse(lines.at(-2)) : {};
  const { exit: _, ...usage } = figures;
  return { ...usage, ...own };
}

/** One job of pc_bench as a whole process. */
export const nativeJob = (...args) => measured(program, args);

/** Paths of the plot with `count` points. Made once, checked by size; the text table is made where `text` asks for it. */
export async function plotFiles(count, text = false) {
  const label = `plot_${count / 1e6}M`;
  const files = { las: join(dataFolder, `${label}.las`), txt: join(dataFolder, `${label}.txt`) };
  const wanted = text ? ["las", "txt"] : ["las"];
  await makeOnce(label, files, wanted, count, ["plot", String(count), files.las, ...(text ? [files.txt] : [])]);
  return files;
}

/** The plot with `count` points as E57 and as PTX. Made once, checked by size. */
export async function scanFiles(count) {
  const label = `scan_${count / 1e6}M`;
  const files = { e57: join(dataFolder, `${label}.e57`), ptx: join(dataFolder, `${label}.ptx`) };
  await makeOnce(label, files, ["e57", "ptx"], 8 * count, ["scans", String(count), files.e57, files.ptx]);
  return files;
}

/**
 * ext4 hands out no inode that was freed in the last minutes and looks past each: after a run that removed thousands of
 * files, writing as many took 2 s instead of 0.2. With this attribute each run's folder gets its own part of the disk.
 */
function makeDataFolder() {
  mkdirSync(dataFolder, { recursive: true });
  spawnSync("chattr", ["+T", dataFolder], { stdio: "ignore" }); // other file systems have no such attribute
}

/** Runs a job of pc_bench unless the wanted files are there with the sizes that were noted when they were made. */
async function makeOnce(label, files, wanted, count, job) {
  makeDataFolder();
  const stamp = join(dataFolder, `${label}.json`);
  const known = existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : {};
  if (wanted.every((kind) => known[kind] > 0 && known[kind] === sizeOf(files[kind]))) return;
  const needed = count * 100; // the plot, its sort keys and its columns
  if (availableBytes() < needed) {
    throw new Error(`making ${label} needs ${toGib(needed)} GiB of free memory, ${toGib(availableBytes())} are free`);
  }
  console.error(`making ${label} (once)`);
  rmSync(stamp, { force: true });
  await nativeJob(...job);
  writeFileSync(stamp, JSON.stringify(Object.fromEntries(wanted.map((kind) => [kind, sizeOf(files[kind])]))));
}

const toGib = (bytes) => (bytes / 2 ** 30).toFixed(1);
const sizeOf = (path) => (existsSync(path) ? statSync(path).size : 0);

/** Runs a program to its end. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...options });
    const text = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      text.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      text.stderr = `${text.stderr}${chunk}`.slice(-20_000);
    });
    child.on("error", reject);
    child.on("close", (status, signal) => resolve({ status: status ?? `signal ${signal}`, ...text }));
  });
}
