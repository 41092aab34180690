import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import type { AnalyzeDeps, StartBackend } from "../analyze/run.ts";
import { PLAN_FILE, PLAN_VERSION, type Plan } from "./plan-document.ts";

/** Places in the output folder of a batch. Snakefile and jobs name them relative to it. */
export const PLACES = {
  tile: (id: string) => join("tiles", id),
  result: (id: string) => join("tiles", id, "result.json"),
  times: (id: string) => join("tiles", id, "times.json"),
  labels: (id: string) => join("tiles", id, "labels.las"),
  unpacked: (id: string) => join("unpacked", `${id}.las`),
  frame: "frame.json",
  merged: "merged",
  numbers: join("merged", "numbers.json"),
  cloud: (id: string) => join("clouds", `${id}.laz`),
  cloudDone: (id: string) => join("clouds", `.${id}.done`),
  log: (name: string) => join("logs", `${name}.log`),
  work: (name: string) => join(".work", name),
} as const;

/** Reads the plan of a batch. Errors: invalid_argument if the folder has none, or one of another version. */
export async function readPlan(folder: string): Promise<Plan> {
  const path = join(resolve(folder), PLAN_FILE);
  const text = await readFile(path, "utf8").catch(() => {
    throw new AppError("invalid_argument", `"${folder}" has no ${PLAN_FILE}; start with the command batch`);
  });
  const plan = JSON.parse(text) as Plan;
  if (plan.kind !== "point-cloud-batch" || plan.version !== PLAN_VERSION)
    throw new AppError(
      "invalid_argument",
      `${path} has version ${plan.version}, not ${PLAN_VERSION}; plan the batch anew`,
    );
  return plan;
}

export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8")) as T;
}

/** A file of the plan, or its unpacked copy. */
export function sourceOf(root: string, { files }: Plan, index: number): string {
  const file = files[index];
  if (!file) throw new AppError("internal", `the plan has no file ${index}`);
  return file.compressed ? join(root, PLACES.unpacked(file.id)) : file.path;
}

/** Writes a file that is either whole or not there. */
export async function writeWhole(path: string, data: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  await writeFile(part, data);
  await rename(part, path);
}

export const writeJson = (path: string, value: object): Promise<void> => writeWhole(path, jsonDocument(value));

/** A job's folder for what it needs only while it runs, and a service whose files lie there. */
export async function inWorkFolder<T>(
  root: string,
  name: string,
  deps: AnalyzeDeps,
  work: (folder: string, startBackend: StartBackend) => Promise<T>,
): Promise<T> {
  const folder = join(root, PLACES.work(name));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const places = { dataDir: join(folder, "data"), octreeCacheRoot: join(folder, "octrees") };
  try {
    return await work(folder, (overrides) => deps.startBackend({ ...overrides, ...places }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
