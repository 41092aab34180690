import type { PreviewResponse } from "../../../../shared/contract/pointcloud.ts";
import type { Job } from "../../../jobs/job.ts";
import type { DType } from "../../../native/core/handles.ts";
import * as native from "../../../native/files/readers.ts";
import { lasDimension } from "../column-candidates.ts";
import { isPinnedRole, roleOfName } from "../roles.ts";
import { adoptTable } from "../source-cloud.ts";
import {
  boxOf,
  fieldHint,
  fileColumn,
  georeference,
  isFloatType,
  joined,
  minimumOf,
  OWN_LAYOUT,
  orWarning,
  type Rows,
  SAMPLE_ROWS,
  suggestedShift,
  type Triple,
} from "./head.ts";
import { readNumbers } from "./values.ts";

const FRAME = { unit_scale: 1, shift: [0, 0, 0] } as const;
const ORIGIN_ROLES = ["origin_x", "origin_y", "origin_z"];
const POSITIONS = ["x", "y", "z"];
const LAS_CHANNELS = ["red", "green", "blue"];

interface LasField {
  readonly name: string;
  readonly extra: boolean;
  readonly dtype: DType;
}

/** LAS: every dimension except the miss flag and a complete triple of beam origins, which the import always assigns. */
export async function lasPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readLasHeader(path));
  const warnings = [...header.warnings, ...header.crs.warnings];
  const rows = await orWarning(() => lasRows(path, job), [], warnings, job);
  const fields: LasField[] = [
    ...POSITIONS.map((name) => ({ name, extra: false, dtype: "f64" as DType })),
    ...header.dimensions.flatMap((dimension) =>
      dimension.name === "rgb" && !dimension.extra
        ? LAS_CHANNELS.map((name) => ({ name, extra: false, dtype: "u16" as DType }))
        : [dimension],
    ),
  ];
  const hidden = hiddenNames(fields.filter(({ extra }) => extra).map(({ name }) => name));
  return {
    ...OWN_LAYOUT,
    kind: "las",
    columns: fields
      .map((field, index) => lasColumn(field, index, rows))
      .filter(({ header_name }) => header_name === null || !hidden.has(header_name)),
    sample_rows: rows.slice(0, maxRows).map((row) => [...row]),
    warning: joined(warnings),
    suggested_shift: header.declared_bounds && suggestedShift(header.declared_bounds.min),
    point_count: header.declared_point_count,
    bounds: boxOf(header.declared_bounds),
    ...georeference(header.crs),
  };
}

/** Standard dimensions show the slug and label that the import will give them. */
function lasColumn({ name, extra, dtype }: LasField, index: number, rows: Rows) {
  const { slug, label } = lasDimension(name);
  const role = extra ? "extra" : lasRole(name, slug);
  const column = fileColumn({ index, name, role, is_float: isFloatType(dtype) }, rows);
  const flag = dtype === "u8" && (name === "classification" || name.startsWith("is_"));
  const type_hint = flag ? "categorical" : fieldHint(rows, index, role, isFloatType(dtype));
  if (extra || role !== "extra") return { ...column, type_hint };
  return { ...column, suggested_slug: slug, suggested_label: label, type_hint };
}

function lasRole(name: string, slug: string): string {
  if (POSITIONS.includes(name) || name === "intensity") return name;
  const channel = LAS_CHANNELS.indexOf(name);
  if (channel >= 0) return ["r255", "g255", "b255"][channel] ?? "extra";
  return isPinnedRole(slug) ? slug : "extra";
}

async function lasRows(path: string, job: Job): Promise<Rows> {
  const cloud = await job.track(() =>
    native.readLas(path, { frame: FRAME, first_row: 0, row_count: SAMPLE_ROWS, skip_columns: [] }),
  );
  const { positions, columns } = adoptTable(cloud, job);
  const count = positions.length;
  const values = [positions, ...columns.map(({ column }) => column)].map(({ native: column }) => ({
    numbers: readNumbers(column),
    text: column.dtype === "f32" ? float32Text : String,
  }));
  return Array.from({ length: count }, (_, row) =>
    values.flatMap(({ numbers, text }) => {
      const width = numbers.length / count;
      return Array.from(numbers.slice(row * width, (row + 1) * width), text);
    }),
  );
}

/** Shortest text that reads back as the same float32. */
function float32Text(value: number | bigint): string {
  const number = Number(value);
  for (const digits of [6, 7, 8]) {
    const short = Number(number.toPrecision(digits));
    if (Math.fround(short) === number) return String(short);
  }
  return String(number);
}

