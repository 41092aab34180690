import { describe, expect, test } from "vitest";
import { IcpSuccess } from "../../shared/contract/icp.ts";
import { random, SOURCE, TARGET, TUMBLE } from "../support/session/blocks.ts";
import { farthest, moved, turnAndShift } from "../support/session/registration.ts";
import { streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* Poses of the registrations that a search among all turns and shifts checks. */

const made = sessionTest();
const CLOUDS = "/api/c2c/icp-register";
const register = async (payload: object) => (await streamed(made, IcpSuccess, CLOUDS, payload)).tail;

/** A small turn and shift. */
const NEAR = turnAndShift(2, [10, 10, 0], [0.2, -0.1, 0.1]);

describe("a pose that its surfaces do not prove right is checked by a search", () => {
  const both = { target_points: TARGET, source_points: moved(TUMBLE, SOURCE) };
  const wrong = (tail: IcpSuccess) => farthest(moved(tail.transformation_matrix, both.source_points), SOURCE) > 1;

  test("without a named start, the iterations begin anew where the sides fit better", async () => {
    const { tail, stages } = await streamed(made, IcpSuccess, CLOUDS, both);
    expect(farthest(moved(tail.transformation_matrix, both.source_points), SOURCE)).toBeLessThan(0.05);
    expect(tail).toMatchObject({ start: "global", global_alignment: { outcome: "found" }, quality_warning: null });
    expect(tail.warnings).toEqual([
      expect.stringMatching(/^The iterations began .* turned by 1[78]\d degrees and shifted/),
    ]);
    expect(tail.iterations).toBeGreaterThanOrEqual(tail.iterations_done);
    const shares = stages.map(([share]) => share ?? 0);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(stages.map(([, message]) => message)).toContain("Searching for other poses");
  });

  test.each<[string, object]>([
    ["centroid", { initial: "centroid" }],
    ["a limit", { max_correspondence_distance: 3 }],
    ["a start", { init_transform: turnAndShift(0, [0, 0, 0], [0, 0, 0]), max_correspondence_distance: 100 }],
  ])("%s: the near pose stays, and is called wrong", async (_name, named) => {
    const tail = await register({ ...both, ...named });
    expect(wrong(tail)).toBe(true);
    expect(tail.pose_check).toMatchObject({ verdict: "contradicted" });
    expect(tail.pose_check?.turn_deg).toBeGreaterThan(150);
    if (tail.fitness > 0) expect(tail.quality_warning).toMatch(/a search among all turns and shifts found another one/);
  });

  test("a right pose on few flat places is confirmed, not called wrong", async () => {
    // Leaves: no flat surface at all.
    const leaves = Array.from({ length: 4000 }, () => {
      const tree = Math.floor(12 * random());
      const at = [7 * ((tree * 5) % 8), 9 * ((tree * 3) % 7), 6 + (tree % 4)];
      return at.map((value, k) => value + (k === 2 ? 5 : 3) * (random() + random() - 1));
    }).flat();
    const tail = await register({ target_points: leaves, source_points: moved(NEAR, leaves) });
    expect(tail).toMatchObject({
      pose_check: { verdict: "confirmed", turn_deg: 0, shift_m: 0 },
      quality_warning: null,
    });
    expect(tail.surface_agreement.place_count).toBeLessThan(100);
    expect(farthest(moved(tail.transformation_matrix, moved(NEAR, leaves)), leaves)).toBeLessThan(0.02);
  });

  test("surfaces that prove the pose need no search", async () => {
    const tail = await register({ target_points: TARGET, source_points: moved(NEAR, SOURCE) });
    expect([tail.pose_check, tail.quality_warning, tail.warnings]).toEqual([null, null, undefined]);
  });

  test("strips that overlap in part are put where they were sent, not on each other", async () => {
    // Low boxes: with the centroids on each other, the ground fits as well.
    const boxes = Array.from({ length: 40 }, () => [200 * random(), 90 * random(), 3 + 9 * random(), 1 + 3 * random()]);
    const strip = (from: number, to: number) => {
      const points: number[] = [];
      while (points.length < 3 * 9000) {
        const [x, y] = [from + (to - from) * random(), 90 * random()];
        const on = boxes.find(([u = 0, v = 0, size = 0]) => Math.abs(x - u) < size / 2 && Math.abs(y - v) < size / 2);
        points.push(x, y, on?.[3] ?? 0);
      }
      return points;
    };
    const sent = turnAndShift(0, [0, 0, 0], [0.4, -0.3, 0.2]);
    const [left, right] = [strip(0, 120), strip(75, 200)];
    const both_strips = { target_points: left, source_points: moved(sent, right) };
    const off = (tail: IcpSuccess) => farthest(moved(tail.transformation_matrix, both_strips.source_points), right);
    const near = await register({ ...both_strips, initial: "centroid" });
    expect([near.start, off(near) > 30]).toEqual(["centroid", true]);
    expect(near.quality_warning).toMatch(/found another one/);
    const tail = await register(both_strips);
    expect(tail.start).toBe("global");
    expect(off(tail)).toBeLessThan(0.5);
  });

  test("nothing proves it: told", async () => {
    const dust = Array.from({ length: 3000 }, () => 4 * random());
    const other = Array.from({ length: 3000 }, () => 4 * random());
    const tail = await register({ target_points: dust, source_points: other });
    expect(tail.pose_check?.verdict).toBe("undecided");
    expect([tail.quality_warning ?? "", ...(tail.warnings ?? [])].join(" ")).toMatch(/Nothing tells|probably wrong/);
  });
});
