import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { IcpFailure, IcpSuccess } from "../../shared/contract/icp.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { BACK, BLOCKS, random, SOURCE, samples, TARGET, TUMBLE } from "../support/session/blocks.ts";
import { cubePoints, farthest, moved, rigidity, turnAndShift } from "../support/session/registration.ts";
import { checked, failed, lineCloud, refusal, streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* `initial` of the three registrations. */

const made = sessionTest({ listening: true });
const CLOUDS = "/api/c2c/icp-register";
const register = async (url: string, payload: object) =>
  (await streamed(made, IcpSuccess, url, { initial: "auto", ...payload })).tail;

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
      const plain = await register(url, { ...payload, initial: "centroid" });
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
