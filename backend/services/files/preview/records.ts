import type { PreviewResponse } from "../../../../shared/contract/pointcloud.ts";
import type { Job } from "../../../jobs/job.ts";
import type { DType } from "../../../native/core/handles.ts";
import * as native from "../../../native/files/readers.ts";
import { RETURN_EXTRAS } from "../column-roles.ts";
import { adoptTable } from "../source-cloud.ts";
import { systemOfUnits, unitOfFile } from "../stated-unit.ts";
import {
  boxOf,
  type FileColumn,
  fileColumns,
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
  withoutAssigned,
} from "./head.ts";
import { readNumbers } from "./values.ts";

const FRAME = { unit_scale: 1, shift: [0, 0, 0] } as const;
const POSITIONS = ["x", "y", "z"];
const LAS_CHANNELS = ["red", "green", "blue"];
const COLOR_ROLES = ["r255", "g255", "b255"];
/** Names of colour channels that the readers of PLY and PCD merge, in the order in which they are tried. */
const COLOR_NAMES = [LAS_CHANNELS, ["diffuse_red", "diffuse_green", "diffuse_blue"], ["r", "g", "b"]];

/** LAS: every dimension except the miss flag and a complete triple of beam origins, which the import always assigns. */
export async function lasPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readLasHeader(path));
  const warnings = [...header.warnings, ...header.crs.warnings];
  const repeated = repeatedReturns(header.dimensions);
  const rows = await orWarning(() => lasRows(path, repeated, job), [], warnings, job);
  const bounds = header.declared_point_count > 0 ? header.declared_bounds : null;
  const fields: FileColumn[] = [
    ...POSITIONS.map((name) => ({ name, role: name, is_float: true })),
    ...header.dimensions.filter(({ name, extra }) => extra || !repeated.includes(name)).flatMap(lasFields),
  ];
  return {
    ...OWN_LAYOUT,
    kind: "las",
    columns: withoutAssigned(fileColumns(fields, rows)).map((column) =>
      isLasClass(fields[column.index]) ? { ...column, type_hint: "categorical" as const } : column,
    ),
    sample_rows: rows.slice(0, maxRows).map((row) => [...row]),
    warning: joined(warnings),
    suggested_shift: bounds && suggestedShift(bounds.min),
    point_count: header.declared_point_count,
    bounds: boxOf(bounds),
    ...georeference(header.crs),
  };
}

/** Fields of return numbers that extra dimensions repeat. An import keeps them if their values say otherwise. */
function repeatedReturns(dimensions: readonly native.LasDimension[]): string[] {
  const has = (name: string) => dimensions.some((one) => one.extra && one.name === name);
  return [...RETURN_EXTRAS.values()].every(has) ? [...RETURN_EXTRAS.keys()] : [];
}

/** The columns of a dimension: the colour has three. */
function lasFields({ name, description, extra, dtype }: native.LasDimension): FileColumn[] {
  if (name === "rgb" && !extra)
    return LAS_CHANNELS.map((channel, i) => ({ name: channel, role: COLOR_ROLES[i] ?? null, is_float: false }));
  const label = extra && description !== "" ? description : name;
  return [{ name, label, role: extra ? null : `las:${name}`, is_float: isFloatType(dtype) }];
}

/** Integers that are classes or flags whatever their sampled values are. */
const isLasClass = (field: FileColumn | undefined): boolean =>
  field !== undefined && !field.is_float && /^(classification|is_.*)$/.test(field.name ?? "");

async function lasRows(path: string, skip_columns: readonly string[], job: Job): Promise<Rows> {
  const cloud = await job.track(() =>
    native.readLas(path, { frame: FRAME, first_row: 0, row_count: SAMPLE_ROWS, skip_columns }),
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
  const unit = await unitOfFile(path, "ply");
  const vertex = header.elements.find(({ name }) => name === "vertex");
  const properties = (vertex?.properties ?? []).filter(({ is_list }) => !is_list);
  const unseen = vertex !== undefined && vertex.count > 0 && header.sample_rows.length === 0;
  const warnings = [
    ...(vertex ? [] : ["The file has no vertex element."]),
    ...(unseen ? ["The first rows are not shown: the file is cut off, or lists precede the vertices."] : []),
  ];
  return {
    ...recordPreview("ply", properties, header.sample_rows, maxRows),
    ...georeference(unit && systemOfUnits(unit, unit)),
    warning: joined([...warnings, ...(vertex ? doubts(properties, header.sample_rows) : [])]),
    point_count: vertex?.count ?? 0,
  };
}

/** PCD: its fields; packed colours and fields with several values are split. */
export async function pcdPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readPcdHeader(path));
  const unit = await unitOfFile(path, "pcd");
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
    ...georeference(unit && systemOfUnits(unit, unit)),
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
  const lower = fields.map(({ name }) => name.toLowerCase());
  const axes = POSITIONS.map((axis) => lower.indexOf(axis));
  const colors =
    COLOR_NAMES.map((names) => names.map((name) => lower.indexOf(name))).find((at) => !at.includes(-1)) ?? [];
  const positions = rows.map((row): Triple => {
    const [x, y, z] = axes.map((index) => Number.parseFloat(row[index] ?? ""));
    return [x ?? Number.NaN, y ?? Number.NaN, z ?? Number.NaN];
  });
  const low = minimumOf(positions);
  const columns = fields.map(
    ({ name, dtype }, index): FileColumn => ({
      name,
      role: axes.includes(index) ? name.toLowerCase() : (COLOR_ROLES[colors.indexOf(index)] ?? null),
      is_float: isFloatType(dtype),
    }),
  );
  return {
    ...OWN_LAYOUT,
    kind,
    columns: withoutAssigned(fileColumns(columns, rows)),
    sample_rows: rows.slice(0, maxRows).map((row) => [...row]),
    warning: null,
    suggested_shift: low && suggestedShift(low),
    bounds: null,
    ...georeference(null),
  };
}
