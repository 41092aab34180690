import { describe, expect, test } from "vitest";
import { elsewhere, unlikeSizes } from "../../../../backend/services/registration/sizes.ts";

const sized = (name: string, size: number) => ({ name, size });

describe("sizes that differ as units do", () => {
  test.each([
    [1050, 1, "The source is 1050 times as large as the target (1050 m and 1 m), as a file in millimetres is"],
    [0.95, 100, "The target is 105 times as large as the source (100 m and 0.95 m), as a file in centimetres is"],
    [33, 10, "as a file in feet is that is taken for metres: convert it."],
    [39, 1, "as a file in inches is"],
    [20, 1, "The source is 20 times as large as the target (20 m and 1 m): are both in metres, and of one thing?"],
  ])("%f and %f", (a, b, sentence) => {
    expect(unlikeSizes(sized("source", a), sized("target", b))).toContain(sentence);
  });

  test.each([
    [1, 1],
    [2.5, 1],
    [1, 8],
    [14, 1],
    [0, 1],
  ])("%f and %f say nothing", (a, b) => expect(unlikeSizes(sized("source", a), sized("target", b))).toBe(""));
});

describe("a mesh that lies elsewhere", () => {
  test("far from every point", () => {
    expect(elsewhere(sized("cloud", 15), sized("mesh", 15), 144, 160)).toEqual([
      expect.stringMatching(
        /^The mesh lies 144 m and more from every point, .* coordinate systems, shifts, axes or units/,
      ),
    ]);
    expect(elsewhere(sized("cloud", 15), sized("mesh", 15_000), 114_000, 114_000)[0]).toContain(
      "The mesh is 1000 times as large as the cloud",
    );
  });

  test("around the points, a thousand times as large", () => {
    expect(elsewhere(sized("cloud", 10), sized("mesh", 10_200), 3, 800)).toEqual([
      expect.stringMatching(/^Half of the points lie more than 800 m from the mesh\. The mesh is 1020 times/),
    ]);
  });

  test("a crown above the ground, a part of a terrain, one point: nothing", () => {
    expect(elsewhere(sized("cloud", 5), sized("mesh", 200), 20, 22)).toEqual([]);
    expect(elsewhere(sized("cloud", 3), sized("mesh", 1000), 0, 0.02)).toEqual([]);
    expect(elsewhere(sized("cloud", 0), sized("mesh", 1), 90, 90)).toEqual([]);
  });
});
