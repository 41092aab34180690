import { expect, test } from "vitest";
import { TreeInventoryTail } from "../../shared/contract/cloud-session/tree-inventory.ts";
import { dem, type Point } from "../support/session/dem.ts";
import { cloud, tail } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";

/** A canopy below which nothing was seen: the cloud is a surface, and its terrain a guess. */

const made = sessionTest();
const EDGE = 40;
const CLEARING = 10;
const box = { cell_size: 1, auto_segment_ground: false };

/** A clearing, and a wavy canopy of 4.5 to 7.5 m with one height at each place; `through`: share of points on the ground below. */
function forest(through: number, roof = false): Point[] {
  const next = random(5);
  const canopy = (x: number, y: number) => (roof ? 6 + 0.2 * x : 6 + 1.5 * Math.sin(2 * x) * Math.cos(2 * y));
  return Array.from({ length: 40_000 }, (): Point => {
    const [x, y] = [EDGE * next(), EDGE * next()];
    return [x, y, x < CLEARING || next() < through ? 0 : canopy(x, y)];
  });
}
const surfaceOf = (points: readonly Point[], body: object = {}) => {
  const ground_labels = points.map(([, , z]) => (z === 0 ? 1 : 0));
  return dem(made, "/api/dem", { ...box, points, ground_labels, surface_type: "dtm", ...body });
};
const told = (warnings: readonly string[] | undefined) =>
  (warnings ?? []).filter((one) => one.includes("the cloud is a surface"));

test.each(["dtm", "chm"])("%s of a surface as photos give: told", async (surface_type) => {
  const photos = await surfaceOf(forest(0), { surface_type });
  expect(photos.meta.seen_below_canopy).toBe(0);
  expect(told(photos.meta.warnings)).toEqual([
    expect.stringMatching(
      /^Closed canopy covers [5-7]\d % of the area, and in 0 % of it a point lies below it.*seen_below_canopy.*too high.*Merge ground points/,
    ),
  ]);
  const laser = await surfaceOf(forest(0.3), { surface_type });
  expect(laser.meta.seen_below_canopy).toBeGreaterThan(0.8);
  expect(told(laser.meta.warnings)).toEqual([]);
});

test("the error that the density of the ground tells is that where it was seen", async () => {
  const { meta } = await surfaceOf(
    forest(0).map(([x, y, z], i): Point => [x, y, z === 0 ? 0.3 * ((i % 7) / 7) : z]),
    { ground_percentile: 50, ground_labels: forest(0).map(([, , z]) => (z === 0 ? 1 : 0)), cell_size: 0.25 },
  );
  expect((meta.warnings ?? []).filter((one) => one.includes("half_points"))).toEqual([
    expect.stringMatching(/of that order where the ground was seen\.$/),
  ]);
});

test("roofs are no canopy, and without ground or canopy nothing is known", async () => {
  const nothing = async (points: readonly Point[], body: object = {}) => {
    const { meta } = await surfaceOf(points, body);
    expect([meta.seen_below_canopy, told(meta.warnings)]).toEqual([null, []]);
  };
  await nothing(forest(0, true));
  await nothing(forest(0), { surface_type: "dsm" });
  await nothing(forest(0), { ground_labels: null });
  await nothing(forest(1));
  await nothing(forest(0).slice(0, 60));
});

test("a tree list of such a cloud says that heights and crowns are not right", async () => {
  const list = async (through: number) => {
    const rows = forest(through)
      .slice(0, 20_000)
      .map(([x, y, z]) => `${x} ${y} ${z} ${z === 0 ? 0 : 1 + Math.floor(x / 4) + 10 * Math.floor(y / 4)} ${z}`);
    const { session_id } = await cloud(made, ["x y z tree_instance height_above_ground", ...rows]);
    return tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  };
  expect(told((await list(0)).warnings)).toEqual([expect.stringMatching(/too low, their crowns .* too large/)]);
  expect(told((await list(0.3)).warnings)).toEqual([]);
});
