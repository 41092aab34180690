// Poisson surfaces and ball pivoting against analytic surfaces, beside the figures of PoissonRecon and Open3D. Clouds and
// exact distances come from the generator that lies beside the reference (python3 with numpy).
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import * as native from "../../backend/native/reconstruction.ts";
import { pointToMeshDistance } from "../../backend/native/registration.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { column, coordinatesOf, positions, values } from "./native.ts";
import type { Part } from "./part.ts";
import { hasPcl, pclGreedy } from "./pcl.ts";

const FOLDER = join(DATA, "geometry_reference/surfaces");
/** pcl_greedy: greedy projection triangulation of the Point Cloud Library, where it is installed. */
const METHODS = ["poisson", "ball_pivoting", "pcl_greedy"] as const;
const GROUPS = ["sphere", "torus", "boxes", "saddle", "hole", "cylinder"] as const;
const PROGRAMS = { poisson: "poissonrecon", ball_pivoting: "open3d_bpa", pcl_greedy: "open3d_bpa" } as const;

/** In % of the diagonal. */
interface Distances {
  readonly mean: number;
  readonly p95: number;
  readonly max: number;
}
/** A line of results.jsonl. */
interface Reference {
  readonly id: string;
  readonly program: string;
  readonly shape: string;
  readonly points: number;
  readonly noise_pct: number;
  readonly normals?: string;
  readonly depth?: number;
  readonly radii?: readonly number[];
  readonly components?: number;
  readonly mesh_to_truth_pct?: Distances;
  readonly truth_to_mesh_pct?: Distances;
}
export interface ReconstructionRow {
  readonly method: (typeof METHODS)[number];
  readonly cloud: string;
  readonly closed: boolean;
  readonly noise_pct: number;
  readonly to_truth: Distances;
  readonly from_truth: Distances;
  readonly reference_to_truth: Distances;
  readonly reference_from_truth: Distances;
  readonly components: number;
  readonly reference_components: number;
  readonly boundary_edges: number;
  readonly nonmanifold_edges: number;
}

/** Writes cloud.bin (x y z nx ny nz), exact.bin (x y z) and the diagonal; or prints distances of a mesh to the surface. */
const PYTHON = `
import sys,json,numpy as np
sys.dont_write_bytecode=True; what,ref,shape,n,noise,d=sys.argv[1:7]; sys.path.insert(0,ref)
import surf_gen as g
S=json.load(open(ref+'/shapes.json'))['shapes']; s=S[shape]; diag=float(g.bbox_diag(s))
if what=='draw':
    p,m=g.cloud(S,shape,int(n),float(noise)); p.astype('<f8').tofile(d+'/points.bin'); m.astype('<f8').tofile(d+'/normals.bin')
    g.sample(s,30000,np.random.default_rng(5))[0].astype('<f8').tofile(d+'/exact.bin'); print(json.dumps(dict(diagonal=diag)))
else:
    V=np.fromfile(d+'/vertices.bin','<f8').reshape(-1,3); T=np.fromfile(d+'/indices.bin','<u4').reshape(-1,3); r=np.random.default_rng(1)
    A=np.linalg.norm(np.cross(V[T[:,1]]-V[T[:,0]],V[T[:,2]]-V[T[:,0]]),axis=1); i=r.choice(len(T),20000,p=A/A.sum()); a,b=r.uniform(size=(2,20000)); f=a+b>1; a[f]=1-a[f]; b[f]=1-b[f]
    x=g.distance(s,V[T[i,0]]+a[:,None]*(V[T[i,1]]-V[T[i,0]])+b[:,None]*(V[T[i,2]]-V[T[i,0]]))/diag*100
    used=np.unique(T); v=g.distance(s,V[r.choice(used,min(len(used),20000),replace=False)])/diag*100
    print(json.dumps(dict(mean=x.mean(),p95=np.percentile(x,95),max=max(x.max(),v.max()))))
`;

