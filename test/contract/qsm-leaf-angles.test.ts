import { describe, expect, test } from "vitest";
import { LeafAnglesResponse } from "../../shared/contract/qsm-leaf-angles.ts";
import { encodeFrame } from "../../shared/wire/phb1.ts";
import { ShootModel } from "../support/qsm/shoots.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const url = "/api/qsm/adjust-leaf-angles";
const adjust = async (payload: object) => {
  const answer = await made.app.inject({ method: "POST", url, payload });
  expect(answer.statusCode).toBe(200);
  return LeafAnglesResponse.parse(answer.json());
};
const grid = { center: [0, 0, 10.01], size: [4, 4, 22], nx: 1, ny: 1, nz: 2 };
const look = { builtin_texture_name: "OliveLeaf_upper.png" };

/** A shoot of 20 m: 401 leaves, about half in each cell. */
const shoot = () => {
  const model = new ShootModel();
  model.add([0, 0, 0], [0, 0, 1], { count: 200, length: 0.1 });
  return { ...model.model, ...look };
};
const target = (cell_id: number, more: object = {}) => ({
  cell_id,
  beta_mu: 2,
  beta_nu: 3,
  ecc: 0,
  phi0_deg: 0,
  ...more,
});

/** Inclination of each leaf, 0..1, of those with a base above or below 10.01 m. */
const inclinations = ({ normals, vertices }: LeafAnglesResponse, upper: boolean) =>
  normals.flatMap((n, i) => {
    const z = ((vertices[i]?.[2] ?? 0) + (vertices[i + 1]?.[2] ?? 0)) / 2;
    return i % 6 === 0 && z >= 10.01 === upper ? [Math.acos(Math.min(1, Math.abs(n[2]))) / (Math.PI / 2)] : [];
  });
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Triangles whose unit normals lean by an angle to a bearing, in cell 0. */
function triangles(leaning: readonly (readonly [number, number])[]) {
  const vertices: number[] = [];
  for (const [incline, bearing] of leaning) {
    const [i, b] = [(incline * Math.PI) / 180, (bearing * Math.PI) / 180];
    const u = [Math.cos(b), -Math.sin(b), 0]; // horizontal, across the bearing
    const v = [Math.sin(b) * Math.cos(i), Math.cos(b) * Math.cos(i), -Math.sin(i)]; // down the slope
    vertices.push(0, 0, 0, ...u, ...v);
  }
  const indices = vertices.map((_, i) => i).slice(0, 3 * leaning.length);
  return { vertices, indices, triangle_cell_ids: leaning.map(() => 0) };
}
/* Off the borders of the histogram: single precision would decide about those. */
const leaning = Array.from({ length: 400 }, (_, i) => [10.4 + (i % 40) * 1.5, 3 + (i % 7) * 20] as const);

describe(url, () => {
  test("cell targets turn the leaves of their cell alone, the same for a seed", async () => {
    const request = { ...shoot(), cell_targets: [target(1)], grid };
    const answer = await adjust(request);
    expect(answer).toMatchObject({ success: true, leaf_count: 401, cell_count: 1, error: null });
    expect(answer.adjusted_count).toBe(inclinations(answer, true).length);
    expect(mean(inclinations(answer, true))).toBeCloseTo(0.6, 1);
    expect(new Set(inclinations(answer, false).map((value) => value.toFixed(6)))).toEqual(new Set(["0.500000"])); // pitch 45
    expect(answer.warnings?.join()).toMatch(/stay as they are/);
    expect(answer.cell_targets).toEqual([{ ...target(1), n_measured: 0 }]);
    expect((await adjust(request)).normals).toEqual(answer.normals);
    expect((await adjust({ ...request, seed: 1 })).normals).not.toEqual(answer.normals);
  });

  test("a triangulation in JSON and in a frame gives the same leaves and targets", async () => {
    const { vertices, indices, triangle_cell_ids } = triangles(leaning);
    const json = await adjust({
      ...shoot(),
      triangulation: { vertices: vertices.map(Math.fround), indices, triangle_cell_ids, grid },
    });
    expect(json).toMatchObject({ success: true, cell_count: 1 });
    const found = json.cell_targets?.[0];
    expect(found?.n_measured).toBe(400);
    const expected = leaning.reduce((sum, [incline]) => sum + 5 * Math.floor(incline / 5) + 2.5, 0) / leaning.length;
    expect((90 * (found?.beta_nu ?? 0)) / ((found?.beta_nu ?? 0) + (found?.beta_mu ?? 1))).toBeCloseTo(expected, 1);
    const payload = Buffer.from(
      encodeFrame(
        { ...shoot(), grid_for_triangulation: grid },
        {
          tin_vertices: Float32Array.from(vertices),
          tin_indices: Uint32Array.from(indices),
          tin_cell_ids: Uint32Array.from(triangle_cell_ids),
        },
      ),
    );
    const headers = { "content-type": "application/octet-stream" };
    const frame = (await made.app.inject({ method: "POST", url, payload, headers })).json();
    expect(frame.cell_targets).toEqual(json.cell_targets);
    expect(frame.normals).toEqual(json.normals);
  });

  test("a limit leaves the others as they are; null turns all", async () => {
    const request = { ...shoot(), cell_targets: [target(0), target(1)], grid };
    const few = await adjust({ ...request, max_cell_leaves: 10 });
    expect(few.adjusted_count).toBe(20);
    expect(few.warnings?.join()).toMatch(/max_cell_leaves = 10/);
    expect((await adjust({ ...request, max_cell_leaves: null })).adjusted_count).toBe(401);
  });

  test.each([
    ["neither triangles nor targets", {}, /Neither/],
    ["targets without a grid", { cell_targets: [target(0)] }, /need the grid/],
    ["a cell outside of the grid", { cell_targets: [target(2)], grid }, /names? cell 2/],
    ["two targets of a cell", { cell_targets: [target(0), target(0)], grid }, /same cell_id/],
    ["a grid without extent", { cell_targets: [target(0)], grid: { ...grid, size: [0, 1, 1] } }, /extent/],
    ["a frame without its grid", { tin_vertices: [], tin_indices: [], tin_cell_ids: [] }, /grid_for_triangulation/],
    ["a frame without cells", { tin_vertices: [], tin_indices: [], grid_for_triangulation: grid }, /tin_cell_ids/],
    ["no look", { builtin_texture_name: null, cell_targets: [target(0)], grid }, /No look/],
    [
      "an index out of range",
      { triangulation: { vertices: [0, 0, 0], indices: [0, 0, 1], triangle_cell_ids: [0], grid } },
      /indices/,
    ],
    [
      "a cell id out of range",
      { triangulation: { vertices: [0, 0, 0], indices: [0, 0, 0], triangle_cell_ids: [2], grid } },
      /triangle_cell_ids/,
    ],
    [
      "scan ids of other triangles",
      { triangulation: { ...triangles(leaning.slice(0, 1)), triangle_scan_ids: [0, 1], grid } },
      /2 scan ids for 1 triangles/,
    ],
  ])("%s is reported in error", async (_, more, message) => {
    const answer = await adjust({ ...shoot(), ...more });
    expect(answer).toMatchObject({ success: false, leaf_count: 0, cell_targets: null, adjusted_count: 0 });
    expect(answer.error).toMatch(message);
  });

  test("no leaves, nothing to adjust", async () => {
    const answer = await adjust({ cylinders: [], shoots: [], ...look, cell_targets: [target(0)], grid });
    expect(answer.error).toMatch(/no place for leaves/);
  });
});
