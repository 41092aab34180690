import { createHash } from "node:crypto";
import { mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PROJECT_LOCK_POLL_MS } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { tryLockFile } from "../../native/core/column-files.ts";

/**
 * Runs `body` while the same project is not saved or read elsewhere, in this process or another with the same data folder. The
 * wait is cancelable; the system frees the lock of a process that died.
 */
export async function withPathLock<T>(path: string, dataDir: string, job: Job, body: () => Promise<T>): Promise<T> {
  const folder = join(dataDir, "locks");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const real = join(await realpath(dirname(path)), basename(path));
  const lock = join(folder, `${createHash("sha256").update(real).digest("hex")}.lock`);
  let release = tryLockFile(lock);
  if (!release) {
    await job.whileWaiting("Waiting for another save or opening of this project", async () => {
      while (!release) {
        await sleep(PROJECT_LOCK_POLL_MS, undefined, { signal: job.signal }).catch(() => job.checkpoint());
        release = tryLockFile(lock);
      }
    });
  }
  try {
    return await body();
  } finally {
    release?.();
  }
}