function python<Result>(what: "draw" | "measure", { shape, points, noise_pct }: Reference, folder: string): Result {
  const args = ["-c", PYTHON, what, FOLDER, shape, `${points}`, `${noise_pct}`, folder];
  const { status, stdout, stderr } = spawnSync("python3", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`python3: ${stderr}`);
  return JSON.parse(stdout) as Result;
}

const numbers = (path: string) => new Float64Array(Uint8Array.from(readFileSync(path)).buffer);

/** Components, and edges of one triangle or of more than two. */
function topology(indices: ArrayLike<number>) {
  const parent = new Map<number, number>();
  const root = (v: number): number => {
    let at = v;
    for (let up = parent.get(at) ?? at; up !== at; up = parent.get(at) ?? at) at = up;
    return at;
  };
  const edges = new Float64Array(indices.length);
  for (let i = 0; i < indices.length; i++) {
    const a = indices[i] ?? 0;
    const b = indices[i - (i % 3) + ((i + 1) % 3)] ?? 0;
    edges[i] = Math.min(a, b) * 2 ** 26 + Math.max(a, b);
    const [low, high] = [root(a), root(b)].sort((x, y) => x - y) as [number, number];
    parent.set(low, low).set(high, low).set(a, low).set(b, low);
  }
  edges.sort();
  let boundary = 0;
  let nonmanifold = 0;
  for (let i = 0; i < edges.length; ) {
    let end = i + 1;
    while (edges[end] === edges[i]) end++;
    if (end - i === 1) boundary++;
    if (end - i > 2) nonmanifold++;
    i = end;
  }
  const components = [...parent].filter(([vertex, up]) => vertex === up).length;
  return { components, boundary, nonmanifold };
}

/** Parameters as docs and clients should use them. */
const POISSON = { scale: 1.1, samples_per_node: 0.6, point_weight: 2, trim: true, memory_bytes: 2 ** 33 };

async function meshed(
  method: (typeof METHODS)[number],
  { depth, radii }: Reference,
  points: NativeColumn,
  normals: NativeColumn,
  folder: string,
): Promise<{ vertices?: NativeColumn; indices: NativeColumn }> {
  if (method === "poisson") return native.poissonSurface(points, normals, { ...POISSON, depth: depth ?? 8 }).promise;
  // As far as the largest ball reaches.
  if (method === "pcl_greedy") return { indices: column("u32", pclGreedy(folder, 2 * Math.max(...(radii ?? [])))) };
  return native.ballPivoting(points, normals, { radii: [], tile_points: 120_000, sides_are_known: false }).promise;
}

