import { AppError } from "../../../../shared/errors.ts";
import { type Columns, type CurveModelEntry, largest, modelData, smallest } from "../models/model.ts";
import type { Quantity } from "./quantity.ts";
import { unitKey } from "./unit-text.ts";

interface Converted {
  readonly columns: Columns;
  readonly warnings: readonly string[];
}

const shown = (value: number) => String(Number(value.toPrecision(6)));

/**
 * Columns of a model in its units, from those that the table states. Errors: invalid_argument for units that cannot be
 * converted.
 */
export function inModelUnits(model: CurveModelEntry, given: Columns, stated: ReadonlyMap<string, string>): Converted {
  const warnings: string[] = [];
  const columns = new Map(given);
  for (const { name, quantity } of modelData(model)) {
    const [values, unit] = [given.get(name), stated.get(name)];
    if (!quantity || !values || unit === undefined) continue;
    const factorAndOffset = conversionOf(name, unit, quantity, values);
    if (factorAndOffset === null) {
      warnings.push(
        `"${name}" has "${unit.slice(0, 40)}" where its unit should stand; its values were taken as ${quantity.unit}.`,
      );
      continue;
    }
    const { factor, offset } = factorAndOffset;
    if (factor === 1 && offset === 0) continue;
    columns.set(
      name,
      values.map((value) => value * factor + offset),
    );
    const far = values.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
    warnings.push(
      `"${name}" is stated in ${unit.slice(0, 40)}; it was converted to ${quantity.unit}: ${shown(far)} became ${shown(far * factor + offset)}.`,
    );
  }
  return { columns, warnings };
}

/** null = not known. Errors: invalid_argument for a unit that needs more than a factor. */
function conversionOf(name: string, unit: string, quantity: Quantity, values: readonly number[]) {
  const key = unitKey(unit);
  if (key === null) return null;
  const turned = key.startsWith("-");
  const plain = turned ? key.slice(1) : key;
  const why = quantity.unusable.get(plain);
  if (why !== undefined) {
    throw new AppError(
      "invalid_argument",
      `"${name}" is stated in ${unit}, the model takes ${quantity.unit}: ${why}. Convert the values, and state ${quantity.unit}`,
    );
  }
  const found = quantity.conversions.get(plain);
  if (!found) return null;
  if (!turned) return found;
  // "-MPa": 1.5 is a potential of -1.5 MPa; where the values have a minus too, the sign is said twice.
  return smallest(values) >= 0 ? { factor: -found.factor, offset: found.offset } : found;
}

/**
 * What columns of a model say against their units. Errors: invalid_argument for values with which the model has no meaning.
 */
export function doubtfulValues(model: CurveModelEntry, columns: Columns): string[] {
  return modelData(model).flatMap(({ name, quantity }) => {
    const values = columns.get(name);
    if (!quantity || !values || values.length === 0) return [];
    const [low, high] = [smallest(values), largest(values)];
    const what = `"${name}" runs from ${shown(low)} to ${shown(high)}; the model takes ${quantity.unit}, and ${quantity.hint}`;
    const [least, most] = quantity.refused ?? [-Infinity, Infinity];
    if (low < least || high > most) throw new AppError("invalid_argument", what);
    return low < quantity.least || high > quantity.most ? [`${what}.`] : [];
  });
}
