import type { LasCrs } from "../../../native/files/readers.ts";
import { type AxisUnit, systemOfUnits, UNIT_NAMES } from "../stated-unit.ts";
import { type Axis, unitOfAxis } from "./axis-names.ts";
import type { TextLayout } from "./layout.ts";

/**
 * What the names of the coordinates, else the comments of the file, say of units, as a coordinate system without a name;
 * null = nothing.
 */
export function headerSystem({ columns, stated_unit }: Pick<TextLayout, "columns" | "stated_unit">): LasCrs | null {
  const unitOf = (axis: Axis) => unitOfAxis(columns.find(({ role }) => role === axis)?.header_name ?? "");
  const named = (["x", "y", "z"] as const).map(unitOf);
  const [x = null, y = null, z = null] = named.every((unit) => unit === null) ? named.map(() => stated_unit) : named;
  if (x === null && y === null && z === null) return null;
  const system = systemOfUnits(x === "deg" || y === "deg" ? "deg" : x, z === "deg" ? null : z);
  if (x === y) return system;
  const warnings = [`The header states x in ${nameOf(x)} and y in ${nameOf(y)}; both were read in one unit.`];
  return { ...system, warnings };
}

const nameOf = (unit: AxisUnit | null) => (unit === null ? "no unit" : UNIT_NAMES[unit]);
