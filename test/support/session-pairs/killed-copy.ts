import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A data folder with a copy of these sessions as a process leaves them that is killed at this moment. */
export function killedCopy(sessions: string): string {
  const folder = mkdtempSync(join(tmpdir(), "killed-"));
  const copy = join(folder, "data", "sessions");
  cpSync(sessions, copy, { recursive: true });
  for (const id of readdirSync(copy)) rmSync(join(copy, id, "owner.json"), { force: true });
  return folder;
}
