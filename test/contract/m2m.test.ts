import { describe, expect, test } from "vitest";
import { IcpFailure, IcpSuccess } from "../../shared/contract/icp.ts";
import { encodeFrame } from "../../shared/wire/phb1.ts";
import { type FlatMesh, sheetMesh } from "../support/session/mesh.ts";
import { farthest, moved, rigidity, turnAndShift } from "../support/session/registration.ts";
import { checked, failed, refusal, streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/m2m/icp-register";
const register = async (payload: object) => (await streamed(made, IcpSuccess, URL_, payload)).tail;

/** A closed box of 2 x 1 x 0.5 m with a corner at the origin. */
function box(): FlatMesh {
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) => [2 * (i & 1), (i >> 1) & 1, 0.5 * ((i >> 2) & 1)]);
  const faces = ["0231", "4576", "0154", "2673", "0462", "1375"].map((face) => [...face].map(Number));
  return { mesh_vertices: corners, mesh_indices: faces.flatMap(([a = 0, b = 0, c = 0, d = 0]) => [a, b, c, a, c, d]) };
}

function pair(target: FlatMesh, source: FlatMesh) {
  return {
    target_vertices: target.mesh_vertices,
    target_indices: target.mesh_indices,
    source_vertices: source.mesh_vertices,
    source_indices: source.mesh_indices,
  };
}
const BOX = box();
const at = (matrix: readonly number[], mesh: FlatMesh): FlatMesh => ({
  ...mesh,
  mesh_vertices: moved(matrix, mesh.mesh_vertices),
});
const SHIFTED = at(turnAndShift(0, [0, 0, 0], [0.3, -0.2, 0.2]), BOX);

describe("pose", () => {
  test("a shifted box", async () => {
    const { tail, stages } = await streamed(made, IcpSuccess, URL_, pair(BOX, SHIFTED));
    expect(farthest(moved(tail.transformation_matrix, SHIFTED.mesh_vertices), BOX.mesh_vertices)).toBeLessThan(1e-6);
    expect(tail).toMatchObject({ fitness: 1, quality_warning: null });
    const labels = stages.map(([progress, message]) => `${progress} ${message}`);
    expect(labels.slice(1, 4)).toEqual(["0.05 Reading meshes", "0.1 Sampling meshes", "0.15 Estimating normals"]);
  });

  test.each(["gicp", "point_to_plane"])("%s: the box meshed in another way, turned and shifted", async (method) => {
    // Other triangles of the same faces: no sample of one mesh is a sample of the other.
    const [a, b, ...rest] = [BOX.mesh_indices.slice(0, 3), BOX.mesh_indices.slice(3, 6), BOX.mesh_indices.slice(6)];
    const other = { ...BOX, mesh_indices: [...rest.flat(), ...(b ?? []), ...(a ?? [])] };
    const moves = turnAndShift(4, [1, 0.5, 0], [0.05, -0.04, 0.03]);
    const source = at(moves, other);
    const tail = await register({ ...pair(BOX, source), method });
    expect(farthest(moved(tail.transformation_matrix, source.mesh_vertices), BOX.mesh_vertices)).toBeLessThan(0.02);
    expect(rigidity(tail)).toBeLessThan(1e-12);
  });

  test("one request gives one pose", async () => {
    const source = at(turnAndShift(5, [1, 0.5, 0], [0.1, 0, 0]), BOX);
    const [first, second] = [await register(pair(BOX, source)), await register(pair(BOX, source))];
    expect(second).toEqual(first);
  });

  test("a frame: the four buffers, scalars in meta; the answer is that of JSON", async () => {
    const lists = pair(BOX, SHIFTED);
    const buffers = {
      target_vertices: Float32Array.from(lists.target_vertices),
      target_indices: Uint32Array.from(lists.target_indices),
      source_vertices: Float32Array.from(lists.source_vertices),
      source_indices: Uint32Array.from(lists.source_indices),
    };
    const plain = Object.fromEntries(Object.entries(buffers).map(([name, list]) => [name, [...list]]));
    const expected = await register({ ...plain, max_iterations: 7, method: "point_to_plane" });
    for (const meta of [
      { max_iterations: 7, method: "point_to_plane" },
      { request: { max_iterations: 7, method: "point_to_plane" } },
      { request: { max_iterations: 7 }, method: "point_to_plane" },
    ]) {
      const headers = { "content-type": "application/octet-stream", accept: "application/json" };
      const payload = Buffer.from(encodeFrame(meta, buffers));
      const answer = await made.app.inject({ method: "POST", url: URL_, headers, payload });
      expect(checked(IcpSuccess, answer.json())).toEqual(expected);
    }
    const twice = encodeFrame({ request: { max_iterations: 7 }, max_iterations: 8 }, buffers);
    const headers = { "content-type": "application/octet-stream" };
    const answer = await made.app.inject({ method: "POST", url: URL_, headers, payload: Buffer.from(twice) });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      expect.stringMatching(/max_iterations is given twice/),
    ]);
    const cut = Buffer.from(encodeFrame({}, buffers)).subarray(0, 100);
    expect((await made.app.inject({ method: "POST", url: URL_, headers, payload: cut })).statusCode).toBe(400);
  });
});

describe("failures", () => {
  const none: FlatMesh = { mesh_vertices: [], mesh_indices: [] };
  const flat: FlatMesh = { mesh_vertices: [0, 0, 0, 1, 1, 1], mesh_indices: [0, 1, 1] };
  test.each([
    ["no target", pair(none, BOX), "No target mesh data provided"],
    ["no source", pair(BOX, none), "No source mesh data provided"],
    ["no area", pair(BOX, flat), "Mesh-to-mesh ICP registration failed: the mesh has no area"],
  ])("%s: an error in the tail", async (_name, payload, error) => {
    const told = checked(IcpFailure, (await failed(made, URL_, payload)).tail);
    expect(told).toEqual({ success: false, error, code: "invalid_argument" });
  });

  test.each([
    ["target_indices", { target_indices: [0, 1, 8] }, /^target_indices\[2\] is 8, not the number of one of the 8/],
    ["source_indices", { source_indices: [0, 1] }, /^source_indices has 2 numbers/],
    ["source_vertices", { source_vertices: [0, 1] }, /^source_vertices has 2 numbers/],
  ])("%s: refused before the stream", async (_name, wrong, detail) => {
    const told = await refusal(made, URL_, { ...pair(BOX, BOX), ...wrong });
    expect(told).toEqual([400, expect.stringMatching(detail)]);
  });

  test("two sheets: the free motion is named", async () => {
    const sheet = sheetMesh(4, 8, 1);
    expect((await register(pair(sheet, sheet))).warnings?.join(" ")).toMatch(/do not fix the pose/);
  });
});
