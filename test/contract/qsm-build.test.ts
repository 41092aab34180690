import { describe, expect, test } from "vitest";
import { QsmBuildTail } from "../../shared/contract/qsm.ts";
import { run } from "../support/app/app.ts";
import { forkedTree } from "../support/qsm/stems.ts";
import { swayingTree } from "../support/qsm/swaying-tree.ts";
import {
  canceledAmid,
  checked,
  cloud,
  failed,
  refusal,
  streamed,
  tail,
  UNKNOWN,
} from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/qsm/build";
const built = (payload: object) => tail(made, QsmBuildTail, URL_, payload);
const rows = (points: readonly (readonly number[])[]) => ["x y z", ...points.map((point) => point.join(" "))];

describe("models", () => {
  test("a stem with two branches, with the stages of a build", async () => {
    const { tail: model, stages } = await streamed(made, QsmBuildTail, URL_, { points: forkedTree([0, 0, 0]) });
    const { success, metrics, cylinders, shoots, n_cylinders, n_shoots, points_used, error } = model;
    expect({ success, error, points_used }).toEqual({ success: true, error: null, points_used: 10_000 });
    expect([n_cylinders, n_shoots]).toEqual([cylinders.length, shoots.length]);
    expect(metrics?.stem_volume_m3).toBeGreaterThan(0.75 * Math.PI * 0.08 ** 2 * 3);
    expect(metrics?.stem_volume_m3).toBeLessThan(1.25 * Math.PI * 0.08 ** 2 * 3);
    expect(metrics?.tree_height_m).toBeCloseTo(3, 0);
    const [low, high] = metrics?.total_woody_volume_ci95_m3 ?? [1, 0];
    expect(low).toBeLessThan(metrics?.total_woody_volume_m3 ?? 0);
    expect(high).toBeGreaterThan(metrics?.total_woody_volume_m3 ?? 0);
    expect(shoots.flatMap(({ cylinder_ids }) => cylinder_ids).sort((a, b) => a - b)).toEqual(
      cylinders.map(({ cyl_id }) => cyl_id).sort((a, b) => a - b),
    );
    const messages = stages.map(([, message]) => message);
    expect(messages).toContain("Reading points");
    expect(messages).toContain("Extracting skeleton");
    expect(stages.at(-1)).toEqual([1, "Done"]);
  });

  test("the same model from a session, from several, and far away", async () => {
    const points = forkedTree([0, 0, 0]);
    const inline = await built({ points });
    const one = await cloud(made, rows(points));
    const [a, b] = [await cloud(made, rows(points.slice(0, 4000))), await cloud(made, rows(points.slice(4000, 9000)))];
    const source = (id: string) => ({ session_id: id });
    expect((await built({ source: source(one.session_id) })).metrics).toEqual(inline.metrics);
    const joined = await built({
      sources: [source(a.session_id), source(b.session_id)],
      source: source("00000000"),
      points: points.slice(9000),
    });
    expect(joined.metrics).toEqual(inline.metrics);
    const far = await built({
      source: { session_id: one.session_id, translation: [5_000_000, -3_000_000, 400] },
    });
    expect(far.cylinders[0]?.start[0]).toBeGreaterThan(4_999_990);
    expect(far.metrics?.total_woody_volume_m3).toBeCloseTo(inline.metrics?.total_woody_volume_m3 ?? 0, 4);
  });

  test("rows may come in any order; the model of radii is that of the request", async () => {
    const points = forkedTree([0, 0, 0]);
    const shuffled = [...points].sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    const isotonic = await built({ points });
    expect(await built({ points: shuffled })).toEqual(isotonic);
    const tapered = await built({ points, radius_model: "tapered" });
    expect(tapered.cylinders.map(({ radius }) => radius)).not.toEqual(isotonic.cylinders.map(({ radius }) => radius));
  });
});

test("a radius of twigs in another unit is told", async () => {
  const points = forkedTree([0, 0, 0]);
  expect((await built({ points, twig_radius_mm: 0.004 })).warnings).toContainEqual(
    expect.stringMatching(/^twig_radius_mm 0\.004: .*The unit is millimetres/),
  );
  expect((await built({ points, twig_radius_mm: 4 })).warnings.join()).not.toContain("twig_radius_mm");
});

