import { expect, test } from "vitest";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionDemMeta } from "../../../shared/contract/cloud-session/dem.ts";
import { SessionDenoiseResponse } from "../../../shared/contract/cloud-session/denoise.ts";
import { DetectStemsResponse } from "../../../shared/contract/cloud-session/detect-stems.ts";
import { SessionGroundResponse } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { TreeQsmTail } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { forestRows } from "../../support/scans/forest.ts";
import { dem, gridPoints } from "../../support/session/dem.ts";
import { answered, cloud, columnOf, failed, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const url = (id: string, run: string) => `/api/cloud/session/${id}/${run}`;
const FIELD = gridPoints(40, 40, (x, y) => 0.02 * x + 0.01 * y);
/** Far out and high up, where a ground filter sees nothing lower. */
const STRAY = [300, 20, 900] as const;
const NOISE = "1 point that is labelled as noise (noise_class 2, LAS classes 7 and 18)";

/** A field with a stray return; every other point is clean. */
const field = (slug = "noise_class", [clean, noise]: readonly number[] = [1, 2]) =>
  cloud(made, [`x y z ${slug}`, ...FIELD.map((p) => `${p.join(" ")} ${clean}`), `${STRAY.join(" ")} ${noise}`]);

test.each([
  ["noise_class", [1, 2]],
  ["las_classification", [2, 7]],
  ["las_classification", [2, 18]],
])("points that %s names as noise are no ground (clean, noise: %j)", async (slug, values) => {
  const { session_id } = await field(slug, values);
  const answer = await answered(made, SessionGroundResponse, url(session_id, "segment_ground"), {});
  expect(answer.warnings).toEqual([`${NOISE} is no ground.`]);
  expect([answer.analyzed_points, answer.num_ground, answer.num_plant]).toEqual([1601, 1600, 1]);
  expect(answer.noise_count).toBe(1);
  expect([answer.kept_bounds?.min, answer.kept_bounds?.max]).toEqual([FIELD[0], FIELD.at(-1)]);
  const labels = await columnOf(made, session_id, extraKey("ground_class"));
  expect([labels?.at(0), labels?.at(-1), new Set(labels).size]).toEqual([1, 2, 2]);
});

test("skip_noise false: noise is ground where nothing is lower", async () => {
  const { session_id } = await field();
  const answer = await answered(made, SessionGroundResponse, url(session_id, "segment_ground"), { skip_noise: false });
  expect(answer.warnings.join()).not.toContain("labelled as noise");
  expect([answer.noise_count, answer.kept_bounds?.max[2]]).toEqual([0, STRAY[2]]);
  expect((await columnOf(made, session_id, extraKey("ground_class")))?.at(-1)).toBe(1);
});

test("deleted noise keeps the label of deleted points, and more noise than a scanner makes is told with the way out", async () => {
  const rows = FIELD.map((p, i) => `${p.join(" ")} ${i % 10 === 0 ? 2 : 1}`);
  const { session_id } = await cloud(made, ["x y z noise_class", ...rows, `${STRAY.join(" ")} 2`]);
  const region = { kind: "box", min: [299, 0, 0], max: [301, 99, 999] };
  await made.post(session_id, "delete_region", { region });
  const answer = await answered(made, SessionGroundResponse, url(session_id, "segment_ground"), {});
  expect(answer.warnings).toContainEqual(
    expect.stringMatching(
      /^160 points that are labelled as noise .* are no ground, more than a scanner makes.*skip_noise/,
    ),
  );
  expect([answer.num_ground, answer.num_plant]).toEqual([1440, 160]);
  const labels = await columnOf(made, session_id, extraKey("ground_class"));
  expect([labels?.at(0), labels?.at(1), labels?.at(-1)]).toEqual([2, 1, 0]);
});

const surface = (id: string, body: object) =>
  dem(made, url(id, "dem"), { cell_size: 1, ...body }, SessionDemMeta as never);

test.each(["dtm", "dsm", "chm"])("a %s leaves noise out, and its place", async (surface_type) => {
  const { session_id } = await field();
  await answered(made, SessionGroundResponse, url(session_id, "segment_ground"), { skip_noise: false });
  const { meta, f32 } = await surface(session_id, { surface_type });
  expect(meta.warnings).toEqual([`${NOISE} belongs to no surface.`]);
  expect(meta.noise_count).toBe(1);
  expect([meta.grid_nx, meta.grid_ny]).toEqual([39, 39]);
  expect(Math.max(...f32("grid_z").filter(Number.isFinite))).toBeLessThan(2);
  const whole = await surface(session_id, { surface_type, skip_noise: false });
  expect(whole.meta.grid_nx).toBeGreaterThan(290);
  expect(whole.meta.noise_count).toBe(0);
  expect(whole.meta.warnings?.join() ?? "").not.toContain("labelled as noise");
});

test("noise has a height above the ground", async () => {
  const { session_id } = await field();
  await answered(made, SessionGroundResponse, url(session_id, "segment_ground"), {});
  await surface(session_id, { surface_type: "dtm", add_height_column: true });
  const heights = await columnOf(made, session_id, extraKey("height_above_ground"));
  expect(heights?.at(-1)).toBeGreaterThan(890);
  expect(heights?.at(0)).toBeCloseTo(0, 1);
});

test("a canopy of kilometres is told", async () => {
  const rows = FIELD.map(([x, y, z]) => {
    const is_tree = Math.hypot(x - 20, y - 20) < 5;
    return `${1000 * x} ${1000 * y} ${1000 * z + (is_tree ? 25_000 : 0)} ${is_tree ? 2 : 1}`;
  });
  const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
  const { meta } = await surface(session_id, { surface_type: "chm", cell_size: 1000 });
  expect(meta.warnings).toEqual([
    expect.stringMatching(/^The canopy is up to 2\d{4} m high.*source_units/),
    expect.stringContaining("depends on the density"),
  ]);
  const dtm = await surface(session_id, { surface_type: "dtm", cell_size: 1000 });
  expect(dtm.meta.warnings ?? []).toEqual([]);
});

/** Two trees on their ground; `last` are rows behind it: x y z tree_instance height_above_ground ground_class noise_class. */
function forest(last: readonly string[]) {
  const [head, ...rows] = forestRows([
    { id: 3, x: 6, y: 6, dbh_m: 0.3 },
    { id: 8, x: 11, y: 6, dbh_m: 0.2 },
  ]);
  return cloud(made, [`${head} noise_class`, ...rows.map((row) => `${row} 1`), ...last]);
}
const inventory = (id: string, body: object = {}) => tail(made, TreeInventoryTail, url(id, "tree_inventory"), body);

test("an inventory leaves noise out of the plot and of trees, and counts it", async () => {
  const clean = await inventory((await forest([])).session_id);
  expect(clean.noise_count).toBe(0);
  const { session_id } = await forest(["22 16 0 0 0 1 2", "6 6 20 3 20 2 2"]);
  const list = await inventory(session_id);
  expect(list.warnings).toEqual([
    "2 points that are labelled as noise (noise_class 2, LAS classes 7 and 18) belong to no tree, although 1 of them has a tree number.",
  ]);
  expect([list.noise_count, list.params?.skip_noise]).toEqual([2, true]);
  expect([list.trees, list.stand]).toEqual([clean.trees, clean.stand]);
  const whole = await inventory(session_id, { skip_noise: false });
  expect(whole.stand?.plot_area_m2).toBeCloseTo(276, 6);
  expect(whole.trees[0]?.height_m).toBeGreaterThan(19);
  expect([whole.noise_count, whole.params?.skip_noise]).toEqual([0, false]);
  expect(whole.warnings.join()).not.toContain("labelled as noise");
});

test("an inventory of noise alone says what to do", async () => {
  const { session_id } = await cloud(made, [
    "x y z tree_instance noise_class",
    ...FIELD.map((p) => `${p.join(" ")} 3 2`),
  ]);
  const { error } = await failed(made, url(session_id, "tree_inventory"), {});
  expect(error).toMatch(/^No point has a tree: all points with a tree number are labelled as noise.*skip_noise false/);
});

test("stems are looked for without noise", async () => {
  const { session_id } = await forest(["6 6.5 1.5 3 1.5 2 2"]);
  const stems = (body: object) => answered(made, DetectStemsResponse, url(session_id, "detect_stems"), body);
  const [clean, whole] = [await stems({}), await stems({ skip_noise: false })];
  expect(clean.warnings).toEqual([`${NOISE} belongs to no stem.`]);
  expect(whole.layer_points - clean.layer_points).toBe(1);
  expect(whole.warnings).toEqual([]);
});

test("models of trees are built without noise, which is counted for the trees that are asked for", async () => {
  const { session_id } = await forest(["6 6 20 3 20 2 2", "9 9 20 0 20 2 2"]);
  const models = (body: object) =>
    tail(made, TreeQsmTail, url(session_id, "tree_qsm"), { wood_only: false, include_models: false, ...body });
  const clean = await models({});
  expect(clean.warnings).toEqual([`${NOISE} belongs to no model.`]);
  expect(clean.results.map(({ points_in_tree }) => points_in_tree)).toEqual([3000, 3000]);
  expect((await models({ tree_ids: [8] })).warnings).toEqual([]);
  const whole = await models({ skip_noise: false });
  expect([whole.warnings, whole.results[0]?.points_in_tree]).toEqual([[], 3001]);
});

test("denoise tells the box around what it keeps", async () => {
  const { session_id } = await cloud(made, ["x y z", ...FIELD.map((p) => p.join(" ")), STRAY.join(" ")]);
  const answer = await answered(made, SessionDenoiseResponse, url(session_id, "denoise"), { method: "auto" });
  expect(answer.flagged).toBe(1);
  expect(answer.kept_bounds?.min.slice(0, 2)).toEqual(FIELD[0]?.slice(0, 2));
  expect(answer.kept_bounds?.max.slice(0, 2)).toEqual(FIELD.at(-1)?.slice(0, 2));
  expect(answer.kept_bounds?.max[2]).toBeLessThan(2);
});
