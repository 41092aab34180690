import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own that is easily full. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills it up to `left` free bytes; 0 = to the last block. */
  fill(left?: number): void;
  /** Gives the filling's space back. */
  empty(): void;
  /** Makes it read-only or writable again. No file may be open for writing. */
  protect(readOnly: boolean): void;
  unmount(): void;
}

/** Mounts a tmpfs of `bytes`; undefined, with a message on the console, where that is not allowed. */
export function smallDisk(bytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    rmSync(folder, { recursive: true });
    console.log(`full disk: skipped, no file system can be mounted here (${(error as Error).message.trim()})`);
    return undefined;
  }
  const filling = join(folder, "filling");
  return {
    folder,
    fill: (left = 0) => {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filling, Buffer.alloc(Math.max(0, bavail * bsize - left)));
    },
    empty: () => rmSync(filling, { force: true }),
    protect: (readOnly) => {
      execFileSync("mount", ["-o", `remount,${readOnly ? "ro" : "rw"}`, folder]);
    },
    unmount: () => {
      execFileSync("umount", [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}
