import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { IcpFailure, IcpSuccess } from "../../shared/contract/icp.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import type { FlatMesh } from "../support/session/mesh.ts";
import { cubePoints, farthest, moved, rigidity, turnAndShift } from "../support/session/registration.ts";
import { checked, failed, lineCloud, refusal, streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* `initial` of the three registrations. */

const made = sessionTest({ listening: true });
const CLOUDS = "/api/c2c/icp-register";
const register = async (url: string, payload: object) =>
  (await streamed(made, IcpSuccess, url, { initial: "auto", ...payload })).tail;

let state = 5;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};

/** A random place on the faces of a brick. */
function onBrick(edges: readonly [number, number, number]): number[] {
  const areas = edges.map((_, axis) => edges.reduce((area, edge, other) => (other === axis ? area : area * edge), 1));
  let left = random() * areas.reduce((sum, area) => sum + area, 0);
  const axis = areas.findIndex((area) => {
    left -= area;
    return left < 0;
  });
  return edges.map((edge, k) => (k === axis ? (random() < 0.5 ? 0 : edge) : edge * random()));
}

/** Boxes of many sizes on a square of 20 m: a mesh that is alike from no other side. */
function blocks(): FlatMesh {
  const mesh_vertices: number[] = [0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0];
  const mesh_indices: number[] = [0, 1, 2, 0, 2, 3];
  const faces = ["0231", "4576", "0154", "2673", "0462", "1375"].map((face) => [...face].map(Number));
  for (let box = 0; box < 14; box += 1) {
    const size = [0.6 + 2.5 * random(), 0.6 + 2.5 * random(), 0.6 + 3 * random()];
    const place = turnAndShift(360 * random(), [0, 0, 0], [2 + 16 * random(), 2 + 16 * random(), 0]);
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) => size.map((edge, axis) => edge * ((i >> axis) & 1)));
    const first = mesh_vertices.length / 3;
    mesh_vertices.push(...moved(place, corners));
    for (const [a = 0, b = 0, c = 0, d = 0] of faces) mesh_indices.push(...[a, b, c, a, c, d].map((i) => first + i));
  }
  return { mesh_vertices, mesh_indices };
}

/** Random places of the triangles of a mesh, by area. */
function samples({ mesh_vertices, mesh_indices }: FlatMesh, count: number): number[] {
  const corner = (t: number, k: number) =>
    [0, 1, 2].map((i) => mesh_vertices[3 * (mesh_indices[3 * t + k] ?? 0) + i] ?? 0);
  const triangles = Array.from({ length: mesh_indices.length / 3 }, (_, t) => {
    const [a = [], b = [], c = []] = [corner(t, 0), corner(t, 1), corner(t, 2)];
    const [u, v] = [b, c].map((end) => end.map((value, i) => value - (a[i] ?? 0)));
    const of = (side: number[] | undefined, i: number) => side?.[i % 3] ?? 0;
    const cross = [0, 1, 2].map((i) => of(u, i + 1) * of(v, i + 2) - of(u, i + 2) * of(v, i + 1));
    return { a, u, v, area: Math.hypot(...cross) };
  });
  const whole = triangles.reduce((sum, { area }) => sum + area, 0);
  const points: number[] = [];
  for (const { a, u, v, area } of triangles) {
    for (let left = Math.round((count * area) / whole); left > 0; left -= 1) {
      const [s, t] = [random(), random()];
      const [p, q] = s + t > 1 ? [1 - s, 1 - t] : [s, t];
      points.push(...a.map((value, i) => value + p * (u?.[i] ?? 0) + q * (v?.[i] ?? 0)));
    }
  }
  return points;
}

const BLOCKS = blocks();
const TARGET = samples(BLOCKS, 3000);
const SOURCE = samples(BLOCKS, 3000);
/** Upside down, a third of a turn and away; its own inverse but for the shift. */
const TUMBLE = [-0.5, 0.8660254037844386, 0, 40, 0.8660254037844386, 0.5, 0, -70, 0, 0, -1, 9, 0, 0, 0, 1];
const BACK = [
  -0.5,
  0.8660254037844386,
  0,
  20 + 70 * 0.8660254037844386,
  0.8660254037844386,
  0.5,
  0,
  35 - 40 * 0.8660254037844386,
  0,
  0,
  -1,
  9,
  0,
  0,
  0,
  1,
];

