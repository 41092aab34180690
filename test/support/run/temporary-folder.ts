import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RAM = "/dev/shm";
/** What tests leave at one time is far smaller. */
const ENOUGH_BYTES = 8 * 2 ** 30;

/**
 * In memory where the system has a place with room for it, since a test flushes many small files; on the disk with
 * APP_TEST_ON_DISK=1 and for large files.
 */
function place(): string {
  if (process.env.APP_TEST_LARGE || process.env.APP_TEST_ON_DISK) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(RAM);
    return bavail * bsize > ENOUGH_BYTES ? RAM : tmpdir();
  } catch {
    return tmpdir(); // another system
  }
}

/** Gives the run one temporary folder for everything its tests leave, and removes it at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(place(), "backend-test-"));
  chmodSync(folder, 0o711); // tests that change their user must still reach their files
  const before = { TMPDIR: process.env.TMPDIR, TEMP: process.env.TEMP };
  Object.assign(process.env, { TMPDIR: folder, TEMP: folder });
  return () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true, force: true });
  };
}
