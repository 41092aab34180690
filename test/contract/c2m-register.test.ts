import { describe, expect, test } from "vitest";
import { IcpFailure, IcpSuccess } from "../../shared/contract/icp.ts";
import { cubeMesh, sheetMesh } from "../support/session/mesh.ts";
import { farthest, moved, rigidity, turnAndShift } from "../support/session/registration.ts";
import { checked, cloud, failed, lineCloud, refusal, streamed, UNKNOWN } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/c2m/icp-register";
const register = async (payload: object) => (await streamed(made, IcpSuccess, URL_, payload)).tail;

/** n^2 places of each face of the unit cube. */
function cubeFaces(n: number): number[] {
  const points: number[] = [];
  for (let face = 0; face < 6; face += 1) {
    for (let i = 0; i < n * n; i += 1) {
      const [u, v] = [(i % n) / (n - 1), Math.floor(i / n) / (n - 1)];
      const place = [face % 2, u, v];
      points.push(...[0, 1, 2].map((axis) => place[(axis + (face >> 1)) % 3] ?? 0));
    }
  }
  return points;
}
const FACES = cubeFaces(24);
const { mesh_vertices: CUBE, mesh_indices } = cubeMesh();

describe("pose", () => {
  test("a cube shifted by (0.4, -0.25, 0.15) and turned comes back onto the points", async () => {
    const matrix = turnAndShift(4, [0.5, 0.5, 0], [0.4, -0.25, 0.15]);
    const mesh = { mesh_vertices: moved(matrix, CUBE), mesh_indices };
    const { tail, stages } = await streamed(made, IcpSuccess, URL_, { points: FACES, ...mesh });
    expect(farthest(moved(tail.transformation_matrix, mesh.mesh_vertices), CUBE)).toBeLessThan(0.01);
    expect(tail.fitness).toBeGreaterThan(0.9);
    expect(rigidity(tail)).toBeLessThan(1e-12);
    const labels = stages.map(([progress, message]) => `${progress} ${message}`);
    expect(labels.slice(1, 4)).toEqual(["0.05 Reading points", "0.1 Sampling mesh", "0.15 Estimating normals"]);
    expect(labels.at(-1)).toBe("1 Done");
  });

  test("points of a session, in true world coordinates", async () => {
    const rows = ["x y z"];
    for (let i = 0; i < FACES.length; i += 3)
      rows.push(`${450_000 + (FACES[i] ?? 0)} ${5_400_000 + (FACES[i + 1] ?? 0)} ${FACES[i + 2]}`);
    const { session_id } = await cloud(made, rows, { world_shift: [450_000, 5_400_000, 0] });
    const tail = await register({ source: { session_id }, mesh_vertices: CUBE, mesh_indices });
    const world = moved(turnAndShift(0, [0, 0, 0], [450_000, 5_400_000, 0]), CUBE);
    expect(farthest(moved(tail.transformation_matrix, CUBE), world)).toBeLessThan(0.01);
  });

  test("inline sky points are left out", async () => {
    const tail = await register({ points: [...FACES, 0, 0, 1001, 5, 0, 1001], mesh_vertices: CUBE, mesh_indices });
    expect(tail.warnings).toEqual([expect.stringMatching(/^2 points lie far/)]);
    expect(tail.correspondence_limit).toBeLessThan(0.1);
  });
});

describe("failures", () => {
  const mesh = cubeMesh();
  test.each([
    ["no points", { ...mesh }, "No points provided"],
    ["no mesh", { points: FACES, mesh_vertices: [], mesh_indices: [] }, "No mesh data provided"],
    [
      "no area",
      { points: FACES, mesh_vertices: [0, 0, 0, 1, 1, 1], mesh_indices: [0, 1, 1] },
      "ICP registration failed: the mesh has no area",
    ],
    ["two points", { points: FACES.slice(0, 6), ...mesh }, /^ICP registration failed: the target has 2 usable points/],
  ])("%s: an error in the tail", async (_name, payload, error) => {
    const told = checked(IcpFailure, (await failed(made, URL_, payload)).tail);
    expect(told.error).toEqual(typeof error === "string" ? error : expect.stringMatching(error));
  });

  test("a session without hits", async () => {
    const { session_id } = await lineCloud(made, [1, 1], 3);
    await made.remove(session_id, 0, 1);
    const told = checked(IcpFailure, (await failed(made, URL_, { source: { session_id }, ...mesh })).tail);
    expect(told.error).toBe("No points provided");
  });

  test.each<[string, object, number, string | RegExp]>([
    ["an unknown session", { source: { session_id: "00000000" }, ...mesh }, ...UNKNOWN],
    ["an index too high", { points: FACES, ...mesh, mesh_indices: [0, 1, 8] }, 400, /^mesh_indices\[2\] is 8/],
    ["points that are no triples", { ...sheetMesh(1, 1, 0), points: [1, 2] }, 400, /^points has 2 numbers/],
  ])("%s: refused before the stream", async (_name, payload, status, detail) => {
    const told = await refusal(made, URL_, payload);
    expect(told).toEqual([status, typeof detail === "string" ? detail : expect.stringMatching(detail)]);
  });

  test("an unknown key is named", async () => {
    const tail = await register({ points: FACES, ...mesh, max_iteration: 5 });
    expect(tail.warnings).toEqual([expect.stringContaining('"max_iteration"')]);
  });
});