describe("auto", () => {
  test("a cloud upside down and far away comes back; centroid does not", async () => {
    const source = moved(TUMBLE, SOURCE);
    expect(farthest(moved(BACK, source), SOURCE)).toBeLessThan(1e-9); // BACK is the inverse of TUMBLE
    const { tail, stages } = await streamed(made, IcpSuccess, CLOUDS, {
      target_points: TARGET,
      source_points: source,
      initial: "auto",
    });
    expect(farthest(moved(tail.transformation_matrix, source), SOURCE)).toBeLessThan(0.05);
    expect(rigidity(tail)).toBeLessThan(1e-12);
    expect(tail).toMatchObject({ start: "global", global_alignment: { outcome: "found" }, quality_warning: null });
    const found = tail.global_alignment;
    expect(found?.agreement).toBeGreaterThan(1.5 * (found?.rival_agreement ?? 1));
    expect(found?.consensus_count).toBeLessThanOrEqual(found?.match_count ?? 0);
    expect(found?.voxel_m).toBeGreaterThan(0.1);
    const labels = stages.map(([, message]) => message);
    expect(labels).toContain("Estimating normals");
    expect(labels.at(-1)).toBe("Done");
    const shares = stages.map(([share]) => share ?? 0);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));

    const plain = await register(CLOUDS, { target_points: TARGET, source_points: source, initial: "centroid" });
    expect(plain).toMatchObject({ start: "centroid", global_alignment: null });
    expect(farthest(moved(plain.transformation_matrix, source), SOURCE)).toBeGreaterThan(1);
  });

  test("coordinates of 1e7 m change nothing", async () => {
    const far = (list: readonly number[]) => moved(turnAndShift(0, [0, 0, 0], [1e7, -1e7, 1e7]), list);
    const source = far(moved(TUMBLE, SOURCE));
    const tail = await register(CLOUDS, { target_points: far(TARGET), source_points: source });
    expect(farthest(moved(tail.transformation_matrix, source), far(SOURCE))).toBeLessThan(0.05);
  });

  test("a mesh onto points, and a mesh onto a mesh", async () => {
    const source = { ...BLOCKS, mesh_vertices: moved(TUMBLE, BLOCKS.mesh_vertices) };
    const pairs: [string, object][] = [
      ["/api/c2m/icp-register", { points: TARGET, ...source }],
      [
        "/api/m2m/icp-register",
        {
          target_vertices: BLOCKS.mesh_vertices,
          target_indices: BLOCKS.mesh_indices,
          source_vertices: source.mesh_vertices,
          source_indices: source.mesh_indices,
        },
      ],
    ];
    for (const [url, payload] of pairs) {
      const tail = await register(url, payload);
      expect([url, tail.start, tail.global_alignment?.outcome]).toEqual([url, "global", "found"]);
      expect(farthest(moved(tail.transformation_matrix, source.mesh_vertices), BLOCKS.mesh_vertices)).toBeLessThan(0.2);
      const plain = await register(url, { ...payload, initial: null });
      expect([plain.start === "global", plain.global_alignment]).toEqual([false, null]);
    }
  });
});

