import { expect, test } from "vitest";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionDenoiseResponse } from "../../../shared/contract/cloud-session/denoise.ts";
import { DenoiseResponse } from "../../../shared/contract/pointcloud-denoise.ts";
import { create } from "../../support/app/app.ts";
import { e57Bytes, e57Points, e57Pose } from "../../support/scans/e57-bytes.ts";
import { type PostScan, postBeforeWall } from "../../support/scans/post-before-wall.ts";
import { answered, cloud, columnOf, stateOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const SCAN = postBeforeWall();
const MIXED = SCAN.mixed.reduce((a, b) => a + b);
const CLASSES = SCAN.mixed.map((value) => value + 1);

type Place = readonly [number, number, number];
const at = ([x, y, z]: Place, [dx, dy, dz]: Place) => `${x + dx} ${y + dy} ${z + dz}`;
const denoise = (id: string, payload: object = {}) =>
  answered(made, SessionDenoiseResponse, `/api/cloud/session/${id}/denoise`, { method: "auto", ...payload });
const classes = (id: string) => columnOf(made, id, extraKey("noise_class"));

/** One scan of a PTX file, moved to a place. */
const ptx = ({ points, rows, columns }: PostScan, [x, y, z]: Place) =>
  [
    columns,
    rows,
    `${x} ${y} ${z}`,
    "1 0 0\n0 1 0\n0 0 1",
    `1 0 0 0\n0 1 0 0\n0 0 1 0\n${x} ${y} ${z} 1`,
    ...points.map((point) => `${point.join(" ")} 0.5`),
  ].join("\n");

test("a beam origin per point: mixed pixels are noise, and the answer says so", async () => {
  const from: Place = [10, 20, 1];
  const lines = SCAN.points.map((point) => `${at(point, from)} ${from.join(" ")}`);
  const { session_id } = await cloud(made, ["x y z origin_x origin_y origin_z", ...lines]);
  const answer = await denoise(session_id);
  expect(answer).toMatchObject({
    flagged: MIXED,
    warnings: [],
    params_used: { gap_factor: 6, max_spacing: 0.015, support_steps: 2.1, edge_support: 2, inconsistent_share: 0.01 },
    stats: { mixed_pixels: { searched: true, flagged: MIXED, not_judged: 0, inconsistent_share: 0 } },
  });
  expect(answer.params_used.beam_step_rad).toBeCloseTo(0.002, 4);
  expect(await classes(session_id)).toEqual(CLASSES);
  const flat = await answered(made, DenoiseResponse, "/api/pointcloud/denoise", {
    method: "auto",
    source: { session_id },
  });
  expect(Array.from(flat.labels)).toEqual(CLASSES);
});

test("the scans of a PTX file are judged each from its own place, also after a motion", async () => {
  const file = made.file("two.ptx", `${ptx(SCAN, [0, 0, 0])}\n${ptx(SCAN, [10, 0, 0])}\n`);
  const { session_id } = await create(made, file);
  expect((await stateOf(made, session_id)).meta.scan_origins).toHaveLength(2);
  const expected = { flagged: 2 * MIXED, stats: { mixed_pixels: { searched: true, not_judged: 0 } } };
  expect(await denoise(session_id)).toMatchObject(expected);
  expect(await classes(session_id)).toEqual([...CLASSES, ...CLASSES]);
  const turn = [0, -1, 0, 5, 1, 0, 0, -3, 0, 0, 1, 7, 0, 0, 0, 1];
  expect((await made.post(session_id, "transform", { matrix: turn })).statusCode).toBe(200);
  expect(await denoise(session_id)).toMatchObject(expected);
});

test("the scans of an E57 file are judged each from its own pose", async () => {
  const scans = [e57Points(SCAN.points, e57Pose([0, 0, 0])), e57Points(SCAN.points, e57Pose([10, -4, 2], 1.2))];
  const { session_id } = await create(made, made.file("two.e57", e57Bytes(scans)));
  expect((await stateOf(made, session_id)).meta.scan_origins).toEqual([
    { scan_index: 0, origin: [0, 0, 0] },
    { scan_index: 1, origin: [10, -4, 2] },
  ]);
  expect(await denoise(session_id)).toMatchObject({
    flagged: 2 * MIXED,
    warnings: [],
    stats: { mixed_pixels: { searched: true, not_judged: 0 } },
  });
  expect(await classes(session_id)).toEqual([...CLASSES, ...CLASSES]);
});

test("the position of the only scanner counts for all points", async () => {
  const one = await create(made, made.file("one.ptx", `${ptx(SCAN, [4, 5, 6])}\n`));
  expect(await denoise(one.session_id)).toMatchObject({ flagged: MIXED, warnings: [] });
});

test("without beam origins nothing changes; other methods do not use them", async () => {
  const { session_id } = await cloud(made, ["x y z", ...SCAN.points.map((point) => point.join(" "))]);
  const answer = await denoise(session_id);
  expect(answer).toMatchObject({ flagged: 0, warnings: [], stats: {} });
  expect(Object.keys(answer.params_used).sort()).toEqual([
    "ball_factor",
    "cluster_points",
    "gap_factor",
    "link_factor",
    "max_link",
    "min_ball_link",
    "min_link",
    "most_thin",
    "most_uneven",
    "nb_neighbors",
    "surface_factor",
  ]);
  const one = await create(made, made.file("ror.ptx", `${ptx(SCAN, [0, 0, 0])}\n`));
  expect((await denoise(one.session_id, { method: "ror" })).stats).toEqual({});
});

test("a warning says why mixed pixels were not looked for", async () => {
  const header = "x y z origin_x origin_y origin_z";
  const from = (origin: (i: number) => Place, scan = SCAN) =>
    cloud(made, [header, ...scan.points.map((point, i) => `${point.join(" ")} ${origin(i).join(" ")}`)]);
  const cases: readonly [Promise<{ session_id: string }>, RegExp][] = [
    [from(() => [0, 0.3, 0.1]), /^Mixed pixels were not looked for: .* % of the points contradict the beam origins/],
    [from((i) => [0, 0, 1e-5 * i]), /^Mixed pixels were not looked for: the scanner moved \(more than 256/],
    [from((i) => (i % 2 ? [0, 0, 0] : [Number.NaN, 0, 0])), /not looked for among 1800 points without a beam origin/],
    [
      from(() => [0, 0, 0], postBeforeWall(0.006)),
      /not looked for among 3600 points where the beams are more than 0.015 m/,
    ],
  ];
  for (const [session, warning] of cases) {
    const answer = await denoise((await session).session_id);
    expect(answer.warnings).toEqual([expect.stringMatching(warning)]);
  }
});
