import type { ImportByPathRequest } from "../../../shared/contract/pointcloud.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/cloud.ts";
import { compactColumns } from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { extraKey, type Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { assignColumns } from "./assigned-columns.ts";
import { importBytes } from "./import-cost.ts";
import { readCloud } from "./read.ts";
import { MISS_SLUG } from "./slugs.ts";
import { kindOfFile, type SourceKind, sourceFile } from "./source.ts";
import type { SourceCloud } from "./source-cloud.ts";

export interface CheckedFlatImport {
  readonly request: ImportByPathRequest;
  readonly path: string;
  readonly kind: SourceKind;
  readonly shift: Triple;
}

/** A small flat cloud as float32, ready for a PHX1 stream. The caller releases it. */
export interface FlatCloud {
  readonly point_count: number;
  /** Misses of the file, which are left out. */
  readonly miss_count: number;
  /** (n, 3) metres, file frame minus the shift. */
  readonly positions: ColumnRef;
  /** (n, 3) 0..1 */
  readonly colors: ColumnRef | undefined;
  /** (n) raw values of the file. */
  readonly intensity: ColumnRef | undefined;
  release(): void;
}

/** Errors: not_found, invalid_argument, unsupported. */
export async function checkFlatImport(request: ImportByPathRequest): Promise<CheckedFlatImport> {
  const path = await sourceFile(request.file_path);
  const kind = kindOfFile(path);
  const shift = request.world_shift ?? [0, 0, 0];
  const [x, y, z] = shift;
  if (shift.length !== 3 || x === undefined || y === undefined || z === undefined || !shift.every(Number.isFinite)) {
    throw new AppError("invalid_argument", `world_shift must be three finite numbers, not [${shift.join(", ")}]`);
  }
  return { request, path, kind, shift: [x, y, z] };
}

/**
 * Reads a file into float32 columns. Scalars such as is_miss are not returned, so misses are left out: a client could
 * not tell a sky point 20 km away from a hit. Positions are shifted in float64 before the cast.
 */
export async function importFlat(
  { request, path, kind, shift }: CheckedFlatImport,
  deps: Deps,
  job: Job,
): Promise<FlatCloud> {
  return deps.admission.run(job, "Import", await importBytes(path, kind), async () => {
    const frame = { unit_scale: 1, shift };
    const { ascii_format = null, column_plan = null } = request;
    const cloud = await readCloud({ path, kind, frame, ascii_format, column_plan, scan_index: null }, job);
    if (cloud.positions.length === 0) throw new AppError("invalid_argument", `No points found in ${path}`);
    const wishes = { frame, drop: new Set<string>(), roles: {}, labels: {} };
    const { columns } = await assignColumns(cloud, wishes, job);
    const hits = await hitRows(columns, cloud.positions.length, path, job);
    const floats = async (column: ColumnRef | undefined, divisor: number, clamp = false) => {
      if (!column) return undefined;
      const kept = hits.misses ? await withoutRows(column, hits.misses, job) : column.native;
      return job.adopt(new ColumnRef(await job.track(() => native.toF32(kept, { shift: [0, 0, 0], divisor, clamp }))));
    };
    const positions = await floats(cloud.positions, 1);
    const units = columns.has("colors") ? await unitColors(cloud, job) : undefined;
    const colors = units ? await floats(units, 1, true) : await floats(columns.get("colors"), cloud.color_full, true);
    const intensity = await flatIntensity(cloud, columns, floats);
    if (!positions) throw new AppError("internal", "positions were not packed");
    const kept = [positions, colors, intensity].filter((column) => column !== undefined);
    for (const column of kept) column.retain(); // they outlive the run until the stream has sent them
    return {
      point_count: hits.count,
      miss_count: cloud.positions.length - hits.count,
      positions,
      colors,
      intensity,
      release: () => {
        for (const column of kept) column.release();
      },
    };
  });
}

/** Colours 0..1 of the file with its own digits; undefined if it has other colours. */
async function unitColors({ unit_colors }: SourceCloud, job: Job): Promise<ColumnRef | undefined> {
  const [r, g, b] = unit_colors;
  if (!r || !g || !b) return undefined;
  const frame = { unit_scale: 1, shift: [0, 0, 0] } as const;
  const joined = await job.track(() => native.interleaveTriple(r.native, g.native, b.native, frame));
  return job.adopt(new ColumnRef(joined));
}

/** The number of hits and a mask of the misses, null if there are none. Errors: invalid_argument without hits. */
async function hitRows(columns: ReadonlyMap<string, ColumnRef>, rows: number, path: string, job: Job) {
  const isMiss = columns.get(extraKey(MISS_SLUG));
  if (!isMiss) return { count: rows, misses: null };
  const { skip, hit_count } = await job.track(() => native.hitMask(isMiss.native, null, rows));
  const misses = skip && job.adopt(new ColumnRef(skip)).native;
  if (hit_count === 0)
    throw new AppError("invalid_argument", `${path} contains only misses (sky points); an import needs hits`);
  return { count: hit_count, misses };
}

async function withoutRows({ native: column }: ColumnRef, drop: NativeColumn, job: Job): Promise<NativeColumn> {
  const [kept] = await job.track(() => compactColumns([column], drop));
  if (!kept) throw new AppError("internal", "a column was lost");
  return job.adopt(new ColumnRef(kept)).native;
}

/** Text: raw values of the intensity, else the reflectance; LAS, E57 and PTX: u16 values; PLY and PCD: none. */
function flatIntensity(
  cloud: SourceCloud,
  columns: ReadonlyMap<string, ColumnRef>,
  floats: (column: ColumnRef | undefined, divisor: number) => Promise<ColumnRef | undefined>,
): Promise<ColumnRef | undefined> {
  if (["las", "e57", "ptx"].includes(cloud.kind)) return floats(columns.get("intensity"), 1);
  if (cloud.kind !== "ascii") return Promise.resolve(undefined);
  const raw = (role: string) => cloud.columns.find((column) => column.role === role)?.column;
  return floats(raw("intensity") ?? raw("reflectance"), 1);
}