describe("warnings", () => {
  test("a shape that repeats itself: another pose fits as well", async () => {
    const faces = cubePoints(13).flatMap((_, i, all) => {
      const p = all.slice(i, i + 3);
      return i % 3 === 0 && p.some((v) => v === 0 || v === 1) ? p : [];
    });
    const tail = await register(CLOUDS, { target_points: faces, source_points: moved(TUMBLE, faces) });
    expect(tail.global_alignment?.outcome).not.toBe("found");
    expect(tail.warnings?.join(" ")).toMatch(/initial: auto found no pose that (stands out|fits clearly better)/);
  });

  test("a brick: the next other pose is half a turn away, in degrees", async () => {
    const faces = (n: number) => Array.from({ length: n }, () => onBrick([2, 3, 5])).flat();
    const tail = await register(CLOUDS, { target_points: faces(2500), source_points: moved(TUMBLE, faces(2500)) });
    expect(tail.global_alignment?.outcome).toBe("ambiguous");
    expect(Math.abs((tail.global_alignment?.rival_turn_deg ?? 0) - 180)).toBeLessThan(6);
    expect(tail.global_alignment?.rival_shift_m).toBeLessThan(0.3);
    expect(tail.warnings?.join(" ")).toMatch(/another one, turned by 1[78]\d degrees/);
  });

  test("nothing to recognize: the start of centroid, and a warning", async () => {
    const line = Array.from({ length: 80 }, (_, i) => [0.1 * i, 0.2 * i, 0]).flat();
    const tail = await register(CLOUDS, { target_points: line, source_points: moved(TUMBLE, line) });
    expect(tail).toMatchObject({ start: "centroid", global_alignment: { outcome: "none" } });
    expect(tail.warnings?.join(" ")).toMatch(/began as with initial: centroid/);
  });

  test.each<[string, number[]]>([
    ["four points", [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]],
    ["duplicates", Array.from({ length: 40 }, (_, i) => [i % 2, 0, 0]).flat()],
    ["a plane", Array.from({ length: 225 }, (_, i) => [i % 15, Math.floor(i / 15), 0]).flat()],
    ["a point far away", [0, 0, 0, 1, 0, 0, 0, 1, 0, 500, 0, 0]],
  ])("%s: a finite pose that claims nothing", async (_name, points) => {
    const tail = await register(CLOUDS, { target_points: points, source_points: points });
    expect(tail.global_alignment?.outcome).not.toBe("found");
    expect(tail.transformation_matrix.every(Number.isFinite)).toBe(true);
    expect(tail.warnings?.length).toBeGreaterThan(0);
  });

  test.each<[string, number[]]>([
    ["no points", []],
    ["three points", [0, 0, 0, 1, 0, 0, 0, 1, 0]],
    ["one place", Array.from({ length: 60 }, () => 2)],
  ])("%s: an error in the tail", async (_name, points) => {
    const payload = { target_points: TARGET, source_points: points, initial: "auto" };
    expect(checked(IcpFailure, (await failed(made, CLOUDS, payload)).tail).code).toBe("invalid_argument");
  });
});

describe("refused before the stream", () => {
  const both = { target_points: TARGET, source_points: TARGET };
  test.each(["auto", "centroid"])("%s together with init_transform: 400", async (initial) => {
    const init_transform = turnAndShift(0, [0, 0, 0], [0, 0, 0]);
    const [status, detail] = await refusal(made, CLOUDS, { ...both, initial, init_transform });
    expect([status, detail]).toEqual([
      400,
      expect.stringMatching(/^initial "[a-z]+" and init_transform exclude each other/),
    ]);
  });

  test.each([CLOUDS, "/api/c2m/icp-register", "/api/m2m/icp-register"])(
    "%s: an unknown initial is 422",
    async (url) => {
      expect((await refusal(made, url, { ...both, initial: "global" }))[0]).toBe(422);
    },
  );
});

test("a cancel in any phase of the search ends within 250 ms and leaves no memory behind", async () => {
  await lineCloud(made, [1]); // memory that stays
  const before = addon.bulkBytesInUse();
  const many = samples(BLOCKS, 15_000);
  const other = moved(TUMBLE, samples(BLOCKS, 15_000));
  for (const phase of [
    "Thinning points",
    "Describing surfaces",
    "Matching surfaces",
    "Searching for a consensus",
    "Comparing poses",
  ]) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op: "icpPrepare", phase }, stop, async () => {
      const payload = { target_points: many, source_points: other, initial: "auto" };
      return (await openRun(made.base, CLOUDS, payload)).outcome;
    });
    expect([phase, reached, value.kind]).toEqual([phase, true, "canceled"]);
    expect(cancel?.().own_ms).toBeLessThan(250);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
});
