// Sizes of a packaged app and what they may be.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

const MB = 1e6;
/** Largest sizes in bytes: of the unpacked folder, and of what is ours in it. */
export const BUDGET = { unpacked: 420 * MB, ours: 120 * MB };

/** Bytes of all files below a folder, or of a file. */
export function sizeOf(path) {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Sizes of an unpacked app in bytes. Ours are the app's archive, the files beside it and the licences. */
export function appSizes(folder) {
  const unpacked = sizeOf(folder);
  const ours = ["resources", "LICENSES.txt"].reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
  return { unpacked, ours };
}

/** Sentences about sizes over budget; empty = all within. */
export function overBudget(sizes) {
  return Object.entries(BUDGET)
    .filter(([name, limit]) => sizes[name] > limit)
    .map(([name, limit]) => `${NAMES[name]} takes ${inMb(sizes[name])}; the budget is ${inMb(limit)}`);
}

const NAMES = { unpacked: "the unpacked app", ours: "what is ours in it" };
export const inMb = (bytes) => `${(bytes / MB).toFixed(1)} MB`;
