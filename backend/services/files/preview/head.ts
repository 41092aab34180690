import type { z } from "zod";
import { SOURCE_UNITS, type SourceUnits } from "../../../../shared/contract/cloud-session/create.ts";
import type { PreviewColumn, PreviewCrs, PreviewResponse } from "../../../../shared/contract/pointcloud.ts";
import type { Job } from "../../../jobs/job.ts";
import type { DType } from "../../../native/core/handles.ts";
import type { Bounds, LasCrs } from "../../../native/files/readers.ts";
import { expectedColumns } from "../column-roles.ts";
import { tidyLabel } from "../slugs.ts";
import { typeHint } from "../text/layout.ts";

type Column = z.infer<typeof PreviewColumn>;
export type TypeHint = Column["type_hint"];
export type Triple = readonly [number, number, number];
export type Rows = readonly (readonly string[])[];

/** Rows sampled for type hints and the suggested shift, however many are shown. */
export const SAMPLE_ROWS = 100;

/** Fields shared by the previews of all formats that define their own layout. */
export const OWN_LAYOUT = { delimiter: null, has_header: true } as const;

/** A column of a format that describes its own columns. */
export interface FileColumn {
  readonly name: string | null;
  /** x, y, z, or "skip" for a column that is not imported; else as in NamedColumn. */
  readonly role: string | null;
  /** Default: the name. */
  readonly label?: string;
  /** True for types that can hold fractions. */
  readonly is_float: boolean;
}

const UNCLAIMED: ReadonlySet<string | null> = new Set(["x", "y", "z", "skip"]);

/** The columns with the roles, slugs and labels that an import gives them. `rows`: samples, one value per column. */
export function fileColumns(fields: readonly FileColumn[], rows: Rows): Column[] {
  const bare = ({ name, role, label }: FileColumn) => (name ?? role ?? label ?? "").replace(/^scalar_/i, "");
  const claimed = fields.filter(({ role }) => !UNCLAIMED.has(role));
  const expected = expectedColumns(
    claimed.map((field) => ({ name: bare(field), label: field.label ?? bare(field), role: field.role, slug: null })),
  );
  return fields.map((field, index) => {
    const own = { role: field.role ?? "extra", slug: "", label: tidyLabel(bare(field)) };
    const { role, slug, label } = expected[claimed.indexOf(field)] ?? own;
    return {
      index,
      header_name: field.name,
      detected_role: role,
      suggested_label: label,
      suggested_slug: slug,
      type_hint: fieldHint(rows, index, role, field.is_float),
      remappable: false,
    };
  });
}

/** Without the columns that an import always assigns: miss flags and beam origins. */
export const withoutAssigned = (columns: readonly Column[]): Column[] =>
  columns.filter(({ detected_role }) => detected_role !== "is_miss" && !detected_role.startsWith("origin_"));

/** Type hint from a column's sampled values. A floating-point column with a role is always "float"; a floating-point
 * extra may be a class as long as its samples have no fractions. */
export function fieldHint(rows: Rows, index: number, role: string, isFloat: boolean): TypeHint {
  const values = rows.map((row) => row[index] ?? "").filter((value) => value !== "");
  if (values.length === 0) return "empty";
  if (isFloat && role !== "extra") return "float";
  const finite = values.filter((value) => !/nan|inf/i.test(value));
  return finite.length === 0 ? "float" : typeHint(finite, false);
}

export const isFloatType = (dtype: DType): boolean => dtype === "f32" || dtype === "f64";

/** A number as the shortest text that reads back as it; "" for null. */
export const numberText = (value: number | null | undefined): string =>
  value === null || value === undefined ? "" : String(value);

/** A declared box; null if it is absent or not finite. */
export function boxOf(bounds: Bounds | null): { min: [number, number, number]; max: [number, number, number] } | null {
  if (!bounds || ![...bounds.min, ...bounds.max].every(Number.isFinite)) return null;
  return { min: [...bounds.min], max: [...bounds.max] };
}

/** Smallest coordinate of each axis over the finite positions; null without any. */
export function minimumOf(positions: readonly (Triple | null)[]): Triple | null {
  let low: [number, number, number] | null = null;
  for (const p of positions) {
    if (p === null || !p.every(Number.isFinite)) continue;
    low = low === null ? [...p] : [Math.min(low[0], p[0]), Math.min(low[1], p[1]), Math.min(low[2], p[2])];
  }
  return low;
}

/** Runs an optional part of a preview: on failure adds a warning and returns `otherwise`. A cancel is thrown. */
export async function orWarning<T>(task: () => Promise<T>, otherwise: T, warnings: string[], job: Job): Promise<T> {
  try {
    return await task();
  } catch (error) {
    job.checkpoint();
    warnings.push(`The first rows could not be read: ${error instanceof Error ? error.message : String(error)}`);
    return otherwise;
  }
}

export const joined = (warnings: readonly string[]): string | null =>
  warnings.length > 0 ? [...new Set(warnings)].join(" ") : null;

type Georeference = Pick<PreviewResponse, "crs" | "detected_units" | "units_certain">;

/** The coordinate system that a file declares, and the unit of its coordinates. */
export function georeference(crs: LasCrs | null): Georeference {
  if (crs === null) return { crs: null, detected_units: null, units_certain: false };
  const unit = crs.is_geographic ? null : sourceUnit(crs.unit_m);
  const stated = crs.epsg ?? crs.vertical_epsg ?? crs.unit_m ?? nameOf(crs);
  return {
    crs: stated === null && !crs.is_geographic ? null : describe(crs),
    detected_units: unit,
    units_certain: unit !== null,
  };
}

function describe(crs: LasCrs): z.infer<typeof PreviewCrs> {
  return {
    epsg: crs.epsg,
    name: nameOf(crs),
    is_geographic: crs.is_geographic,
    unit_name: crs.unit_name === "" ? null : crs.unit_name,
    unit_m: crs.unit_m,
    vertical_epsg: crs.vertical_epsg,
    vertical_unit_m: crs.vertical_unit_m,
  };
}

/** The first quoted name of the WKT, else the GeoTIFF citation. */
function nameOf({ wkt, citation }: LasCrs): string | null {
  const quoted = /^\s*[A-Za-z_]+\s*[[(]\s*"([^"]*)"/.exec(wkt)?.[1]?.trim();
  return quoted || citation.split("|")[0]?.trim() || null;
}

/** The import's name of a unit; null if it has none. */
function sourceUnit(metres: number | null): SourceUnits | null {
  if (metres === null) return null;
  const units = Object.keys(SOURCE_UNITS) as SourceUnits[];
  return units.find((unit) => Math.abs(SOURCE_UNITS[unit] / metres - 1) < 1e-9) ?? null;
}

/** Metres from the origin at which neighbouring float32 numbers are 1 mm apart. */
const SHIFT_ABOVE = 1e4;

/** The minimum rounded down; null if every axis is near the origin. */
export function suggestedShift(min: readonly [number, number, number]): [number, number, number] | null {
  if (!min.every(Number.isFinite) || !min.some((value) => Math.abs(value) > SHIFT_ABOVE)) return null;
  return [Math.floor(min[0]), Math.floor(min[1]), Math.floor(min[2])];
}
