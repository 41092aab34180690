import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { writeWhole } from "./folders.ts";

const PID_FILE = "batch.pid";

/**
 * Runs `work` as the only batch of a folder; `claim` notes the process group of its jobs, which outlives a batch that is
 * killed. Errors: conflict if another batch, or jobs of one that was killed, run.
 */
export async function withPid(root: string, work: (claim: (group: number) => Promise<void>) => Promise<void>) {
  const path = join(root, PID_FILE);
  const text = await readFile(path, "utf8").catch(() => "");
  const [other = 0, group = 0] = text.split(" ").map(Number);
  if (other > 0 && other !== process.pid && isAlive(other))
    throw new AppError("conflict", `a batch with process number ${other} runs in "${root}"; wait for it, or end it`);
  if (group > 0 && isAlive(-group))
    throw new AppError(
      "conflict",
      `jobs of a batch that was killed still run in "${root}"; wait for them, or end them: kill -- -${group}`,
    );
  await writeWhole(path, String(process.pid));
  try {
    await work((jobs) => writeWhole(path, `${process.pid} ${jobs}`));
  } finally {
    await rm(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
