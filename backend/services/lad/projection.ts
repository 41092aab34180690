import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import type { ProjectionValue } from "../../../shared/contract/leaf-projection.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/lad.ts";
import { meshOfLists } from "../../native/registration.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { numbersColumn, pointsColumn } from "../run/points.ts";
import { type BeamG, beamG, checkLayers, type Projection, spreadWarnings } from "./beam-projection.ts";
import { type LadGrid, lengthOf } from "./grid.ts";

/** Where G comes from. */
export type ProjectionPlan =
  | { readonly from: "mesh" }
  /** per_beam: also where the G of the beams hardly differ. */
  | { readonly from: "triangulation"; readonly per_beam: boolean }
  /** One value for the grid, or one per layer from below. */
  | { readonly from: "values"; readonly values: readonly Projection[]; readonly per_beam: boolean };

const refused = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument if G is given twice, or no G. */
export function projectionPlan(request: LadRequest): ProjectionPlan {
  const { gtheta_override, gtheta_per_beam, mesh_vertices, mesh_indices, mesh_scan_ids } = request;
  const lists = [mesh_vertices, mesh_indices, mesh_scan_ids];
  const meshed = lists.some((list) => lengthOf(list) > 0);
  if (gtheta_override) {
    if (meshed) throw refused("gtheta_override and a mesh exclude each other: G comes from one of them.");
    const values = valuesOf(request);
    const per_beam = gtheta_per_beam && values.some((value) => "density" in value);
    if (gtheta_per_beam && !per_beam) throw refused(`gtheta_per_beam ${WITHOUT_LAW}`);
    if (per_beam) checkLayers(values.length);
    return { from: "values", values, per_beam };
  }
  if (!meshed) return { from: "triangulation", per_beam: gtheta_per_beam };
  if (gtheta_per_beam) throw refused(`gtheta_per_beam ${WITHOUT_LAW}`);
  if (!lists.every((list) => lengthOf(list) > 0)) {
    throw refused("A mesh needs mesh_vertices, mesh_indices and mesh_scan_ids.");
  }
  if (request.scans.some(({ trajectory }) => trajectory)) {
    throw refused("A mesh needs static scans: the direction in which a moving one saw a triangle is not known.");
  }
  const triangles = lengthOf(mesh_indices) / 3;
  if (lengthOf(mesh_scan_ids) !== triangles) {
    throw refused(`mesh_scan_ids has ${lengthOf(mesh_scan_ids)} values for ${triangles} triangles.`);
  }
  return { from: "mesh" };
}

const WITHOUT_LAW =
  "needs the distribution of the leaf inclinations: send gtheta_override with a gtheta_spec of kind dewit or beta, let G come from triangles of the scans, or leave it out.";

function valuesOf({ gtheta, gtheta_spec, grid }: LadRequest): Projection[] {
  if (!gtheta_spec) {
    if (gtheta === null || gtheta === undefined) throw refused("gtheta_override needs gtheta or gtheta_spec.");
    return [constantOf(gtheta, "gtheta")];
  }
  if (gtheta_spec.spatial === "constant") {
    if (!gtheta_spec.spec) throw refused("gtheta_spec needs spec when spatial is constant.");
    return [projectionOf(gtheta_spec.spec, "gtheta_spec.spec")];
  }
  const layers = gtheta_spec.profile ?? [];
  const nz = Math.max(1, grid.nz);
  if (layers.length !== nz) {
    throw refused(`gtheta_spec.profile has ${layers.length} values; a grid of ${nz} layers needs ${nz}.`);
  }
  return layers.map((layer, k) => projectionOf(layer, `gtheta_spec.profile[${k}]`));
}

function constantOf(value: number | null | undefined, name: string): Projection {
  if (value === null || value === undefined || !(value > 0 && value <= 1)) {
    throw refused(`${name} is ${value ?? "missing"}: G must be above 0 and at most 1.`);
  }
  return { constant: value };
}

function projectionOf({ kind, value, dewit, beta_mu, beta_nu }: ProjectionValue, name: string): Projection {
  if (kind === "constant") return constantOf(value, `${name}.value`);
  if (kind === "dewit") {
    if (!dewit) throw refused(`${name}.dewit is missing: name a distribution of leaf inclinations.`);
    return { density: { law: dewit } };
  }
  for (const [field, shape] of [
    ["beta_mu", beta_mu],
    ["beta_nu", beta_nu],
  ] as const) {
    if (!(typeof shape === "number" && shape > 0)) {
      throw refused(
        `${name}.${field} is ${shape ?? "missing"}: both shapes of the Beta distribution must be positive.`,
      );
    }
  }
  return { density: { law: "beta", beta_mu: beta_mu ?? 1, beta_nu: beta_nu ?? 1 } };
}

