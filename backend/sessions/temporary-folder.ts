import { lstat, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { remove } from "../file-moves.ts";
import { processStartTime } from "../native/core/platform.ts";
import { leaseAlive } from "./process-lease.ts";

const PREFIX = "point-cloud-backend";
const NAME = new RegExp(`^${PREFIX}-(?:upload|export)-(\\d+)-([^-]*)-.{6}$`);

/** A new folder for one upload or export, which only this user can read. Its name tells the process that uses it. */
export function makeTemporaryFolder(kind: "upload" | "export"): Promise<string> {
  const start = nameable(processStartTime(process.pid));
  return mkdtemp(join(tmpdir(), `${PREFIX}-${kind}-${process.pid}-${start}-`));
}

const nameable = (start: string | null): string => (start ?? "").replace(/[^0-9A-Za-z]/g, "_");

/** Removes the temporary folders of processes of this user that ended without doing so. Never rejects. */
export async function sweepTemporaryFolders(log: Logger): Promise<void> {
  const root = tmpdir();
  for (const name of await readdir(root).catch(() => [])) {
    const [, pid, start] = NAME.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid), start ?? "")) continue;
    try {
      const info = await lstat(join(root, name));
      if (!info.isDirectory() || info.uid !== (process.getuid?.() ?? info.uid)) continue;
      await remove(join(root, name));
      log.info({ name }, "temporary folder of an ended process removed");
    } catch (error) {
      log.debug({ err: error, name }, "temporary folder not removed; the next start tries again");
    }
  }
}

function isRunning(pid: number, start: string): boolean {
  if (!leaseAlive({ pid, start_time: null, instance: "" })) return false;
  return start === "" || nameable(processStartTime(pid)) === start;
}