/** PLY: the vertex properties. */
export async function plyPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readPlyHeader(path, SAMPLE_ROWS));
  const vertex = header.elements.find(({ name }) => name === "vertex");
  const properties = (vertex?.properties ?? []).filter(({ is_list }) => !is_list);
  const unseen = vertex !== undefined && vertex.count > 0 && header.sample_rows.length === 0;
  const warnings = [
    ...(vertex ? [] : ["The file has no vertex element."]),
    ...(unseen ? ["The first rows are not shown: the file is cut off, or lists precede the vertices."] : []),
  ];
  return {
    ...recordPreview("ply", properties, header.sample_rows, maxRows),
    warning: joined([...warnings, ...(vertex ? doubts(properties, header.sample_rows) : [])]),
    point_count: vertex?.count ?? 0,
  };
}

/** PCD: its fields; packed colours and fields with several values are split. */
export async function pcdPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readPcdHeader(path));
  const warnings = [...header.warnings];
  const nothing: native.PcdSample = { columns: header.fields.filter(({ name }) => name !== "_"), rows: [] };
  const { columns, rows } = await orWarning(
    () => job.track(() => native.readPcdSample(path, SAMPLE_ROWS)),
    nothing,
    warnings,
    job,
  );
  if (rows.length === 0 && header.points > 0 && warnings.length === header.warnings.length) {
    warnings.push(`The header declares ${header.points} points; the file ends before the first one is complete.`);
  }
  return {
    ...recordPreview("pcd", columns, rows, maxRows),
    warning: joined([...warnings, ...doubts(columns, rows)]),
    point_count: header.points,
  };
}

/** Why an import of these records would be refused. */
function doubts(fields: readonly { readonly name: string }[], rows: Rows): string[] {
  const names = new Set(fields.map(({ name }) => name.toLowerCase()));
  const missing = POSITIONS.filter((axis) => !names.has(axis));
  const short = rows.findIndex((row) => row.length < fields.length);
  return [
    ...(missing.length > 0 ? [`The file has no ${missing.join(", ")}; a point needs x, y and z.`] : []),
    ...(short >= 0
      ? [
          `Row ${short} has ${rows[short]?.length} of the ${fields.length} values that the header declares; they must be numbers separated by blanks.`,
        ]
      : []),
  ];
}

function recordPreview(
  kind: string,
  fields: readonly { readonly name: string; readonly dtype: DType }[],
  rows: Rows,
  maxRows: number,
): PreviewResponse {
  const hidden = hiddenNames(fields.map(({ name }) => name));
  const roles = fields.map(({ name }) => recordRole(name));
  const axes = POSITIONS.map((axis) => roles.indexOf(axis));
  const positions = rows.map((row): Triple => {
    const [x, y, z] = axes.map((index) => Number.parseFloat(row[index] ?? ""));
    return [x ?? Number.NaN, y ?? Number.NaN, z ?? Number.NaN];
  });
  const low = minimumOf(positions);
  return {
    ...OWN_LAYOUT,
    kind,
    columns: fields
      .map(({ name, dtype }, index) =>
        fileColumn({ index, name, role: roles[index] ?? "extra", is_float: isFloatType(dtype) }, rows),
      )
      .filter(({ header_name }) => header_name === null || !hidden.has(header_name)),
    sample_rows: rows.slice(0, maxRows).map((row) => [...row]),
    warning: null,
    suggested_shift: low && suggestedShift(low),
    bounds: null,
    ...georeference(null),
  };
}

function recordRole(name: string): string {
  const role = roleOfName(name.replace(/^scalar_/i, ""));
  if (role === null || role === "is_miss" || role.startsWith("origin_")) return "extra";
  return role === "reflectance" ? "intensity" : role;
}

/** Columns that the import always assigns: miss flags, and beam origins if all three are present. */
function hiddenNames(names: readonly string[]): ReadonlySet<string> {
  const roles = names.map((name) => [name, roleOfName(name.replace(/^scalar_/i, ""))] as const);
  const triple = ORIGIN_ROLES.every((role) => roles.some(([, found]) => found === role));
  return new Set(
    roles
      .filter(([, role]) => role === "is_miss" || (triple && role !== null && ORIGIN_ROLES.includes(role)))
      .map(([name]) => name),
  );
}
