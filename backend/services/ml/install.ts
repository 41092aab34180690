import { randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type MlModel, MODEL_ID } from "../../../shared/contract/ml.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import { remove, rename } from "../../file-moves.ts";
import type { Job } from "../../jobs/job.ts";
import { FOLDER_REFUSALS, makeFolder } from "../../make-folder.ts";
import { processStartTime } from "../../native/core/platform.ts";
import { leaseAlive } from "../../sessions/process-lease.ts";
import { userPath } from "../files/source.ts";
import { defaultModels, installedModels, shadowReason, summaryOf, userModelsFolder } from "./library.ts";
import { MODEL_JSON, MODEL_ONNX, type ReadPackage, readPackage } from "./package.ts";
import { tryNetwork } from "./trial.ts";

type InstallDeps = Pick<Deps, "config" | "logger">;

/** Of a folder that is being filled (new) or removed (old): its kind, the process, its start and the id of the model. */
const UNFINISHED = /^\.(new|old)-(\d+)-([0-9A-Za-z_]*)-([0-9a-f]{12})-([a-z0-9][a-z0-9_-]{0,63})$/;
const MOVE_ATTEMPTS = 5;

/** Changes of the folder of models, one after the other. */
let lastChange: Promise<unknown> = Promise.resolve();

function inTurn<T>(change: () => Promise<T>): Promise<T> {
  const done = lastChange.then(change, change);
  lastChange = done.catch(() => undefined);
  return done;
}

/**
 * Installs a package: checks it, runs its network on generated crops, writes it beside the models and renames it into
 * place. A user's model of the same id is replaced. Errors: invalid_argument for a path without a package, invalid_file
 * for a broken one, conflict for the id of a bundled model, unsupported without the runtime.
 */
export async function importModel(path: string, deps: InstallDeps, job: Job): Promise<MlModel> {
  job.stage("Reading the package", 0, 0.2);
  const read = await readPackage(await packageFolder(path));
  const { id } = read.model;
  const { models } = await installedModels(deps);
  if (models.some(({ model, origin }) => origin === "bundled" && model.id === id))
    throw new AppError("conflict", shadowReason(id));
  job.stage("Running the network once", 0.2, 0.9);
  await tryNetwork(read.onnx, read.model, read.inputs, job.signal);
  job.stage("Installing", 0.9, 1);
  return inTurn(async () => {
    const root = userModelsFolder(deps);
    await installPackage(read, root, job).catch((error: NodeJS.ErrnoException) => {
      throw unwritable(error, root);
    });
    const now = await installedModels(deps);
    const installed = now.models.find(({ model }) => model.id === id);
    if (!installed) throw new AppError("conflict", `another program removed "${id}" from the folder of models`);
    return summaryOf(installed, defaultModels(now));
  });
}

/** The error of a system call, in words where the folder of models cannot be written. */
function unwritable(error: NodeJS.ErrnoException, root: string): Error {
  const why = FOLDER_REFUSALS[error.code ?? ""];
  if (why === undefined) return error;
  const wayOut = "set APP_ML_MODELS_DIR to a folder that this user may write";
  return new AppError("io", `the folder of models ${root} cannot be written: ${why}; ${wayOut}`, undefined, {
    cause: error,
  });
}

async function packageFolder(path: string): Promise<string> {
  const given = userPath(path);
  const info = await stat(given).catch((error: NodeJS.ErrnoException) => {
    throw new AppError(
      "invalid_argument",
      `${given}: ${error.code === "ENOENT" ? "there is no such folder" : error.message}`,
    );
  });
  if (info.isDirectory()) return given;
  if (info.isFile() && basename(given) === MODEL_JSON) return dirname(given);
  throw new AppError("invalid_argument", `${given} is neither the folder of a package nor its ${MODEL_JSON}`);
}

/** Writes a package beside the models in `root` and renames it into place. */
export async function installPackage({ model, json, onnx }: ReadPackage, root: string, job: Job): Promise<void> {
  await makeFolder(root);
  const stage = join(root, unfinishedName("new", model.id));
  try {
    await mkdir(stage);
    await writeFlushed(join(stage, MODEL_JSON), json);
    await writeFlushed(join(stage, MODEL_ONNX), onnx);
    job.checkpoint();
    await moveIn(stage, root, model.id);
  } finally {
    await remove(stage); // nothing after the rename
  }
}

/** Renames `stage` to the id; what was there is moved away first, and back if the move fails. */
async function moveIn(stage: string, root: string, id: string): Promise<void> {
  const place = join(root, id);
  for (let attempt = 1; ; attempt++) {
    const old = join(root, unfinishedName("old", id));
    const replaced = await moved(place, old);
    try {
      await rename(stage, place);
      if (replaced) await remove(old);
      return;
    } catch (error) {
      if (replaced) await moved(old, place);
      const { code = "" } = error as NodeJS.ErrnoException;
      if (attempt === MOVE_ATTEMPTS || !["ENOTEMPTY", "EEXIST", "EPERM"].includes(code)) throw error; // another backend was faster
    }
  }
}

/** False if there is nothing to move. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes an imported model. Errors: not_found if it is not installed, conflict for a bundled one. */
export function deleteModel(id: string, deps: InstallDeps): Promise<void> {
  return inTurn(async () => {
    const { models } = await installedModels(deps);
    if (models.some(({ model, origin }) => origin === "bundled" && model.id === id))
      throw new AppError("conflict", `"${id}" is a bundled model and cannot be removed`);
    const root = userModelsFolder(deps);
    const known = MODEL_ID.test(id) && (await lstat(join(root, id)).catch(() => undefined))?.isDirectory();
    const old = join(root, unfinishedName("old", id));
    const isMoved =
      known &&
      (await moved(join(root, id), old).catch((error: NodeJS.ErrnoException) => {
        throw unwritable(error, root);
      }));
    if (!isMoved) throw new AppError("not_found", `no model "${id.slice(0, 64)}" is installed`);
    await remove(old);
  });
}

const startOf = (pid: number): string => (processStartTime(pid) ?? "").replace(/[^0-9A-Za-z]/g, "_");

const unfinishedName = (kind: "new" | "old", id: string): string =>
  `.${kind}-${process.pid}-${startOf(process.pid)}-${randomBytes(6).toString("hex")}-${id}`;

/**
 * Clears up after processes that ended during an import or a removal: what was not installed goes; what was moved away
 * while its successor did not arrive comes back. Never rejects.
 */
export function sweepModels({ config, logger }: InstallDeps): Promise<void> {
  const root = userModelsFolder({ config });
  return inTurn(async () => {
    for (const name of await readdir(root).catch(() => [])) {
      const [, kind, pid, start, , id = ""] = UNFINISHED.exec(name) ?? [];
      if (kind === undefined || isRunning(Number(pid), start ?? "")) continue;
      try {
        const missing = await lstat(join(root, id)).then(
          () => false,
          () => true,
        );
        const whole = kind === "old" && missing && (await isWhole(join(root, name)));
        if (whole) await rename(join(root, name), join(root, id));
        else await remove(join(root, name));
        logger.info({ name, restored: whole }, "unfinished change of a model cleared up");
      } catch (error) {
        logger.warn({ err: error, name }, "unfinished change of a model not cleared up; the next start tries again");
      }
    }
  });
}

const isWhole = (folder: string): Promise<boolean> =>
  readPackage(folder).then(
    () => true,
    () => false,
  );

function isRunning(pid: number, start: string): boolean {
  if (!leaseAlive({ pid, start_time: null, instance: "" })) return false;
  return start === "" || startOf(pid) === start;
}
