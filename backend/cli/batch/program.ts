import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../shared/errors.ts";
import { addonPath } from "../../native/core/load.ts";
import { version } from "../../version.ts";
import { readPlan } from "./folders.ts";
import type { Plan } from "./plan-document.ts";

const PROGRAM = join("dist", "backend", "entry", "headless.js");

/** This program as a command of its own: the bundle in the nearest parent folder that contains it. Errors: internal. */
export function programPath(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, PROGRAM);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder)
      throw new AppError(
        "internal",
        `the program is missing (${PROGRAM}); run "npm run build:ts" in the project folder`,
      );
  }
}

/**
 * The version of this program and a short name of its content, bundle and addon: results of another one are not the same.
 * Errors: internal, as programPath.
 */
export async function programName(): Promise<string> {
  const folder = dirname(programPath());
  const hash = createHash("sha256");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".js")).sort();
  for (const path of [...files.map((name) => join(folder, name)), addonPath()]) hash.update(await readFile(path));
  return `${version} (${hash.digest("hex").slice(0, 12)})`;
}

/** The plan of a batch, for one of its jobs. Errors: those of readPlan; conflict if another program has planned it. */
export async function readOwnPlan(folder: string): Promise<Plan> {
  const plan = await readPlan(folder);
  const own = await programName();
  if (plan.program !== own)
    throw new AppError(
      "conflict",
      `the batch was planned by version ${plan.program}, and this is ${own}; start it anew`,
    );
  return plan;
}
