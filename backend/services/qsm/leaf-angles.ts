import type { CellTarget, LeafAnglesRequest, LeafTriangulation } from "../../../shared/contract/qsm-leaf-angles.ts";
import type { VoxelGrid } from "../../../shared/contract/voxel-grid.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/leaves.ts";
import type { VoxelBox } from "../../native/surfaces.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { copyOut, numbersColumn } from "../run/points.ts";
import { checkGrid, voxelBox } from "../surfaces/grid.ts";
import { leafAnswer, leafMeshFields, placedLeaves } from "./leaf-answer.ts";
import { leavesBytes } from "./leaves.ts";

type NumberList = LeafTriangulation["vertices"];
type Triangles = Omit<LeafTriangulation, "triangle_scan_ids" | "scan_origins"> & {
  readonly triangle_scan_ids?: NumberList | null | undefined;
  readonly scan_origins?: NumberList | null | undefined;
};

const refused = (message: string) => new AppError("invalid_argument", message);
const lengthOf = (list: NumberList): number => list.length;

/** The triangles of a request in either form. Errors: invalid_argument for a form with a part missing. */
function trianglesOf(request: LeafAnglesRequest): Triangles | null {
  if (request.triangulation) return request.triangulation;
  const { tin_vertices, tin_indices, tin_cell_ids, tin_scan_ids, tin_scan_origins } = request;
  const grid = request.grid_for_triangulation;
  if (![tin_vertices, tin_indices, tin_cell_ids, tin_scan_ids, tin_scan_origins].some(Boolean)) return null;
  const missing = Object.entries({ tin_vertices, tin_indices, tin_cell_ids }).flatMap(([name, list]) =>
    list ? [] : [name],
  );
  if (missing.length > 0 || !tin_vertices || !tin_indices || !tin_cell_ids) {
    throw refused(`The triangulation lacks ${missing.join(", ")}.`);
  }
  if (!grid) throw refused("grid_for_triangulation is missing: the triangles name cells of that grid.");
  return {
    vertices: tin_vertices,
    indices: tin_indices,
    triangle_cell_ids: tin_cell_ids,
    triangle_scan_ids: tin_scan_ids,
    scan_origins: tin_scan_origins,
    grid,
  };
}

/** Errors: invalid_argument for lists whose lengths do not fit together. */
function checkLengths({ vertices, indices, triangle_cell_ids, triangle_scan_ids, scan_origins }: Triangles): void {
  const count = lengthOf(triangle_cell_ids);
  if (lengthOf(vertices) % 3 !== 0) throw refused(`${lengthOf(vertices)} coordinates of vertices are not three each.`);
  if (lengthOf(indices) !== 3 * count) {
    throw refused(`There are ${count} cell ids and ${lengthOf(indices)} indices: a triangle has one and three.`);
  }
  if (triangle_scan_ids && lengthOf(triangle_scan_ids) !== count) {
    throw refused(`There are ${lengthOf(triangle_scan_ids)} scan ids for ${count} triangles.`);
  }
  if (scan_origins && lengthOf(scan_origins) % 3 !== 0) {
    throw refused(`${lengthOf(scan_origins)} coordinates of scan origins are not three each.`);
  }
}

interface Targets {
  /** f64, native.TARGET_WIDTH numbers each. */
  readonly table: NativeColumn;
  readonly listed: CellTarget[];
  readonly box: VoxelBox;
  readonly warnings: readonly string[];
}

/** Errors: invalid_argument for neither triangles nor distributions, and distributions without a grid. */
async function targetsOf(request: LeafAnglesRequest, job: Job): Promise<Targets> {
  const triangles = trianglesOf(request);
  if (triangles) return fittedTargets(triangles, job);
  const { cell_targets, grid } = request;
  if (!cell_targets)
    throw refused("Neither a triangulation nor cell_targets are given: there is nothing to adjust to.");
  if (!grid) throw refused("cell_targets need the grid whose cells they name.");
  const box = boxOf(grid, job);
  const cells = box.nx * box.ny * box.nz;
  const outside = cell_targets.find(({ cell_id }) => cell_id >= cells);
  if (outside) throw refused(`cell_targets name cell ${outside.cell_id}, but the grid has ${cells} cells, from 0.`);
  const rows = cell_targets.flatMap((one) => [
    one.cell_id,
    one.beta_mu,
    one.beta_nu,
    one.ecc,
    one.phi0_deg,
    one.n_measured,
  ]);
  return { table: job.adopt(numbersColumn(rows)).native, listed: cell_targets, box, warnings: [] };
}

