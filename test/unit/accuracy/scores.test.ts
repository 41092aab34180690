import { describe, expect, test } from "vitest";
import { confusion, scores } from "../../accuracy/scores.ts";

describe("scores", () => {
  test("of a labelling that is worked out by hand", () => {
    // truth: 4 ground, 4 not, 1 unknown; one ground lost, two objects taken
    const counts = confusion(Uint8Array.of(1, 1, 1, 1, 2, 2, 2, 2, 0), Uint8Array.of(1, 1, 1, 2, 1, 1, 2, 2, 1));
    expect(counts).toEqual({ groundGround: 3, groundPlant: 1, plantGround: 2, plantPlant: 2 });
    expect(scores(counts)).toEqual({
      kappa: 0.25, // (5/8 - 1/2) / (1 - 1/2)
      typeI: 0.25,
      typeII: 0.5,
      total: 0.375,
      precision: 0.6,
      recall: 0.75,
      f1: expect.closeTo(2 / 3, 12),
    });
  });
});