/** G per voxel, per layer, or one (f64); the run owns the column. */
export interface VoxelG {
  readonly column: native.TracedBeams["sums"];
  /** Mean cosine at which beams meet the leaves, with what is uncertain about it. */
  hitCosine(): Promise<{ readonly cosine: number; readonly warnings: readonly string[] }>;
  /** (nz) when prescribed; null = from triangles. */
  readonly profile: readonly number[] | null;
  /** G of all voxels together, or of each layer. */
  readonly overall: readonly number[];
  /** G of each beam; null = that of the voxel for all. */
  readonly beams: BeamG | null;
  /** Of triangles of the scans; null = G is taken as known. The run owns the column. */
  readonly error: native.ProjectionError | null;
  readonly warnings: readonly string[];
}

/** Prescribed G, averaged over the beams that reach the grid. */
export async function prescribedG(
  { values, per_beam }: Extract<ProjectionPlan, { readonly from: "values" }>,
  { zenith_count }: native.TracedBeams,
  nz: number,
  job: Job,
): Promise<VoxelG> {
  const known = new Map<string, number>(); // layers often share their distribution
  const means: number[] = [];
  for (const value of values) {
    if ("constant" in value) {
      means.push(value.constant);
      continue;
    }
    const key = JSON.stringify(value.density);
    const mean =
      known.get(key) ?? (await job.quiet().track(() => native.meanLeafProjection(value.density, zenith_count)));
    known.set(key, mean);
    means.push(mean);
  }
  const profile = values.length === 1 ? Array<number>(nz).fill(means[0] ?? 0) : means;
  const hitCosine = () => prescribedCosine(values, means, zenith_count, job.quiet());
  const column = job.adopt(numbersColumn(means)).native;
  const beams = await beamG(values, zenith_count.length, job);
  const warnings = per_beam ? [] : spreadWarnings(beams, zenith_count);
  return { column, profile, overall: means, beams: per_beam ? beams : null, error: null, warnings, hitCosine };
}

/** The part of G that the nearest law may be off before it is told. */
const CLOSE_G = 0.005;

/** Mean over the layers, weighed by their G. A constant G is that of the ellipsoidal law with the same G. */
export async function prescribedCosine(
  values: readonly Projection[],
  means: readonly number[],
  zenith_count: readonly number[],
  job: Job,
): Promise<{ cosine: number; warnings: string[] }> {
  const known = new Map<string, number>();
  const warnings: string[] = [];
  let [sum, whole] = [0, 0];
  for (const [i, value] of values.entries()) {
    const g = means[i] ?? 0;
    const key = JSON.stringify(value);
    let cosine = known.get(key);
    if (cosine === undefined && "density" in value) {
      cosine = await job.track(() => native.meanHitCosine(value.density, zenith_count));
    } else if (cosine === undefined) {
      const likely = await job.track(() => native.likelyHitCosine(g, zenith_count));
      cosine = likely.hit_cosine;
      if (Math.abs(likely.g - g) > CLOSE_G) {
        warnings.push(
          `No leaves of uniform azimuths and ellipsoidal inclinations have G ${Number(g.toPrecision(3))} for these beams; the cosine at which the beams meet leaves is that of the nearest, with G ${likely.g.toFixed(3)}. Send gtheta_spec with a distribution if you know it.`,
        );
      }
    }
    known.set(key, cosine ?? 0);
    sum += g * (cosine ?? 0);
    whole += g;
  }
  return { cosine: sum / whole, warnings };
}

export const knownCosine = (cosine: number) => async () => ({ cosine, warnings: [] });

/** G of each voxel from the triangles of the request. Errors: invalid_argument, also if none lies in the grid. */
export async function meshG(request: LadRequest, grid: LadGrid, job: Job): Promise<VoxelG> {
  const list = (values: LadRequest["mesh_vertices"]) => job.adopt(numbersColumn(values ?? [])).native;
  const [vertices, indices, scan_ids] = [request.mesh_vertices, request.mesh_indices, request.mesh_scan_ids].map(list);
  if (!vertices || !indices || !scan_ids) throw new AppError("internal", "a mesh without its lists");
  const mesh = await job.track(() => meshOfLists(vertices, indices));
  const origins = job.adopt(pointsColumn(request.scans.map(({ origin }) => origin))).native;
  const leaves: native.LeafMesh = {
    vertices: job.adopt(new ColumnRef(mesh.vertices)).native,
    indices: job.adopt(new ColumnRef(mesh.indices)).native,
    scan_ids,
    origins,
  };
  const found = await job.track(() => native.voxelProjection(leaves, grid.box, null));
  const column = job.adopt(new ColumnRef(found.g)).native;
  if (found.triangle_count === 0) throw refused("No triangle of the mesh lies in the grid.");
  return {
    column,
    profile: null,
    overall: [found.mean_g],
    beams: null,
    error: null,
    warnings: [],
    hitCosine: knownCosine(found.hit_cosine),
  };
}