async function row(method: (typeof METHODS)[number], reference: Reference, folder: string): Promise<ReconstructionRow> {
  const { diagonal } = python<{ diagonal: number }>("draw", reference, folder);
  const points = positions(numbers(join(folder, "points.bin")));
  const normals = positions(numbers(join(folder, "normals.bin")));
  const made = await meshed(method, reference, points, normals, folder);
  const mesh = { vertices: made.vertices ?? points, indices: made.indices };
  writeFileSync(join(folder, "vertices.bin"), new Uint8Array(coordinatesOf(mesh.vertices).buffer));
  const indices = values(mesh.indices);
  writeFileSync(join(folder, "indices.bin"), new Uint8Array(indices.buffer));
  const exact = positions(numbers(join(folder, "exact.bin")));
  const params = { shift: [0, 0, 0], stride: 1, with_sides: false, bands_m: [] } as const;
  const { spread } = await pointToMeshDistance(exact, null, mesh, params).promise;
  if (!spread) throw new Error(`${reference.id}: no distances`);
  const shape = topology(indices);
  const share = (metres: number) => (100 * metres) / diagonal;
  const none = { mean: Number.NaN, p95: Number.NaN, max: Number.NaN };
  for (const one of new Set([points, normals, exact, mesh.vertices, mesh.indices])) one.release();
  return {
    method,
    cloud: reference.id.split("/").slice(1).join("/"),
    closed: ["sphere", "torus", "boxes"].includes(reference.shape),
    noise_pct: reference.noise_pct,
    to_truth: python<Distances>("measure", reference, folder),
    from_truth: {
      mean: share(spread.mean_distance),
      p95: share(spread.percentile_95),
      max: share(spread.max_distance),
    },
    reference_to_truth: reference.mesh_to_truth_pct ?? none,
    reference_from_truth: reference.truth_to_mesh_pct ?? none,
    components: shape.components,
    reference_components: reference.components ?? Number.NaN,
    boundary_edges: shape.boundary,
    nonmanifold_edges: shape.nonmanifold,
  };
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<readonly ReconstructionRow[]> {
  if (!existsSync(FOLDER)) return [];
  const references = readFileSync(join(FOLDER, "results.jsonl"), "utf8").trim().split("\n");
  const folder = mkdtempSync(join(tmpdir(), "reconstruction-"));
  const rows: ReconstructionRow[] = [];
  try {
    for (const reference of references.map((text) => JSON.parse(text) as Reference)) {
      if (reference.normals === "estimated" || !reference.mesh_to_truth_pct || !groups.includes(reference.shape))
        continue;
      for (const method of METHODS) {
        if (!methods.includes(method) || !reference.id.startsWith(`${PROGRAMS[method]}/`)) continue;
        if (method !== "pcl_greedy" || hasPcl()) rows.push(await row(method, reference, folder));
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return rows;
}

/** Mean and 95th percentile both ways at most 1.05 times the reference's. */
export const isClose = (one: ReconstructionRow): boolean =>
  (["mean", "p95"] as const).every(
    (name) =>
      one.to_truth[name] <= 1.05 * one.reference_to_truth[name] + 1e-4 &&
      one.from_truth[name] <= 1.05 * one.reference_from_truth[name] + 1e-4,
  );

const three = ({ mean, p95, max }: Distances) => [mean, p95, max].map((value) => value.toFixed(4)).join(" / ");
const line = (one: ReconstructionRow) =>
  `| ${one.cloud} | ${three(one.to_truth)} | ${three(one.reference_to_truth)} | ${three(one.from_truth)} | ${three(one.reference_from_truth)} | ${one.components} (${one.reference_components}) | ${one.boundary_edges}, ${one.nonmanifold_edges} | ${isClose(one) ? "yes" : "NO"} |`;

export const reconstructionPart: Part<ReconstructionRow> = {
  methods: METHODS,
  groups: GROUPS,
  measure,
  tables: (rows) =>
    METHODS.filter((method) => rows.some((one) => one.method === method))
      .flatMap((method) => [
        `#### ${method}, beside ${PROGRAMS[method]}; % of the diagonal, mean / 95th percentile / largest\n`,
        "| cloud | mesh to truth | theirs | truth to mesh | theirs | components (theirs) | boundary, non-manifold edges | within 1.05 |",
        "|---|---|---|---|---|---|---|---|",
        ...rows.filter((one) => one.method === method).map(line),
        "",
      ])
      .join("\n"),
  targets(all) {
    const rows = all.filter(({ method }) => method !== "pcl_greedy");
    const poisson = rows.filter((one) => one.method === "poisson");
    const open = poisson.filter((one) => one.closed && one.boundary_edges > 0).length;
    const split = poisson.filter((one) => one.closed && one.noise_pct <= 0.2 && one.components > 1).length;
    const told = (ok: boolean, text: string) => `${ok ? "reached" : "missed "}  ${text}`;
    return [
      told(rows.every(isClose), `${rows.filter(isClose).length} of ${rows.length} rows within 1.05 of the reference`),
      told(
        rows.every((one) => one.nonmanifold_edges === 0),
        "no edge of more than two triangles",
      ),
      told(open === 0, `closed shapes have no boundary: ${open} have`),
      told(split === 0, `one component up to .2 % noise: ${split} have more`),
    ].join("\n");
  },
};
