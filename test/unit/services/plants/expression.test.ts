import { describe, expect, test } from "vitest";
import { parseExpression } from "../../../../backend/services/plants/expression.ts";
import { stopwatch } from "../../../support/run/stopwatch.ts";

const edits = (text: string) =>
  parseExpression(text).map(({ shoot_type, param, op, value }) => ({ shoot_type, param, op, value }));
const problem = (text: string): string => {
  try {
    parseExpression(text);
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid_argument" });
    return (error as Error).message;
  }
  throw new Error(`${text} was read`);
};

describe("what is read", () => {
  test("the example of the contract", () => {
    expect(edits("proleptic.insertion_angle_tip = 40; leaf_scale *= 1.2")).toEqual([
      { shoot_type: "proleptic", param: "insertion_angle_tip", op: "=", value: 40 },
      { shoot_type: null, param: "leaf_scale", op: "*=", value: 1.2 },
    ]);
  });

  test("offsets, distributions, numbers of every form, blanks and empty statements", () => {
    const of = (distribution: string, ...parameters: number[]) => ({ distribution, parameters });
    const values = edits("; a+=-.5e-1 ;b=uniform( 1 ,2.) ; ;c *=normal(3,0);\n\td = constant(+4);").map(
      ({ param, op, value }) => [param, op, value],
    );
    expect(values).toEqual([
      ["a", "+=", -0.05],
      ["b", "=", of("uniform", 1, 2)],
      ["c", "*=", of("normal", 3, 0)],
      ["d", "=", of("constant", 4)],
    ]);
    expect(edits("")).toEqual([]);
    expect(edits(" ;; ")).toEqual([]);
  });
});

describe("errors name the column, the rule and what was found", () => {
  test.each([
    ["leaf_scale", 11, "=, *= or += is expected, but found the end"],
    ["leaf_scale == 1", 13, 'a number is expected, but found "= 1"'],
    ["leaf_scale -= 1", 12, "=, *= or += is expected"],
    ["a = 1 b = 2", 7, "a semicolon or the end is expected"],
    ["a. = 1", 4, "a parameter is expected behind the point"],
    ["= 1", 1, "a parameter is expected"],
    ["a = 1e999", 5, "1e999 is too large"],
    ["a = Infinity", 5, '"Infinity" is not a number, uniform(a, b)'],
    ["a = weibull(1, 2)", 5, '"weibull" is not a number'],
    ["a = toString(1)", 5, '"toString" is not a number'],
    ["a = uniform(1)", 14, ", is expected"],
    ["a = uniform(2, 1)", 5, "the lowest value 2 is above the highest 1"],
    ["a = normal(1, -1)", 5, "the standard deviation -1 is negative"],
    ["a = constant(1, 2)", 15, ") is expected"],
    ["a = 1;\nb = $", 12, 'a number is expected, but found "$"'],
  ])("%s", (text, column, rule) => {
    expect(problem(text)).toContain(`expression, column ${column}: ${rule}`);
  });

  test("too long, too many", () => {
    expect(problem("a".repeat(100_001))).toContain("longer than 100000");
    expect(problem("a=1;".repeat(1001))).toContain("more than 1000 edits");
  });
});

test("2000 broken expressions are read or refused, in time", () => {
  const parts = [
    "leaf_scale",
    ".",
    "=",
    "*=",
    "+=",
    "1.2",
    ";",
    "uniform(",
    ",",
    ")",
    "-",
    "e5",
    "\u0000",
    "\u{1f600}",
    " ",
  ];
  let seed = 1;
  const next = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  const stop = stopwatch();
  let read = 0;
  for (let i = 0; i < 2000; i += 1) {
    const text = Array.from({ length: next(30) }, () => parts[next(parts.length)]).join("");
    try {
      parseExpression(text);
      read += 1;
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid_argument", message: expect.stringMatching(/column \d+/) });
    }
  }
  expect(read).toBeGreaterThan(20);
  expect(read).toBeLessThan(1900);
  expect(stop().own_ms).toBeLessThan(2000);
});
