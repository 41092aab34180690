import { describe, expect, test } from "vitest";
import { lengthLabel, scaleBarLength } from "../../../../backend/cli/drawing/axes.ts";
import {
  plainNumber,
  roundStepBelow,
  roundTicks,
  shortNumber,
  stepDecimals,
} from "../../../../backend/cli/drawing/round-steps.ts";
import { VIEWS, viewFrame } from "../../../../backend/cli/drawing/view-frame.ts";

test.each([
  [1, 1],
  [1.99, 1],
  [2, 2],
  [4.9, 2],
  [5, 5],
  [9.99, 5],
  [10, 10],
  [0.3, 0.2],
  [0.001, 0.001],
  [7e-5, 5e-5],
  [3.1e8, 2e8],
])("largest round length up to %d is %d", (value, expected) => {
  expect(roundStepBelow(value)).toBe(expected);
});

test("the scale bar has a round length of at most a quarter of the picture", () => {
  const top = VIEWS[0];
  if (!top) throw new Error("no views");
  // 100 m and 4 % of border are 104 m across; a quarter is 26 m.
  const frame = viewFrame(top, { min: [0, 0, 0], max: [100, 100, 0] });
  expect(scaleBarLength(frame)).toBe(20);
  expect(scaleBarLength(frame) / frame.metres_per_px).toBeLessThan(frame.width_px / 4);
});

test.each([
  [20, "20 m"],
  [0.5, "0.5 m"],
  [0.02, "0.02 m"],
  [20000, "20\u202f000 m"],
  [1e-7, "1e-7 m"],
])("%d reads %s", (metres, text) => {
  expect(lengthLabel(metres)).toBe(text);
});

describe("ticks", () => {
  test("are round, inside the range and not too many", () => {
    expect(roundTicks(0.3, 10.2, 5)).toEqual({ values: [2, 4, 6, 8, 10], step: 2 });
    expect(roundTicks(476769.1, 476776.2, 8).values).toEqual([476770, 476771, 476772, 476773, 476774, 476775, 476776]);
    expect(roundTicks(-1, 1, 2).values).toEqual([-1, 0, 1]);
  });
  test("an empty or infinite range has no ticks", () => {
    expect(roundTicks(5, 5, 4).values).toEqual([]);
    expect(roundTicks(0, Number.POSITIVE_INFINITY, 4).values).toEqual([]);
    expect(roundTicks(Number.NaN, 1, 4).values).toEqual([]);
  });
  test("decimals match the step", () => {
    expect([5, 1, 0.5, 0.2, 0.01, 0.005].map(stepDecimals)).toEqual([0, 0, 1, 1, 2, 3]);
  });
});

test("numbers are grouped from five digits on, and there is no minus zero", () => {
  expect(plainNumber(1234, 0)).toBe("1234");
  expect(plainNumber(12345.678, 2)).toBe("12\u202f345.68");
  expect(plainNumber(-1234567, 0)).toBe("\u22121\u202f234\u202f567");
  expect(plainNumber(-0.001, 2)).toBe("0.00");
  expect(plainNumber(Number.NaN, 2)).toBe("–");
});

test("measured numbers keep about six digits and no trailing zeros", () => {
  expect([0.0231, 7.0765, 15.5358123, 5429149.521, 0, 12, 1.5e-7].map(shortNumber)).toEqual([
    "0.0231",
    "7.0765",
    "15.5358",
    "5\u202f429\u202f150",
    "0",
    "12",
    "1.5000e-7",
  ]);
});
