// Angular triangulations of another program's scans (lidar_reference), beside its own: number and area of the triangles.
import { addon } from "../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import * as native from "../../backend/native/scan-meshes.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import {
  type ReferenceCase,
  type ReferenceScan,
  referenceCase,
  referenceCases,
} from "../support/scans/lidar-reference.ts";
import { values } from "./native.ts";
import type { Part } from "./part.ts";

const SETTINGS = ["A", "B"] as const;
type Setting = (typeof SETTINGS)[number];
/** Largest deviation from the reference. */
const COUNT_SHARE = 0.001;
const AREA_SHARE = 0.002;

export interface ScanTriangulationRow {
  readonly method: Setting;
  readonly group: string;
  readonly triangles: number;
  readonly their_triangles: number;
  readonly area_m2: number;
  readonly their_area_m2: number;
  /** Triangles that are not facing the scanner, or whose circle contains one of a sample of the hits. */
  readonly wrong: number;
}

const numbers = (list: readonly number[]) => new addon.Column("f64", new Uint8Array(Float64Array.from(list).buffer));
const points = (list: readonly (readonly number[])[]) =>
  new addon.Column("vec3d", new Uint8Array(Float64Array.from(list.flat()).buffer));

interface Read {
  readonly scan: ReferenceScan;
  readonly hits: NativeColumn;
  readonly is_multi_return: boolean;
}

async function read(scan: ReferenceScan, grid: VoxelBox): Promise<Read> {
  const columns = scan.scalar_columns;
  const first = columns
    ? await native.firstReturns(numbers(columns.target_index), numbers(columns.target_count), null).promise
    : null;
  const { points: hits } = await native.voxelPoints(points(scan.points), first?.skip ?? null, [0, 0, 0], grid).promise;
  return { scan, hits, is_multi_return: first?.is_multi_return ?? false };
}

/** Counts triangles whose circle on the sphere contains another hit, among every 97th triangle and every 13th hit. */
function wrongTriangles({ scan, hits }: Read, indices: NativeColumn): number {
  const xyz = values(hits) as Float64Array;
  const corners = values(indices) as Uint32Array;
  const unit = (i: number) => {
    const v = [0, 1, 2].map((k) => (xyz[3 * i + k] ?? 0) - (scan.origin[k] ?? 0));
    const length = Math.hypot(...v);
    return v.map((c) => c / length);
  };
  let wrong = 0;
  for (let t = 0; t < corners.length / 3; t += 97) {
    const a = unit(corners[3 * t] ?? 0);
    const from = (corner: number) => unit(corners[3 * t + corner] ?? 0).map((value, k) => value - (a[k] ?? 0));
    const [u, v] = [from(2), from(1)];
    const n = [0, 1, 2].map((k) => {
      const [i, j] = [(k + 1) % 3, (k + 2) % 3];
      return (u[i] ?? 0) * (v[j] ?? 0) - (u[j] ?? 0) * (v[i] ?? 0);
    });
    const size = Math.hypot(...n);
    const height = (p: readonly number[]) => n.reduce((sum, value, k) => sum + value * ((p[k] ?? 0) - (a[k] ?? 0)), 0);
    let bad = height([0, 0, 0]) > 0;
    for (let i = 0; i < hits.length && !bad; i += 13) bad = height(unit(i)) > 1e-9 * size;
    wrong += bad ? 1 : 0;
  }
  return wrong;
}

async function measured(group: string, one: ReferenceCase, method: Setting): Promise<ScanTriangulationRow> {
  const { rotation, ...box } = one.grid;
  const grid = { ...box, rotation_deg: rotation, offsets: null, kept: null };
  const triangles: native.ScanTriangles[] = [];
  let wrong = 0;
  for (const scan of one.scans) {
    const found = await read(scan, grid);
    const { indices } = await native.triangulateScan(found.hits, scan.origin).promise;
    wrong += wrongTriangles(found, indices);
    triangles.push({ points: found.hits, indices, origin: scan.origin, is_multi_return: found.is_multi_return });
  }
  const { lmax, max_aspect_ratio } = one.settings[method];
  const mesh = await native.scanMesh(triangles, { lmax_m: lmax, max_aspect_ratio }).promise;
  const payload = await native.scanMeshPayload(mesh, grid, 1e9).promise;
  const [their_triangles, their_area_m2] = one.triangles[method];
  const count = payload.scan_ids.length;
  return { method, group, triangles: count, their_triangles, area_m2: payload.surface_area, their_area_m2, wrong };
}

async function measure(methods: readonly string[], groups: readonly string[]) {
  const rows: ScanTriangulationRow[] = [];
  for (const group of groups) {
    const one = referenceCase(group);
    for (const method of SETTINGS) if (methods.includes(method)) rows.push(await measured(group, one, method));
  }
  return rows;
}

const share = (ours: number, theirs: number) => ours / theirs - 1;
const percent = (value: number) => `${(100 * value).toFixed(3)} %`;
const met = (row: ScanTriangulationRow) =>
  Math.abs(share(row.triangles, row.their_triangles)) <= COUNT_SHARE &&
  Math.abs(share(row.area_m2, row.their_area_m2)) <= AREA_SHARE &&
  row.wrong === 0;

function tables(rows: readonly ScanTriangulationRow[]): string {
  const lines = rows.map((row) => {
    const count = percent(share(row.triangles, row.their_triangles));
    const area = percent(share(row.area_m2, row.their_area_m2));
    return `| ${row.group} | ${row.method} | ${row.triangles} | ${count} | ${row.area_m2.toFixed(4)} | ${area} | ${row.wrong} |`;
  });
  const head = "| scans | setting | triangles | beside theirs | area, m2 | beside theirs | circles not empty |";
  return [head, "|---|---|---|---|---|---|---|", ...lines].join("\n");
}

export const scanTriangulationPart: Part<ScanTriangulationRow> = {
  methods: SETTINGS,
  groups: referenceCases(),
  measure,
  tables,
  targets: (rows) =>
    `${rows.filter(met).length} of ${rows.length} rows have the number of triangles within 0.1 % and the area within 0.2 %.`,
};
