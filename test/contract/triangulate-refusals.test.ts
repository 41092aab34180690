import { describe, expect, test } from "vitest";
import { refusal, UNKNOWN } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { failedTriangulation, lattice, TRIANGULATE, triangulated } from "../support/session/triangulation.ts";

const made = sessionTest();
const mesh = (payload: object) => triangulated(made, payload);
const failure = (payload: object) => failedTriangulation(made, payload);
const SHEET = lattice(6, 4, 1, [0, 0, 7]);

describe("failures in the frame", () => {
  const line = lattice(5, 1, 1);
  test.each<[string, object, string | RegExp, number | undefined]>([
    ["no points", { points: null }, "There are 0 points: a mesh needs at least 3.", 0],
    ["two points", { points: [...line].slice(0, 2), method: "alpha_shape" }, /^There are 2 points/, 2],
    ["a crop without points", { crop_box: [50, 50, 50, 60, 60, 60] }, /^The crop box contains 0 points/, 0],
    ["a crop box of five", { crop_box: [1, 2, 3, 4, 5] }, /^crop_box must have 6 numbers.*it has 5/, undefined],
    ["a line", { points: line }, "Triangulation failed: no triangles were produced", 5],
    ["points at one place", { points: [line[0], line[0], line[0]] }, /no triangles were produced/, 3],
    ["a small alpha", { points: lattice(3, 3, 3), method: "alpha_shape", alpha: 0.1 }, /no triangles/, 27],
    ["no alpha", { method: "alpha_shape", alpha: 0 }, "alpha is 0: it must be positive, in metres, or null", undefined],
    [
      "an unknown method",
      { method: "magic" },
      'Unknown triangulation method "magic": use ball_pivoting, poisson, alpha_shape or delaunay.',
      undefined,
    ],
    ["no normals", { method: "poisson", estimate_normals: false }, /but poisson needs normals/, undefined],
    ["a radius of 0", { method: "poisson", normal_radius: 0 }, /^normal_radius is 0/, undefined],
    ["two neighbours", { method: "ball_pivoting", normal_max_nn: 2 }, /^normal_max_nn is 2/, undefined],
    ["half a neighbour", { method: "ball_pivoting", normal_max_nn: 3.5 }, /^normal_max_nn is 3.5/, undefined],
    ["a depth of 13", { method: "poisson", depth: 13 }, /^depth is 13: it must be a whole number from 1/, undefined],
    ["a ball without radius", { method: "ball_pivoting", radii: [0] }, /^Triangulation failed: .*radii/, 24],
    ["a flat grid", { grid: { center: [0, 0, 0], size: [1, 1, 0] } }, /^grid\.size is \[1, 1, 0\]/, undefined],
    [
      "a wrong list",
      { grid: { center: [0, 0, 0], size: [1, 1, 1], kept_columns: [] } },
      /^grid\.kept_columns has 0/,
      undefined,
    ],
    [
      "many columns",
      { grid: { center: [0, 0, 0], size: [1, 1, 1], nx: 1e6, ny: 1e6 } },
      /^The grid has 1000000 x/,
      undefined,
    ],
    [
      "many cells",
      { grid: { center: [0, 0, 0], size: [1, 1, 1], nx: 1e3, ny: 1e3, nz: 1e6 } },
      /cells, but the limit/,
      undefined,
    ],
  ])("%s", async (_name, payload, error, points_used) => {
    expect(await failure({ points: SHEET, method: "delaunay", ...payload })).toEqual({
      success: false,
      error: typeof error === "string" ? error : expect.stringMatching(error),
      code: "invalid_argument",
      method_used: (payload as { method?: string }).method ?? "delaunay",
      num_triangles: 0,
      num_vertices: 0,
      ...(points_used === undefined ? {} : { points_used }),
    });
  });

  test("an unknown key is named, also by a failure", async () => {
    const named = [expect.stringContaining('"methd"')];
    expect((await mesh({ points: SHEET, method: "delaunay", methd: 1 })).meta.warnings).toEqual(named);
    expect((await failure({ points: [], method: "delaunay", methd: 1 })).warnings).toEqual(named);
  });

  test("clouds of two skew lines are refused before they fill the memory", async () => {
    const points = Array.from({ length: 1200 }, (_, i) => (i % 2 === 0 ? [i, 0, 0] : [0, i, 1]));
    const { error, code } = await failure({ points, method: "alpha_shape" });
    expect(code).toBe("out_of_memory");
    expect(error).toMatch(/more than 64 tetrahedra each/);
  });
});

describe("refusals before the stream", () => {
  test.each<[string, object, number, unknown]>([
    ["an unknown session", { source: { session_id: "00000000" } }, ...UNKNOWN],
    ["an unknown session of several", { sources: [{ session_id: "00000000" }] }, ...UNKNOWN],
    ["a source without a session", { source: {} }, 400, expect.stringMatching(/neither a session_id/)],
    ["many sources", { sources: Array(1001).fill({}) }, 400, "sources has 1001 entries, more than 1000"],
    ["a shift of two", { world_shift: [1, 2] }, 400, "world_shift must be three finite numbers"],
    ["points that are no triples", { points: [[1, 2]] }, 422, expect.anything()],
    ["a method that is no text", { method: 1 }, 422, expect.anything()],
  ])("%s", async (_name, payload, status, detail) => {
    const body = { method: "delaunay", ...payload };
    expect(await refusal(made, TRIANGULATE, body)).toEqual([status, detail]);
  });
});
