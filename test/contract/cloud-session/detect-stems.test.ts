import { describe, expect, test } from "vitest";
import type { Job } from "../../../backend/jobs/job.ts";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import {
  type DetectStemsResponse,
  DetectStemsResponse as Schema,
} from "../../../shared/contract/cloud-session/detect-stems.ts";
import { gaussian, uniform } from "../../accuracy/random.ts";
import type { TestApp } from "../../support/app/app.ts";
import { groundAt, leafRows, STEM_COLUMNS, stemRows } from "../../support/scans/stems.ts";
import { amid, answered, canceledAmid, cloud, refusal, stateOf, UNKNOWN } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/detect_stems`;
const detect = (id: string, payload: object = {}, app: TestApp = made): Promise<DetectStemsResponse> =>
  answered(app, Schema, url(id), payload);
const PLOT = [
  { x: 2, y: 2, radius: 0.2 },
  { x: 5, y: 3, radius: 0.15, lean: 0.25 },
  { x: 7, y: 7, radius: 0.1, arc: 150 },
  { x: 3, y: 7, radius: 0.03 },
];
const plot = (rows = stemRows(PLOT)) => cloud(made, [STEM_COLUMNS, ...rows]);
const NONE = {
  few_points: 0,
  too_wide: 0,
  not_upright: 0,
  no_circle: 0,
  high_residual: 0,
  few_inliers: 0,
  halves_differ: 0,
  merged: 0,
};

test("a stem of which a scan has two columns: its radius is not known, which a warning tells", async () => {
  const rows = stemRows([{ x: 2, y: 2, radius: 0.2 }]);
  const next = uniform(2);
  const noise = () => 0.003 * gaussian(next);
  for (const middle of [-0.035, 0.035]) {
    for (let z = 0.9; z < 2.1; z += 0.03) {
      const side = middle + noise();
      const x = 6 - Math.sqrt(0.08 ** 2 - side ** 2) + noise();
      rows.push([x, 6 + side, groundAt(x) + z, z, 2].join(" "));
    }
  }
  const { session_id } = await plot(rows);
  const { seeds, warnings } = await detect(session_id);
  expect(seeds.map(({ radius_unknown }) => radius_unknown)).toEqual([false, true]);
  expect(seeds[1]?.radius_m).toBeLessThan(0.06);
  expect(warnings).toEqual([
    expect.stringMatching(/^1 stem is seen in two columns of points alone \(radius_unknown\)/),
  ]);
});

describe("stems of a plot on a slope", () => {
  test("upright, leaning, half-seen and thin ones, in the stored frame, strongest first", async () => {
    const { session_id, world_shift } = await plot();
    const answer = await detect(session_id);
    expect(answer).toMatchObject({
      session_id,
      params: { band_min_m: 1, band_max_m: 2, max_diameter_m: 3 },
      rejected: NONE,
      warnings: [],
      clusters: 4,
    });
    expect(answer.seeds).toHaveLength(4);
    expect(answer.seeds.map(({ radius_unknown }) => radius_unknown)).toEqual([false, false, false, false]);
    const inliers = answer.seeds.map(({ n_inliers }) => n_inliers);
    expect(inliers).toEqual(inliers.toSorted((a, b) => b - a));
    for (const { x, y, radius, lean = 0, arc = 360 } of PLOT) {
      const at = x + lean * 1.3;
      const seed = answer.seeds.find(
        (one) => Math.hypot(one.x + (world_shift?.[0] ?? 0) - at, one.y + (world_shift?.[1] ?? 0) - y) < 0.05,
      );
      expect(seed?.radius_m).toBeCloseTo(radius, 2);
      expect((seed?.z ?? 0) + (world_shift?.[2] ?? 0)).toBeCloseTo(groundAt(x) + 1.3, 1);
      expect(seed?.arc_coverage).toBeGreaterThan(arc / 360 - 0.05);
      expect(seed?.arc_coverage).toBeLessThan(arc / 360 + 0.05);
    }
    expect(answer.layer_points).toBeGreaterThan(1000);
    expect((await stateOf(made, session_id)).version).toBe(0);
  });

  test("points that came back without a ground class are named", async () => {
    const lost = (row: string) => row.replace(/ [-.\d]+ 2$/, " 0 0");
    const rows = stemRows(PLOT).map((row) => (Number(row.split(" ")[0]) < 3 ? lost(row) : row));
    const { session_id } = await plot(rows);
    const { seeds, warnings } = await detect(session_id);
    expect(seeds).toHaveLength(3);
    expect(warnings).toEqual([expect.stringMatching(/points have no ground class.*stems among them are not found/)]);
  });

  test("deleted points, misses and ground take no part", async () => {
    const { session_id } = await plot();
    await post(session_id, "delete_region", { region: { kind: "box", min: [1, 1, 0], max: [3, 3, 200] } });
    const answer = await detect(session_id);
    expect(answer.seeds).toHaveLength(3);
    const all = stemRows(PLOT).map((row) => row.replace(/ 2$/, " 1"));
    const grounded = await plot(all);
    expect(await detect(grounded.session_id)).toMatchObject({ seeds: [], layer_points: 0 });
  });

  test.each([
    ["f32", "2.5"],
    ["u16", "300"],
    ["i8", "-1"],
  ])("ground classes of type %s", async (dtype, other) => {
    const rows = stemRows(PLOT.slice(0, 1)).map((row, i) => (i === 0 ? row.replace(/ 2$/, ` ${other}`) : row));
    const { session_id } = await plot(rows);
    const ground = (await stateOf(made, session_id)).columns.get(extraKey("ground_class"));
    expect(ground?.native.dtype).toBe(dtype);
    expect(await detect(session_id)).toMatchObject({ seeds: [{}], clusters: 1 });
    const grounded = await plot(rows.map((row) => (row.endsWith(" 2") ? row.replace(/ 2$/, " 1") : row)));
    expect((await detect(grounded.session_id)).layer_points).toBeLessThan(2);
  });

  test("a fork is one seed, a stem in a shrub is found", async () => {
    const fork = [
      { x: 2, y: 2, radius: 0.1 },
      { x: 2.25, y: 2, radius: 0.08 },
      { x: 6, y: 6, radius: 0.12 },
    ];
    const leaves = leafRows(5, 5, 2, 0.2, 1.6, 3000);
    const { session_id } = await plot([...stemRows(fork), ...leaves.map((row) => row)]);
    const answer = await detect(session_id);
    expect(answer.seeds).toHaveLength(2);
    expect(answer.rejected.merged).toBe(1);
  });

  test("the answer does not depend on the order of the rows", async () => {
    const rows = stemRows(PLOT);
    const [a, b] = [await plot(rows), await plot(rows.toReversed())];
    const [first, second] = [await detect(a.session_id), await detect(b.session_id)];
    expect(second.seeds).toEqual(first.seeds);
  });
});

test("more clusters that scatter about a circle than stems are told", async () => {
  const stem = stemRows([{ x: 2, y: 2, radius: 0.2 }]);
  const leaves = (count: number) =>
    Array.from({ length: count }, (_, i) => leafRows(6 + 3 * (i % 2), 3 * i, 2, 1, 2, 3000)).flat();
  const told = async (rows: string[]) => {
    const { session_id } = await plot(rows);
    const { seeds, rejected, warnings } = await detect(session_id);
    expect(seeds).toHaveLength(1);
    return [rejected.high_residual + rejected.few_inliers, warnings] as const;
  };
  expect(await told([...stem, ...leaves(2)])).toEqual([2, []]);
  const [scattered, warnings] = await told([...stem, ...leaves(4)]);
  expect(scattered).toBe(4);
  expect(warnings).toEqual([expect.stringMatching(/^Beside 1 stem there are 4 clusters whose points scatter/)]);
});

describe("without a stem, the answer says why and what to do", () => {
  const none = async (rows: string[], request: object = {}) => {
    const { session_id } = await plot(rows);
    const { seeds, warnings } = await detect(session_id, request);
    expect(seeds).toEqual([]);
    return warnings[0];
  };
  test("no point in the layer", async () => {
    expect(await none(stemRows(PLOT), { band_min_m: 8, band_max_m: 9 })).toMatch(
      /^No stem was found: no point that is not ground lies between 8 m and 9 m above the ground\. The heights of the points that are not ground range from 0\.\d+ m to \d\.\d+ m: choose band_min_m/,
    );
  });
  test("leaves", async () => {
    expect(await none([...stemRows([]), ...leafRows(2, 2, 2, 1, 2, 3000)])).toMatch(
      /^No stem was found: 1 of 1 clusters of points between 1 m and 2 m above the ground have .+ Search a layer/,
    );
  });
  test("grass", async () => {
    expect(await none([...stemRows([]), ...leafRows(2, 2, 2, 0.9, 1.2, 3000)])).toMatch(
      /do not reach through the layer/,
    );
  });
  test("a sparse cloud", async () => {
    expect(await none([...stemRows([]), ...leafRows(0, 0, 9, 1, 2, 60)])).toMatch(
      /too sparse .+segment_trees with method chm/,
    );
  });
  test("no point that is not ground", async () => {
    expect(await none(stemRows([]))).toMatch(/no point that is not ground has a height/);
  });
  test("everything deleted", async () => {
    const { session_id } = await plot();
    await post(session_id, "delete_region", { region: { kind: "box", min: [-99, -99, -99], max: [99, 99, 999] } });
    expect((await detect(session_id)).warnings[0]).toMatch(/the cloud has no points/);
  });
});

describe("rejected requests", () => {
  test("an unknown session", async () => {
    expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
  });
  test("a cloud without heights", async () => {
    const { session_id } = await cloud(made, ["x y z", "0 0 0", "1 1 1"]);
    expect(await refusal(made, url(session_id), {})).toEqual([
      400,
      "The cloud has no column height_above_ground: run Generate DEM with height above ground first (POST dem with add_height_column true)",
    ]);
  });
  test.each([
    [
      { band_min_m: 2, band_max_m: 1 },
      "band_min_m 2 must be 0 or more and below band_max_m 1, which must be at most 1000",
    ],
    [
      { band_min_m: 1, band_max_m: 1 },
      "band_min_m 1 must be 0 or more and below band_max_m 1, which must be at most 1000",
    ],
    [{ band_min_m: -1 }, "band_min_m -1 must be 0 or more and below band_max_m 2, which must be at most 1000"],
    [{ band_max_m: 1e300 }, "band_min_m 1 must be 0 or more and below band_max_m 1e+300, which must be at most 1000"],
    [{ max_diameter_m: 0.04 }, "max_diameter_m 0.04 must be above 0.04, the diameter of the thinnest stem"],
  ])("%j", async (request, detail) => {
    const { session_id } = await plot();
    expect(await refusal(made, url(session_id), request)).toEqual([400, detail]);
  });
  test.each([[{ band_min_m: "1" }], [{ max_diameter_m: null }], [[]]])(
    "%j does not match the schema",
    async (request) => {
      const { session_id } = await plot();
      expect((await refusal(made, url(session_id), request))[0]).toBe(422);
    },
  );
});

describe("concurrent edits and runs", () => {
  test("an edit during the scan: 409", async () => {
    const { session_id } = await plot();
    const box = { kind: "box", min: [1, 1, 0], max: [3, 3, 200] };
    const value = await amid(
      "detectStems",
      async () => post(session_id, "delete_region", { region: box }),
      () => refusal(made, url(session_id), {}),
    );
    expect(value).toEqual([409, "the cloud changed while this operation ran; run it again"]);
  });

  test("the progress names the phases", async () => {
    const { session_id } = await plot();
    const messages: string[] = [];
    const watch = async (job: Job) => messages.push(...job.takeProgress().map(({ message }) => message));
    await canceledAmid(made, "detectStems", () => detect(session_id), watch);
    expect(messages).toEqual(["Detecting stems", "Finding stems"]);
  });
});