test("a plant in a pot is modelled in its own size, which is told", async () => {
  const tree = forkedTree([0, 0, 0]);
  const radius_model = "tapered";
  const small = tree.map((point) => point.map((value) => value / 10));
  const [large, potted] = [
    await built({ points: tree, twig_radius_mm: 4.4, radius_model }),
    await built({ points: small, radius_model }),
  ];
  expect(large.enlarged_by).toBe(1);
  expect(potted.enlarged_by).toBeGreaterThan(9.5);
  expect(potted.enlarged_by).toBeLessThan(10.5);
  const wood = ({ metrics }: QsmBuildTail) => metrics?.total_woody_volume_m3 ?? 0;
  expect((1000 * wood(potted)) / wood(large)).toBeGreaterThan(0.95);
  expect((1000 * wood(potted)) / wood(large)).toBeLessThan(1.05);
  expect(potted.warnings).toEqual([
    "the plant spans only 0.29 m: what is known of trees was taken in proportion, the radius of its twigs as 0.42 mm (twig_radius_mm, if you measured it)",
  ]);
  const measured = await built({ points: small, twig_radius_mm: 0.5, radius_model });
  expect([measured.warnings, measured.enlarged_by]).toEqual([[], potted.enlarged_by]);
});

describe("a tree that wind moved between its scans", () => {
  /** A session of each scan. */
  async function scans(sway: number) {
    const [, ...all] = swayingTree(sway).map((row) => row.split(" "));
    const of = async (scan: string) => {
      const { session_id } = await cloud(made, [
        "x y z",
        ...all.filter((row) => row[3] === scan).map((row) => row.slice(0, 3).join(" ")),
      ]);
      return { session_id };
    };
    return Promise.all(["1", "2", "3", "4"].map(of));
  }
  const wood = ({ metrics }: QsmBuildTail) => metrics?.total_woody_volume_m3 ?? 0;

  test("has the wood of the still one, from a session with scan_index and from a session of each scan", async () => {
    const still = await built({ sources: await scans(0), radius_model: "tapered" });
    expect(still.view_fit).toMatchObject({ n_views: 4, sways: false });
    expect(still.warnings).toEqual([]);
    const { session_id } = await cloud(made, swayingTree(0.08));
    const request = { radius_model: "tapered" };
    const { tail: one, stages } = await streamed(made, QsmBuildTail, URL_, { source: { session_id }, ...request });
    const fractions = stages.flatMap(([fraction]) => (fraction === null ? [] : [fraction]));
    expect([...fractions].sort((a, b) => a - b)).toEqual(fractions);
    const several = await built({ sources: await scans(0.08), ...request });
    for (const model of [one, several]) {
      expect(model.view_fit).toMatchObject({ n_views: 4, sways: true, aligned: true });
      expect(model.warnings).toEqual([
        expect.stringMatching(/^The tree stands .* in its 4 scans.* moved onto each other/),
      ]);
      expect(Math.abs(wood(model) / wood(still) - 1)).toBeLessThan(0.04);
    }
    expect(several.metrics).toEqual(one.metrics);
    const left = await built({ sources: await scans(0.08), ...request, align_scans: false });
    expect(left.warnings).toEqual([expect.stringMatching(/no intervals; align_scans true/)]);
    expect(Math.abs(wood(left) / wood(still) - 1)).toBeGreaterThan(0.08);
  });
});

describe("failures", () => {
  const refused = async (payload: object) => checked(QsmBuildTail, (await failed(made, URL_, payload)).tail);

  test("too few points", async () => {
    expect(await refused({ points: forkedTree([0, 0, 0]).slice(0, 49) })).toMatchObject({
      success: false,
      error: "too few points: a model needs at least 50, and there are 49",
      points_used: 49,
      cylinders: [],
      shoots: [],
      metrics: null,
    });
    expect((await refused({})).error).toBe("too few points: a model needs at least 50, and there are 0");
  });

  test("points at one place", async () => {
    const { success, error, points_used } = await refused({ points: Array.from({ length: 100 }, () => [1, 2, 3]) });
    expect({ success, points_used }).toEqual({ success: false, points_used: 100 });
    expect(error).toMatch(/of 100 points are connected with the base. The cloud is too sparse or disconnected.$/);
  });

  test("a cancel leaves no result", async () => {
    const outcome = await canceledAmid(made, "modelTree", () => run(made, URL_, { points: forkedTree([0, 0, 0]) }));
    expect(outcome.outcome.kind).toBe("canceled");
  });
});

test("refusals before the stream", async () => {
  expect(await refusal(made, URL_, { source: { session_id: "00000000" } })).toEqual(UNKNOWN);
  expect((await refusal(made, URL_, { source: {} }))[0]).toBe(400);
  for (const wrong of [{ twig_radius_mm: 0 }, { fork_symmetry: 2 }, { radius_model: "pipe" }, { w_area: -1 }])
    expect((await refusal(made, URL_, { points: [], ...wrong }))[0]).toBe(422);
});
