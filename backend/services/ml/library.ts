import { lstat, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type MlModel, type MlModelsResponse, MODEL_ID, WOOD_LEAF_TASK } from "../../../shared/contract/ml.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MODELS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import { findResourceFolder } from "../../native/core/resources.ts";
import { MODEL_JSON, MODEL_ONNX, type ReadPackage, readPackage } from "./package.ts";

export type Origin = MlModel["origin"];

/** A model that can be run. */
export interface InstalledModel extends Pick<ReadPackage, "model" | "inputs"> {
  readonly origin: Origin;
  readonly folder: string;
}

interface Broken {
  readonly path: string;
  readonly reason: string;
}

export interface Models {
  /** Bundled ones, then the user's, each sorted by id. */
  readonly models: readonly InstalledModel[];
  readonly broken: readonly Broken[];
}

type ModelDeps = Pick<Deps, "config">;

/** The folder that models are imported to. */
export const userModelsFolder = ({ config: { mlModelsDir, dataDir } }: ModelDeps): string =>
  mlModelsDir ?? join(dataDir, "ml_models");

/** What was read of a folder, while its files have the size and time of then. */
const READ = new Map<string, { stamp: string; result: InstalledModel | Broken }>();

/** All models of the product and of the user; packages that cannot be used hide no others. */
export async function installedModels({ config }: ModelDeps): Promise<Models> {
  const bundled = await modelsIn(config.bundledModelsDir ?? findResourceFolder("ml_models"), "bundled");
  const user = await modelsIn(userModelsFolder({ config }), "user");
  const ids = new Set(bundled.models.map(({ model }) => model.id));
  const shadows = user.models.filter(({ model }) => ids.has(model.id));
  const clashes = shadows.map(({ folder, model }) => ({ path: folder, reason: shadowReason(model.id) }));
  return {
    models: [...bundled.models, ...user.models.filter((one) => !shadows.includes(one))],
    broken: [...bundled.broken, ...user.broken, ...clashes],
  };
}

export const shadowReason = (id: string): string => `"${id}" is the id of a bundled model; choose another id`;

async function modelsIn(root: string | undefined, origin: Origin): Promise<Models> {
  if (root === undefined) return { models: [], broken: [] };
  let names: string[];
  try {
    names = (await readdir(root)).filter((name) => !name.startsWith(".")).sort();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { models: [], broken: code === "ENOENT" ? [] : [{ path: root, reason: message }] };
  }
  const models: InstalledModel[] = [];
  const broken: Broken[] = [];
  if (names.length > MAX_MODELS)
    broken.push({
      path: root,
      reason: `there are ${names.length} entries; those after the first ${MAX_MODELS} are not read`,
    });
  for (const name of names.slice(0, MAX_MODELS)) {
    const folder = join(root, name);
    const info = await lstat(folder).catch(() => undefined);
    if (!info || info.isFile()) continue; // a README, or gone meanwhile
    const result = await modelIn(folder, origin);
    if ("model" in result) models.push(result);
    else broken.push(result);
  }
  return { models, broken };
}

async function modelIn(folder: string, origin: Origin): Promise<InstalledModel | Broken> {
  try {
    if ((await lstat(folder)).isSymbolicLink())
      return { path: folder, reason: "it is a link; import the package instead" };
    const files = await Promise.all(
      [MODEL_JSON, MODEL_ONNX].map((name) => stat(join(folder, name)).catch(() => undefined)),
    );
    const stamp = `${origin} ${files.map((info) => (info ? `${info.ino} ${info.size} ${info.mtimeMs}` : "-")).join(" ")}`;
    const known = READ.get(folder);
    if (known?.stamp === stamp) return known.result;
    const result = await checkedModel(folder, origin);
    if (READ.size >= 4 * MAX_MODELS) READ.clear();
    READ.set(folder, { stamp, result });
    return result;
  } catch (error) {
    return { path: folder, reason: (error as Error).message };
  }
}

async function checkedModel(folder: string, origin: Origin): Promise<InstalledModel | Broken> {
  try {
    const { model, inputs } = await readPackage(folder);
    if (model.id !== basename(folder))
      return { path: folder, reason: `its id is "${model.id}", so its folder must have that name` };
    return { model, inputs, origin, folder };
  } catch (error) {
    return { path: folder, reason: (error as Error).message };
  }
}

/** By task: the first bundled model by id. */
export function defaultModels({ models }: Models): Record<string, string> {
  const defaults: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const { model, origin } of models) if (origin === "bundled") defaults[model.task] ??= model.id;
  return defaults;
}

export function summaryOf({ model, origin }: InstalledModel, defaults: Readonly<Record<string, string>>): MlModel {
  const { id, name, description, task, arch, variant, inputs, classes, output_slug, metrics } = model;
  const channels = inputs.channels.map((channel) => channel.name);
  const is_default = defaults[task] === id;
  return {
    id,
    name,
    description,
    task,
    arch,
    variant,
    channels,
    classes,
    output_slug,
    metrics: metrics ?? null,
    origin,
    is_default,
  };
}

/** The models, of one task if it is named. */
export async function listMlModels(task: string | undefined, deps: ModelDeps): Promise<MlModelsResponse> {
  const found = await installedModels(deps);
  const defaults = defaultModels(found);
  const models = found.models.filter(({ model }) => task === undefined || model.task === task);
  return {
    models: models.map((one) => summaryOf(one, defaults)),
    default_models: { ...defaults },
    default_wood_model: defaults[WOOD_LEAF_TASK] ?? null,
    broken: [...found.broken],
  };
}

/**
 * The model that a request names, or the default of the task. Errors: invalid_argument if it is not installed, broken or
 * of another task, and if there is no default.
 */
export async function findModel(id: string | null, task: string, deps: ModelDeps): Promise<InstalledModel> {
  const found = await installedModels(deps);
  const wanted = id ?? defaultModels(found)[task];
  if (wanted === undefined)
    throw new AppError(
      "invalid_argument",
      `no model for ${task} is part of this installation; import one and name it in model_id`,
    );
  const model = found.models.find((one) => one.model.id === wanted);
  if (!model) {
    const broken = MODEL_ID.test(wanted) ? found.broken.find(({ path }) => basename(path) === wanted) : undefined;
    const known = found.models.filter((one) => one.model.task === task).map((one) => one.model.id);
    const instead = known.length > 0 ? `installed: ${known.join(", ")}` : `no model for ${task} is installed`;
    const why = broken ? `cannot be used: ${broken.reason}` : "is not installed";
    throw new AppError("invalid_argument", `model_id "${wanted.slice(0, 64)}" ${why}; ${instead}`);
  }
  if (model.model.task !== task)
    throw new AppError("invalid_argument", `model_id "${wanted}" is a model for ${model.model.task}, not for ${task}`);
  return model;
}
