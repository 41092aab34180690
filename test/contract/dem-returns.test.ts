import { describe, expect, test } from "vitest";
import { SessionDemMeta } from "../../shared/contract/cloud-session/dem.ts";
import { MergeResponse } from "../../shared/contract/cloud-session/merge.ts";
import { create, exportTail, scanFile } from "../support/app/app.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { readRawLas } from "../support/scans/las-records.ts";
import { boxOf, dem, gridPoints, type Point } from "../support/session/dem.ts";
import { answered, cloud, columnOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/** Clouds in which the return of some points is not known. */

const made = sessionTest();
const field = gridPoints(40, 40, () => 0);
const box = { cell_size: 1, bbox: boxOf(40, 40), auto_segment_ground: false };

/** Pulses of two returns: one at 10 m, one on the ground; `more`: points of other returns. */
const pulses = (more: readonly { x: number; y: number; z: number; return_number: number }[] = []) =>
  scanFile(
    made,
    lasBytes([
      ...field.map(([x, y]) => ({ x, y, z: 10, return_number: 1, number_of_returns: 2 })),
      ...field.map(([x, y]) => ({ x, y, z: 0, return_number: 2, number_of_returns: 2 })),
      ...more.map((row) => ({ ...row, number_of_returns: 2 })),
    ]),
  );
const surface = (id: string, body: object) =>
  dem(made, `/api/cloud/session/${id}/dem`, { ...box, ...body }, SessionDemMeta as never);

/** Two heights at one place are told: the half of them that is left is another half everywhere. */
const besidesDensity = ({ warnings = [] }: { readonly warnings?: readonly string[] | undefined }) =>
  warnings.filter((text) => !text.includes("half_points"));

const STRAYS = [1.5, 2.5, 3.5, 4.5].map((x) => ({ x, y: 1.5, z: 12, return_number: 0 }));
const TOLD =
  "4 points have return number 0 beside 1600 with 1: their return is unknown, and they count as first returns. Delete them if they are not.";

test.each(["dsm", "chm", "dtm"])(
  "a few points with return 0 are first returns beside those with 1: %s",
  async (surface_type) => {
    const { session_id } = await create(made, pulses(STRAYS));
    const { meta, f32 } = await surface(session_id, { surface_type });
    expect(besidesDensity(meta)).toEqual([TOLD]);
    if (surface_type === "dtm") {
      expect(f32("layer_grid_return_density").reduce((sum, n) => sum + n, 0)).toBe(1604);
      return;
    }
    expect(meta).toMatchObject({ surface_source: "first_return", voids: 0 });
    if (surface_type === "chm") return; // all points are ground
    expect(f32("grid_z").filter((z) => z === 12)).toHaveLength(4);
    expect(f32("grid_z").filter((z) => z === 10)).toHaveLength(1596);
  },
);

test("returns that count from 0 keep their first one", async () => {
  const points: Point[] = [...field, ...field].map(([x, y], i) => [x, y, i < 1600 ? 10 : 0]);
  const first_return_labels = points.map((_, i) => (i < 1600 ? 0 : 1));
  const body = { ...box, points, first_return_labels, surface_type: "dsm" };
  const whole = await dem(made, "/api/dem", body);
  expect(whole.meta).not.toHaveProperty("warnings");
  expect(new Set(whole.f32("grid_z"))).toEqual(new Set([10]));
});

test("a part of a cloud that counts from 0, by the number of returns", async () => {
  const rows = field.map(([x, y], i) => `${x} ${y} ${i % 2 ? 0 : 10} ${i % 4 ? 1 : 0} 2`);
  const { session_id } = await cloud(made, ["x y z target_index target_count", ...rows]);
  const { meta, f32 } = await surface(session_id, { surface_type: "dsm" });
  expect(meta).not.toHaveProperty("warnings");
  expect(new Set(f32("grid_z").filter(Number.isFinite))).toEqual(new Set([10]));
});

test("merged with a cloud without returns: its points are return 1 of 1, in surfaces and in LAS files", async () => {
  const las = await create(made, pulses());
  const text = await cloud(made, ["x y z", ...STRAYS.map(({ x, y, z }) => `${x} ${y} ${z}`)]);
  const { merged, warnings } = await answered(made, MergeResponse, "/api/cloud/session/merge", {
    session_ids: [las.session_id, text.session_id],
  });
  expect(warnings).toEqual(["Points of clouds without return numbers are return 1 of 1."]);
  const id = merged.session_id;
  expect((await columnOf(made, id, "extra/target_index"))?.slice(-4)).toEqual([1, 1, 1, 1]);
  expect((await columnOf(made, id, "extra/target_count"))?.slice(-4)).toEqual([1, 1, 1, 1]);
  const { meta, f32 } = await surface(id, { surface_type: "dsm" });
  expect(meta.voids).toBe(0);
  expect(meta).not.toHaveProperty("warnings");
  expect(f32("grid_z").filter((z) => z === 10)).toHaveLength(1596);
  const { data } = await exportTail(made, { source: { session_id: id }, format: "las" });
  const { fields } = await readRawLas(Buffer.from(data ?? "", "base64"));
  for (const name of ["return_number", "number_of_returns"])
    expect((fields.get(name) ?? []).map(Number).slice(-4)).toEqual([1, 1, 1, 1]);
});

test("merged with a cloud that counts from 0: 0 is its first return", async () => {
  const rows = field.map(([x, y], i) => `${x} ${y} 0 ${i % 2} ${1 + (i % 2)}`);
  const scan = await cloud(made, ["x y z target_index target_count", ...rows]);
  const text = await cloud(made, ["x y z", "1 1 12"]);
  const { merged, warnings } = await answered(made, MergeResponse, "/api/cloud/session/merge", {
    session_ids: [text.session_id, scan.session_id],
  });
  expect(warnings?.join()).toContain("have the value 0 there: Target Index, Target Count");
  expect((await columnOf(made, merged.session_id, "extra/target_index"))?.[0]).toBe(0);
});

describe("merged clouds, of which one counts from 0 and one from 1, count from 1", () => {
  const merged = async (...session_ids: string[]) => {
    const answer = await answered(made, MergeResponse, "/api/cloud/session/merge", { session_ids });
    const column = async (slug: string) => (await columnOf(made, answer.merged.session_id, `extra/${slug}`)) ?? [];
    return { id: answer.merged.session_id, warnings: answer.warnings, column };
  };
  /** Pulses of two returns: one at 5 m, one on the ground, numbered from 0. */
  const from_zero = () =>
    cloud(made, [
      "x y z target_index target_count",
      ...field.map(([x, y]) => `${x} ${y} 5 0 2`),
      ...field.map(([x, y]) => `${x} ${y} 0 1 2`),
    ]);
  const MIXED =
    "1 cloud counts the returns of a pulse from 0 and 1 cloud counts from 1: its target_index is 1 higher in the merged cloud, so that all count from 1.";

  test("in any order; the surface has the first returns of both", async () => {
    const [zero, one] = [await from_zero(), await create(made, pulses())];
    for (const ids of [
      [zero.session_id, one.session_id],
      [one.session_id, zero.session_id],
    ]) {
      const { id, warnings, column } = await merged(...ids);
      expect(warnings).toContain(MIXED);
      const numbers = await column("target_index");
      expect([0, 1, 2].map((number) => numbers.filter((value) => value === number).length)).toEqual([0, 3200, 3200]);
      const { meta, f32 } = await surface(id, { surface_type: "dtm" });
      expect(besidesDensity(meta)).toEqual([]);
      expect(f32("layer_grid_return_density").reduce((sum, n) => sum + n, 0)).toBe(3200);
    }
  });

  test("also where the other has one return per pulse, a constant of its LAS file", async () => {
    const single = scanFile(
      made,
      lasBytes(field.map(([x, y]) => ({ x, y, z: 20, return_number: 1, number_of_returns: 1 }))),
    );
    const one = await create(made, single);
    const { warnings, column } = await merged((await from_zero()).session_id, one.session_id);
    expect(warnings).toContain(MIXED);
    const numbers = await column("target_index");
    expect([0, 1, 2].map((number) => numbers.filter((value) => value === number).length)).toEqual([0, 3200, 1600]);
  });

  test("unknown returns stay unknown, also those of an earlier merge", async () => {
    const plain = await cloud(made, ["x y z", "1 1 12", "2 1 12"]);
    const earlier = await merged((await from_zero()).session_id, plain.session_id);
    expect((await earlier.column("target_index")).slice(-2)).toEqual([0, 0]);
    const unknown = await create(made, pulses(STRAYS));
    const { id, warnings, column } = await merged(earlier.id, unknown.session_id);
    expect(warnings).toContain(MIXED);
    const numbers = await column("target_index");
    expect(numbers.slice(3200, 3202)).toEqual([0, 0]);
    expect(numbers.slice(-4)).toEqual([0, 0, 0, 0]);
    const { meta } = await surface(id, { surface_type: "dsm" });
    expect(besidesDensity(meta)).toEqual([expect.stringMatching(/^6 points have return number 0 beside 3200 with 1/)]);
  });

  test("clouds that count alike keep their numbers", async () => {
    const { warnings, column } = await merged((await from_zero()).session_id, (await from_zero()).session_id);
    expect(warnings).toBeUndefined();
    expect(Math.min(...(await column("target_index")))).toBe(0);
  });
});
