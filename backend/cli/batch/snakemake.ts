import { spawn, spawnSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { AppError } from "../../../shared/errors.ts";

/** Share of the memory that local jobs may plan with. */
const MEMORY_SHARE = 0.8;
/** A scheduler that does not end its jobs in this time after a cancel is killed. */
const GRACE_MS = 10_000;
const OLDEST = [7, 0];

/** Errors: unsupported with the way out if Snakemake is missing or too old. */
export function requireSnakemake(): string {
  const { stdout, error } = spawnSync("snakemake", ["--version"], { encoding: "utf8" });
  const version = stdout?.trim() ?? "";
  const [major = 0] = version.split(".").map(Number);
  if (error || version === "")
    throw new AppError(
      "unsupported",
      "Snakemake runs the jobs of a batch and is not installed: apt-get install snakemake",
    );
  if (major < (OLDEST[0] ?? 7))
    throw new AppError("unsupported", `Snakemake ${version} is too old; install version ${OLDEST.join(".")} or newer`);
  return version;
}

export interface SchedulerRun {
  readonly folder: string;
  readonly cores: number;
  /** Folder of a Snakemake profile; null: on this machine. */
  readonly profile: string | null;
  readonly signal: AbortSignal;
  /** Told the process group of all jobs. */
  readonly claim: (group: number) => Promise<void>;
  readonly onProgress: (done: number, total: number) => void;
}

/** Runs the workflow of a folder. Returns whether every job succeeded; the log is in logs/snakemake.log. */
export async function runSnakemake({
  folder,
  cores,
  profile,
  signal,
  onProgress,
  claim,
}: SchedulerRun): Promise<boolean> {
  const local = [`--cores`, String(cores), "--resources", `mem_mb=${Math.floor((MEMORY_SHARE * totalmem()) / 1e6)}`];
  const args = [
    "--snakefile",
    "Snakefile",
    ...(profile === null ? local : ["--profile", profile]),
    "--keep-going",
    "--rerun-incomplete",
    "--nolock", // a lock of a killed run would stay; the batch has its own
    "--rerun-triggers",
    "mtime",
    "params",
    "input",
  ];
  // A process group of its own: a cancel reaches the jobs too.
  const child = spawn("snakemake", args, { cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const log = createWriteStream(join(folder, "logs", "snakemake.log"), { flags: "a" });
  const end = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // Ended already.
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    end("SIGTERM");
    timer = setTimeout(() => end("SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", cancel, { once: true });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      log.write(`${line}\n`);
      const [, done, total] = /^(\d+) of (\d+) steps/.exec(line) ?? [];
      if (done !== undefined) onProgress(Number(done), Number(total));
    });
  }
  try {
    const code = await new Promise<number | null>((done, fail) => {
      child.once("error", fail);
      child.once("close", done);
      if (child.pid !== undefined) claim(child.pid).catch(fail);
    });
    signal.throwIfAborted();
    return code === 0;
  } finally {
    signal.removeEventListener("abort", cancel);
    clearTimeout(timer);
    log.end();
  }
}
