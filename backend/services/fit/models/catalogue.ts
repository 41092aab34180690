import { AppError } from "../../../../shared/errors.ts";
import { GENERIC_MODELS } from "./generic.ts";
import { HYDRAULIC_MODELS } from "./hydraulics.ts";
import { type CurveModelEntry, shownEquation } from "./model.ts";
import { PHOTOSYNTHESIS_MODELS } from "./photosynthesis.ts";
import { STOMATAL_MODELS } from "./stomatal.ts";

export const CATALOGUE: ReadonlyMap<string, readonly CurveModelEntry[]> = new Map([
  ["photosynthesis", PHOTOSYNTHESIS_MODELS],
  ["stomatal", STOMATAL_MODELS],
  ["hydraulics", HYDRAULIC_MODELS],
  ["generic", GENERIC_MODELS],
]);

const ALIASES: ReadonlyMap<string, string> = new Map([
  ["vulnerability", "sigmoidal"],
  ["pvcurve", "sjb2018"],
]);

const ALL = [...CATALOGUE.values()].flat();

/** The built-in model of an id. Errors: invalid_argument for an unknown one. */
export function modelOf(id: string): CurveModelEntry {
  const model = ALL.find((entry) => entry.id === (ALIASES.get(id) ?? id));
  if (model) return model;
  throw new AppError(
    "invalid_argument",
    `there is no built-in model "${id.slice(0, 60)}"; the models are ${ALL.map((entry) => entry.id).join(", ")}`,
  );
}

/** The model of an id in a category. Errors: invalid_argument for an unknown category, or a model of another one. */
export function modelIn(category: string, id: string): CurveModelEntry {
  const models = CATALOGUE.get(category);
  if (!models) {
    throw new AppError(
      "invalid_argument",
      `there is no model category "${category.slice(0, 60)}"; the categories are ${[...CATALOGUE.keys()].join(", ")}`,
    );
  }
  const model = modelOf(id);
  if (models.includes(model)) return model;
  throw new AppError(
    "invalid_argument",
    `the model "${model.id}" is not in the category "${category}", which has ${models.map((entry) => entry.id).join(", ")}`,
  );
}

/** The catalogue as clients get it. */
export function modelList() {
  return Object.fromEntries(
    [...CATALOGUE].map(([category, models]) => [
      category,
      Object.fromEntries(models.map((model) => [model.id, record(model)])),
    ]),
  );
}

const record = (model: CurveModelEntry) => recordOf(model, shownEquation(model));
const recordOf = ({ name, required, optional, parameters, output, source }: CurveModelEntry, equation: string) => ({
  name,
  required_data: required.map((data) => data.name),
  ...(optional ? { optional_data: optional.map((data) => data.name) } : {}),
  output,
  equation,
  parameters: parameters.map(({ symbol, description }) => ({ symbol, description })),
  columns: [...required, ...(optional ?? [])].map(({ name: column, description, quantity }) => ({
    name: column,
    description,
    unit: quantity?.unit ?? null,
  })),
  source,
});
