// Refuses to rename and remove files in use, as Windows does. What is in use, Linux tells.
import * as fs from "node:fs";
import { join, sep } from "node:path";
import { onTestFinished, vi } from "vitest";

let refuses = false;
const real = await vi.importActual<typeof import("node:fs/promises")>("node:fs/promises");

/** Files that this process has open or mapped. */
function inUse(): Set<string> {
  const mapped = fs
    .readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .map((line) => line.slice(line.indexOf("/")));
  const open = fs.readdirSync("/proc/self/fd").map((fd) => {
    try {
      return fs.readlinkSync(join("/proc/self/fd", fd));
    } catch {
      return ""; // the one that listed them
    }
  });
  return new Set([...mapped, ...open]);
}

const isUsed = (path: string) => [...inUse()].some((file) => file === path || file.startsWith(path + sep));

function refuseIfUsed(call: string, ...paths: string[]): void {
  const used = paths.find(isUsed);
  if (used === undefined) return;
  throw Object.assign(new Error(`EPERM: operation not permitted, ${call} '${used}'`), { code: "EPERM" });
}

/** What `node:fs/promises` is in a test of this; see refuseFilesInUse. */
export const refusing = {
  ...real,
  rename: async (from: string, to: string) => {
    if (refuses) refuseIfUsed("rename", from, to);
    await real.rename(from, to);
  },
  rm: async (path: string, options: fs.RmOptions) => {
    if (refuses) refuseIfUsed("unlink", path);
    await real.rm(path, options);
  },
};

/** For the rest of the test, files in use are neither renamed nor removed. */
export async function refuseFilesInUse(): Promise<void> {
  const { system } = await import("../../../backend/file-moves.ts"); // not before the mock that this module makes
  const before = system.refusesFilesInUse;
  refuses = true;
  system.refusesFilesInUse = true;
  onTestFinished(() => {
    refuses = false;
    system.refusesFilesInUse = before;
  });
}
