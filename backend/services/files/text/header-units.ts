import { SOURCE_UNITS } from "../../../../shared/contract/cloud-session/create.ts";
import type { LasCrs } from "../../../native/files/readers.ts";
import { type Axis, type AxisUnit, unitOfAxis } from "./axis-names.ts";
import type { TextLayout } from "./layout.ts";

const NAMES: Readonly<Record<AxisUnit, string>> = {
  m: "metres",
  km: "kilometres",
  cm: "centimetres",
  mm: "millimetres",
  ft: "feet",
  ftUS: "US survey feet",
  in: "inches",
  deg: "degrees",
};

const metres = (unit: AxisUnit | null) => (unit === null || unit === "deg" ? null : SOURCE_UNITS[unit]);

/** What the names of the coordinates say of their units, as a coordinate system without a name; null = nothing. */
export function headerSystem({ columns }: Pick<TextLayout, "columns">): LasCrs | null {
  const unitOf = (axis: Axis) => unitOfAxis(columns.find(({ role }) => role === axis)?.header_name ?? "");
  const [x, y, z] = [unitOf("x"), unitOf("y"), unitOf("z")];
  if (x === null && y === null && z === null) return null;
  const differ =
    x !== y ? [`The header states x in ${named(x)} and y in ${named(y)}; both were read in one unit.`] : [];
  return {
    epsg: null,
    vertical_epsg: null,
    is_geographic: x === "deg" || y === "deg",
    unit_m: metres(x),
    unit_name: x === null ? "" : NAMES[x],
    vertical_unit_m: metres(z),
    vertical_unit_name: z === null ? "" : NAMES[z],
    wkt: "",
    citation: "",
    geotiff: null,
    warnings: differ,
  };
}

const named = (unit: AxisUnit | null) => (unit === null ? "no unit" : NAMES[unit]);
