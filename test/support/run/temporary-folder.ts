import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives the run one temporary folder for everything its tests leave, and removes it at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "backend-test-"));
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
