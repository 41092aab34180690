import { describe, expect, test } from "vitest";
import { median } from "../../bench/median.ts";

describe("median", () => {
  test("takes the middle of odd and the mean of even counts", () => {
    expect(median([{ wall_s: 3 }, { wall_s: 1 }, { wall_s: 2 }])).toEqual({ wall_s: 2 });
    expect(median([{ wall_s: 1 }, { wall_s: 2 }])).toEqual({ wall_s: 1.5 });
  });

  test("counts a stage that a run did not show as no time", () => {
    const stages = [{ stages: { read: 1 } }, { stages: { read: 2, hash: 5 } }, { stages: { read: 3 } }];
    expect(median(stages)).toEqual({ stages: { read: 2, hash: 0 } });
  });
});
