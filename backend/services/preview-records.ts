import type { z } from "zod";
import type { PreviewColumn, PreviewResponse } from "../../shared/contract/pointcloud.ts";
import type { Job } from "../jobs/job.ts";
import type { DType } from "../native/addon.ts";
import * as native from "../native/readers.ts";
import { lasDimension } from "./cloud-columns.ts";
import { readNumbers } from "./column-values.ts";
import { extraSlug, tidyLabel } from "./slugs.ts";
import { adoptTable } from "./source-cloud.ts";
import { suggestedShift } from "./suggested-shift.ts";
import { roleOfName } from "./text-roles.ts";

type Column = z.infer<typeof PreviewColumn>;
type Hint = Column["type_hint"];

const FRAME = { unit_scale: 1, shift: [0, 0, 0] } as const;
const ORIGIN_ROLES = ["origin_x", "origin_y", "origin_z"];
const POSITIONS = ["x", "y", "z"];
const LAS_CHANNELS = ["red", "green", "blue"];

/** LAS: every dimension; the miss flag and a complete beam-origin triple are taken by the import and not offered. */
export async function lasPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readLasHeader(path));
  const names = header.dimensions.flatMap(({ name, extra, dtype }) =>
    name === "rgb" && !extra
      ? LAS_CHANNELS.map((channel) => ({ name: channel, extra, dtype: "u16" as DType }))
      : [{ name, extra, dtype }],
  );
  const all = [...POSITIONS.map((name) => ({ name, extra: false, dtype: "f64" as DType })), ...names];
  const hidden = hiddenNames(all.filter(({ extra }) => extra).map(({ name }) => name));
  const columns = all
    .map(({ name, extra, dtype }, index) => {
      const column = recordColumn(index, name, extra ? "extra" : lasRole(name), lasHint(name, dtype));
      if (extra || column.detected_role !== "extra") return column;
      const { slug, label } = lasDimension(name);
      return { ...column, suggested_slug: slug, suggested_label: label };
    })
    .filter(({ header_name }) => header_name === null || !hidden.has(header_name));
  const rows = Math.min(maxRows, 20);
  const sample_rows = await lasRows(path, rows, job);
  return {
    kind: "las",
    delimiter: null,
    has_header: true,
    columns,
    sample_rows,
    warning: header.warnings.length > 0 ? header.warnings.join(" ") : null,
    suggested_shift: header.declared_bounds && suggestedShift(header.declared_bounds.min),
  };
}

async function lasRows(path: string, rows: number, job: Job): Promise<string[][]> {
  const cloud = await job.track(() =>
    native.readLas(path, { frame: FRAME, first_row: 0, row_count: rows, skip_columns: [] }),
  );
  const { positions, columns } = adoptTable(cloud, job);
  const count = positions.length;
  const values = [positions, ...columns.map(({ column }) => column)].map((column) => readNumbers(column.native));
  return Array.from({ length: count }, (_, row) =>
    values.flatMap((column) => {
      const width = column.length / Math.max(1, count);
      return Array.from(column.slice(row * width, (row + 1) * width), String);
    }),
  );
}

const lasRole = (name: string): string => {
  if (POSITIONS.includes(name)) return name;
  const channel = LAS_CHANNELS.indexOf(name);
  if (channel >= 0) return ["r255", "g255", "b255"][channel] ?? "extra";
  return name === "intensity" ? "intensity" : "extra";
};
const lasHint = (name: string, dtype: DType): Hint =>
  name === "classification" ? "categorical" : dtype === "u8" && name.startsWith("is_") ? "categorical" : "float";

/** PLY: the vertex properties. */
export async function plyPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readPlyHeader(path, maxRows));
  const vertex = header.elements.find(({ name }) => name === "vertex");
  const properties = (vertex?.properties ?? []).filter(({ is_list }) => !is_list);
  const hidden = hiddenNames(properties.map(({ name }) => name));
  const columns = properties
    .map(({ name, dtype }, index) => recordColumn(index, name, recordRole(name), hintOf(dtype)))
    .filter(({ header_name }) => header_name === null || !hidden.has(header_name));
  const binary = header.format !== "ascii";
  return {
    kind: "ply",
    delimiter: null,
    has_header: true,
    columns,
    sample_rows: header.sample_rows.map((row) => [...row]),
    warning: !vertex ? "The file has no vertex element." : binary ? "Rows of a binary file are not shown here." : null,
    suggested_shift: null,
  };
}

/** PCD: its fields. */
export async function pcdPreview(path: string, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readPcdHeader(path));
  const fields = header.fields.filter(({ name }) => name !== "_");
  const columns = fields.map(({ name, dtype }, index) =>
    recordColumn(index, name, name === "rgb" || name === "rgba" ? "r255" : recordRole(name), hintOf(dtype)),
  );
  const warnings = [...header.warnings, "Rows of a PCD file are not shown here."];
  return {
    kind: "pcd",
    delimiter: null,
    has_header: true,
    columns,
    sample_rows: [],
    warning: warnings.join(" "),
    suggested_shift: null,
  };
}

function recordRole(name: string): string {
  const role = roleOfName(name.replace(/^scalar_/i, ""));
  if (role === "reflectance") return "intensity";
  return role !== null && /^([xyz]|[rgb]255|intensity)$/.test(role) ? role : "extra";
}

const hintOf = (dtype: DType): Hint => (dtype === "f32" || dtype === "f64" ? "float" : "integer");

export function recordColumn(index: number, name: string, role: string, hint: Hint): Column {
  const extra = role === "extra";
  return {
    index,
    header_name: name,
    detected_role: role,
    suggested_label: tidyLabel(name.replace(/^scalar_/i, "")),
    suggested_slug: extra ? extraSlug(name.replace(/^scalar_/i, "")) : "",
    type_hint: hint,
    remappable: false,
  };
}

/** Columns the import takes for itself: miss flags, and beam origins when all three are there. */
function hiddenNames(names: readonly string[]): ReadonlySet<string> {
  const roles = names.map((name) => [name, roleOfName(name.replace(/^scalar_/i, ""))] as const);
  const triple = ORIGIN_ROLES.every((role) => roles.some(([, found]) => found === role));
  return new Set(
    roles
      .filter(([, role]) => role === "is_miss" || (triple && role !== null && ORIGIN_ROLES.includes(role)))
      .map(([name]) => name),
  );
}
