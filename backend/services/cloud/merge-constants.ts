import type { DType } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { type ConstantDimension, type ExtraDim, extraKey } from "../../sessions/column-names.ts";
import { lasExtraDim } from "../files/column-candidates.ts";

/** What becomes of the constant LAS fields of merged sessions. */
export interface MergedConstants {
  /** Fields with the same value in every session. */
  readonly kept: readonly ConstantDimension[];
  /** Fields whose values differ and that no session has as a column yet. */
  readonly columns: readonly VariedField[];
}

export interface VariedField {
  /** Key of the column. */
  readonly key: string;
  /** Null for a fixed column. */
  readonly extra: ExtraDim | null;
  readonly dtype: DType;
  /** For the points of sessions of which nothing is known. */
  readonly fill: number;
}

const FIXED_KEYS: ReadonlyMap<string, string> = new Map([
  ["gps_time", "timestamps"],
  ["rgb", "colors"],
]);
/** Fields that a LAS export fills with 1 if nothing is known; the others with 0. */
const ECHO_FIELDS: ReadonlySet<string> = new Set(["return_number", "number_of_returns"]);

/** Key of the column that a LAS field has if its values vary. */
const keyOf = (field: string): string => FIXED_KEYS.get(field) ?? extraKey(lasExtraDim(field).slug);

export function mergedConstants(states: readonly CloudState[]): MergedConstants {
  const fields = new Set(states.flatMap(({ meta }) => (meta.constant_dimensions ?? []).map(({ name }) => name)));
  const kept: ConstantDimension[] = [];
  const columns: VariedField[] = [];
  for (const name of fields) {
    const key = keyOf(name);
    if (states.some((state) => state.columns.has(key))) continue; // that column takes the constants as fill values
    const fill = ECHO_FIELDS.has(name) ? 1 : 0;
    const values = states.map((state) => constantOf(state, key) ?? fill);
    const [first = 0] = values;
    if (values.every((value) => value === first)) {
      kept.push({ name, value: first });
    } else {
      const dtype = key === "timestamps" ? "f64" : narrowestDtype(values);
      columns.push({ key, extra: FIXED_KEYS.has(name) ? null : lasExtraDim(name), dtype, fill });
    }
  }
  return { kept, columns };
}

/** The constant that a session has instead of a column; null if it has none. */
export function constantOf({ meta }: CloudState, key: string): number | null {
  return meta.constant_dimensions?.find(({ name }) => keyOf(name) === key)?.value ?? null;
}

/** The narrowest type that holds all values exactly. */
export function narrowestDtype(values: readonly number[]): DType {
  if (!values.every(Number.isInteger)) return values.every((v) => Math.fround(v) === v) ? "f32" : "f64";
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const signed = low < 0;
  for (const bits of [8, 16, 32]) {
    const [min, max] = signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
    if (low >= min && high <= max) return `${signed ? "i" : "u"}${bits}` as DType;
  }
  return "f64";
}
