// Delaunay triangulations and alpha shapes against CGAL 5.5: edges, faces, volumes. The clouds are drawn by the generator
// that lies beside the reference (python3 with numpy).
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as native from "../../backend/native/surfaces.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { readPly } from "./csf-reference.ts";
import { positions, values } from "./native.ts";
import type { Part } from "./part.ts";

const FOLDER = join(DATA, "geometry_reference/surfaces");
const METHODS = ["delaunay", "alpha_shape"] as const;
const GROUPS = ["sphere", "torus", "saddle", "hole", "boxes", "cylinder", "real"] as const;

interface AlphaReference {
  readonly radius: number;
  readonly facets_regular: number;
  readonly facets_singular: number;
  readonly volume: number;
}

/** A line of results.jsonl. */
interface Reference {
  readonly id: string;
  readonly triangles?: number;
  readonly area_3d?: number;
  readonly edge_sha256?: string;
  readonly edges_with_four_cocircular_points?: number;
  readonly mean_spacing?: number;
  readonly cgal?: { readonly alphas: readonly AlphaReference[] };
}

export interface SurfaceRow {
  readonly method: (typeof METHODS)[number];
  readonly cloud: string;
  /** alpha_shape: radius over mean spacing. */
  readonly factor: number | null;
  readonly faces: number;
  readonly reference_faces: number;
  /** Faces that bound no solid. */
  readonly sheet: number;
  readonly reference_sheet: number;
  /** The edges are those of the reference; null = not unique, or of an alpha shape. */
  readonly same_edges: boolean | null;
  /** Relative difference of the area (delaunay) or the volume (alpha shape). */
  readonly difference: number;
}

