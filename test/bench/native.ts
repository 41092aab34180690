// Builds the benchmark program and runs its jobs: each a process of its own.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root } from "./folders.ts";
import { availableBytes } from "./process.ts";
import { run } from "./run.ts";

const { dropMovedCache } = await import(new URL("../../scripts/cmake-cache.mjs", import.meta.url).href);

const build = join(root, "build", "bench");
const program = join(build, "pc_bench");
/** The targets are stated for two cores; more would flatter them. */
export const THREADS = "2";

/** Of a whole process, its start and end included. */
export interface ProcessFigures {
  readonly wall_s: number;
  readonly cpu_s: number;
  readonly peak_rss_mib: number;
}
/** Those and the figures that the program itself prints. */
export type Figures<Name extends string> = ProcessFigures & { readonly [name in Name]: number };

/** Builds pc_bench (Release, no sanitizers) when its sources changed. */
export function buildProgram(): void {
  const ninja = spawnSync("ninja", ["--version"]).status === 0 ? ["-G", "Ninja"] : [];
  const options = ["-DPC_BENCH=ON", "-DPC_ADDON=OFF", "-DPC_CUDA=OFF", "-DCMAKE_BUILD_TYPE=Release"];
  const steps = [
    ["-S", root, "-B", build, ...(existsSync(join(build, "CMakeCache.txt")) ? [] : ninja), ...options],
    ["--build", build, "--target", "pc_bench", "--parallel", String(availableParallelism())],
  ];
  dropMovedCache(build);
  for (const step of steps) {
    const { status, stdout, stderr, error } = spawnSync("cmake", step, { encoding: "utf8" });
    if (status !== 0) throw new Error(`cmake ${step[0]} failed:\n${error?.message ?? `${stdout}\n${stderr}`}`);
  }
}

/**
 * Touches most of the free memory, at most 32 GiB: a virtual machine gets it from its host at the first touch, which takes up
 * to 3 seconds a GiB. Later processes find it there.
 */
export async function touchMemory(): Promise<void> {
  const mebibytes = Math.floor(Math.min(0.8 * availableBytes(), 32 * 2 ** 30) / 2 ** 20);
  await run(program, ["touch", String(mebibytes)]);
}

/** Runs a program under `pc_bench measure`; the figures of its own last line of JSON, where it prints one, join in. */
export async function measured<const Name extends string>(
  names: readonly Name[],
  command: string,
  args: readonly string[],
): Promise<Figures<Name>> {
  const { status, stdout, stderr } = await run(program, ["measure", command, ...args]);
  const lines = stdout.trim().split("\n");
  const usage = status === 0 ? numbersIn(lines.at(-1) ?? "") : { exit: status };
  if (usage.exit !== 0) throw new Error(`${command} ended with ${usage.exit}: ${stderr.trim().slice(-2000)}`);
  const own = lines.at(-2)?.startsWith("{") ? numbersIn(lines.at(-2) ?? "") : {};
  const { exit: _, ...figures } = { ...usage, ...own };
  for (const name of ["wall_s", "cpu_s", "peak_rss_mib", ...names])
    if (typeof figures[name] !== "number") throw new Error(`${command} ${args[0]} prints no figure ${name}`);
  return figures as unknown as Figures<Name>; // every name was looked for
}

const numbersIn = (line: string) => JSON.parse(line) as Readonly<Record<string, unknown>>;

/** Like nativeJob, with teams that sleep while they wait, as in the service (backend/native/core/load.ts). */
export const passiveJob = <const Name extends string>(names: readonly Name[], ...args: readonly string[]) =>
  measured(names, "env", ["OMP_WAIT_POLICY=passive", program, ...args]);

/** One job of pc_bench as a whole process; `names`: the figures it must print. */
export const nativeJob = <const Name extends string>(names: readonly Name[], ...args: readonly string[]) =>
  measured(names, program, args);