function boxOf(grid: VoxelGrid, job: Job): VoxelBox {
  checkGrid(grid);
  return voxelBox(grid, job);
}

async function fittedTargets(triangles: Triangles, job: Job): Promise<Targets> {
  checkLengths(triangles);
  const box = boxOf(triangles.grid, job);
  const [vertices, indices, cells] = [triangles.vertices, triangles.indices, triangles.triangle_cell_ids].map(
    (list) => job.adopt(numbersColumn(list)).native,
  ) as [NativeColumn, NativeColumn, NativeColumn];
  const found = await job.track(() => native.fitLeafAngles({ vertices, indices, cells }, box.nx * box.ny * box.nz));
  const table = job.adopt(new ColumnRef(found.targets)).native;
  const values = new Float64Array(table.length);
  await copyOut(table, new Uint8Array(values.buffer));
  const listed = Array.from({ length: values.length / native.TARGET_WIDTH }, (_, i) => {
    const row = values.subarray(native.TARGET_WIDTH * i, native.TARGET_WIDTH * (i + 1));
    const [cell_id = 0, beta_mu = 0, beta_nu = 0, ecc = 0, phi0_deg = 0, n_measured = 0] = row;
    return { cell_id, beta_mu, beta_nu, ecc, phi0_deg, n_measured };
  });
  const { unfit_count } = found;
  const unfit = `The angles of the triangles in ${unfit_count} cells have no beta distribution: their leaves stay as they are.`;
  return { table, listed, box, warnings: unfit_count > 0 ? [unfit] : [] };
}

function warningsOf(turned: native.TurnedLeaves, { max_cell_leaves }: LeafAnglesRequest): string[] {
  const { untouched_count, capped_count } = turned;
  const untouched = `${untouched_count} leaves lie outside of the grid or in cells without a distribution and stay as they are.`;
  const capped = `${capped_count} leaves stay as they are: their cells have more than max_cell_leaves = ${max_cell_leaves}.`;
  return [...(untouched_count > 0 ? [untouched] : []), ...(capped_count > 0 ? [capped] : [])];
}

/** Leaves whose angles follow measured ones. Failures are reported in `error`. */
export async function adjustedLeaves(
  request: LeafAnglesRequest,
  unknown_keys: readonly string[],
  { admission }: Pick<Deps, "admission">,
  job: Job,
): Promise<object> {
  const answer = await leafAnswer(unknown_keys, job, async () => {
    const leaves = Math.min(request.max_leaves, MAX_LEAVES_ESTIMATED);
    const lists = 24 * Math.max(0, ...[request.triangulation?.indices, request.tin_indices].map((l) => l?.length ?? 0));
    const bytes = (await leavesBytes(request)) + native.turnLeavesBytes(leaves, request.cell_targets?.length ?? 0);
    return admission.run(job, "Leaf angles", bytes + lists, () => adjusted(request, job));
  });
  return "cell_targets" in answer ? answer : { ...answer, cell_targets: null, adjusted_count: 0, cell_count: 0 };
}

/** Leaves beyond this number do not fit in a response. */
const MAX_LEAVES_ESTIMATED = 1_000_000;

async function adjusted(request: LeafAnglesRequest, job: Job) {
  const { placed, look, warnings } = await placedLeaves(request, job);
  job.stage("Fitting leaf angles", 0.3, 0.4);
  const targets = await targetsOf(request, job);
  job.stage("Turning leaves", 0.4, 0.8);
  const { seed, max_cell_leaves, leaf_size_m } = request;
  const turned = await job.track(() =>
    native.turnLeaves(placed.leaves, targets.table, targets.box, { seed, max_cell_leaves: max_cell_leaves ?? 0 }),
  );
  job.adopt(turned.leaves);
  const fields = await leafMeshFields(turned.leaves, placed.leaf_count, { look, leaf_size_m }, job);
  return {
    ...fields,
    cell_targets: targets.listed,
    adjusted_count: turned.adjusted_count,
    cell_count: turned.cell_count,
    warnings: [...warnings, ...targets.warnings, ...warningsOf(turned, request)],
  };
}