const references = (): readonly Reference[] =>
  existsSync(FOLDER)
    ? readFileSync(join(FOLDER, "results.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Reference)
    : [];

function python(args: readonly string[]): void {
  const { status, stderr } = spawnSync("python3", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`python3 ${args[0]}: ${stderr}`);
}

/** Positions of a drawn cloud, after a check that it is the one the reference was made of. */
function drawn(folder: string, [shape, points, noise]: readonly string[]): Float64Array {
  const path = join(folder, "cloud.ply");
  python([
    join(FOLDER, "surf_gen.py"),
    "write",
    join(FOLDER, "shapes.json"),
    `${shape}`,
    `${points}`,
    `${noise}`,
    path,
  ]);
  const bytes = readFileSync(path);
  const body = bytes.subarray(bytes.indexOf("end_header\n") + 11);
  const sha = createHash("sha256").update(body).digest("hex");
  const known = readFileSync(join(FOLDER, "clouds.sha256"), "utf8").includes(`${shape} ${points} ${noise} ${sha}`);
  if (!known) throw new Error(`${shape} ${points} ${noise}: this numpy draws other numbers`);
  return Float64Array.from({ length: 3 * Number(points) }, (_, i) =>
    body.readFloatLE(24 * Math.floor(i / 3) + 4 * (i % 3)),
  );
}

function maize(folder: string): Float64Array {
  const xyz = readPly(join(DATA, "plants/maize_03-13.ply"));
  const path = join(folder, "rows.bin");
  python([
    "-c",
    `import numpy as n; n.random.default_rng(1).choice(${xyz.length / 3}, 100000, replace=False).astype('<u4').tofile('${path}')`,
  ]);
  const bytes = readFileSync(path);
  return Float64Array.from(
    { length: 300_000 },
    (_, i) => xyz[3 * bytes.readUInt32LE(4 * Math.floor(i / 3)) + (i % 3)] ?? Number.NaN,
  );
}

/** The cloud of a reference; undefined if it is not one of points. */
function cloudOf(id: string, folder: string): Float64Array | undefined {
  if (id === "delaunay2d/csf_sample") return readPly(join(DATA, "als/csf_sample.ply"));
  if (id === "real/maize_leafy_plant/alpha") return maize(folder);
  const [kind, ...parts] = id.split("/");
  return (kind === "delaunay2d" || kind === "alpha") && parts.length === 3 ? drawn(folder, parts) : undefined;
}

/** SHA-256 of all edges as pairs of ascending rows, in ascending order. */
function edgeHash(indices: ArrayLike<number>): string {
  const edges = new Set<number>();
  for (let i = 0; i < indices.length; i += 3) {
    for (let k = 0; k < 3; k += 1) {
      const [a, b] = [indices[i + k] ?? 0, indices[i + ((k + 1) % 3)] ?? 0];
      edges.add(Math.min(a, b) * 2 ** 26 + Math.max(a, b));
    }
  }
  const sorted = Float64Array.from(edges).sort();
  const pairs = new Uint32Array(2 * sorted.length);
  for (const [i, edge] of sorted.entries()) pairs.set([Math.floor(edge / 2 ** 26), edge % 2 ** 26], 2 * i);
  return createHash("sha256").update(new Uint8Array(pairs.buffer)).digest("hex");
}

async function delaunayRow(reference: Reference, xyz: Float64Array): Promise<SurfaceRow> {
  const points = positions(xyz);
  const { indices } = await native.delaunay(points).promise;
  const area = await native.meshArea({ vertices: points, indices }).promise;
  const corners = values(indices);
  const unique = reference.edges_with_four_cocircular_points === 0;
  const { area_3d = Number.NaN, triangles = Number.NaN } = reference;
  for (const column of [points, indices]) column.release();
  return {
    method: "delaunay",
    cloud: reference.id,
    factor: null,
    faces: corners.length / 3,
    reference_faces: triangles,
    sheet: 0,
    reference_sheet: 0,
    same_edges: unique ? edgeHash(corners) === reference.edge_sha256 : null,
    difference: unique ? Math.abs(area / area_3d - 1) : 0,
  };
}

async function alphaRows({ id, cgal, mean_spacing = Number.NaN }: Reference, xyz: Float64Array): Promise<SurfaceRow[]> {
  const points = positions(xyz);
  const rows: SurfaceRow[] = [];
  for (const alpha of cgal?.alphas ?? []) {
    const shape = await native.alphaShape(points, alpha.radius).promise;
    const faces = shape.indices.length / 3 - (shape.faces === "sheet" ? shape.sheet_count : 0);
    shape.indices.release();
    // The reference counts repeated points, at distance 0 from each other.
    const distinct = shape.repeated_count === 0;
    if (distinct && Math.abs(shape.mean_spacing_m / mean_spacing - 1) > 1e-9)
      throw new Error(`${id}: another mean spacing`);
    rows.push({
      method: "alpha_shape",
      cloud: id,
      factor: Math.round(alpha.radius / mean_spacing),
      faces,
      reference_faces: alpha.facets_regular,
      sheet: shape.sheet_count,
      reference_sheet: alpha.facets_singular,
      same_edges: null,
      difference: alpha.volume === 0 ? Math.abs(shape.volume_m3) : Math.abs(shape.volume_m3 / alpha.volume - 1),
    });
  }
  points.release();
  return rows;
}

const groupOf = (id: string) => GROUPS.find((group) => id.split("/").includes(group)) ?? "real";

async function measure(methods: readonly string[], groups: readonly string[]): Promise<readonly SurfaceRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "surfaces-"));
  const rows: SurfaceRow[] = [];
  try {
    for (const reference of references()) {
      const method = reference.cgal ? "alpha_shape" : reference.triangles ? "delaunay" : undefined;
      const isOne = reference.id.startsWith("delaunay2d/") || reference.cgal?.alphas.length;
      if (!method || !isOne || !methods.includes(method) || !groups.includes(groupOf(reference.id))) continue;
      const xyz = cloudOf(reference.id, folder);
      if (!xyz) continue;
      if (method === "delaunay") rows.push(await delaunayRow(reference, xyz));
      else rows.push(...(await alphaRows(reference, xyz)));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return rows;
}

/** Volumes are sums of millions of tetrahedra: in another order they differ in the last digits. */
const SAME = 1e-9;
export const isSame = ({
  faces,
  reference_faces,
  sheet,
  reference_sheet,
  same_edges,
  difference,
}: SurfaceRow): boolean =>
  faces === reference_faces && sheet === reference_sheet && same_edges !== false && difference <= SAME;

const line = (row: SurfaceRow) =>
  `| ${row.cloud} | ${row.factor ?? ""} | ${row.faces} | ${row.reference_faces} | ${row.sheet} | ${row.reference_sheet} | ${
    row.same_edges === null ? "" : row.same_edges ? "yes" : "NO"
  } | ${row.difference.toExponential(0)} |`;

export const surfacesPart: Part<SurfaceRow> = {
  methods: METHODS,
  groups: GROUPS,
  measure,
  tables: (rows) =>
    METHODS.filter((method) => rows.some((row) => row.method === method))
      .flatMap((method) => [
        `#### ${method}\n`,
        "| cloud | alpha / spacing | faces | of CGAL | sheet faces | of CGAL | same edges | difference of area or volume |",
        "|---|---|---|---|---|---|---|---|",
        ...rows.filter((row) => row.method === method).map(line),
        "",
      ])
      .join("\n"),
  targets: (rows) =>
    `${rows.filter(isSame).length} of ${rows.length} rows agree with CGAL (volumes and areas to ${SAME})`,
};
