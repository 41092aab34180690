import { describe, expect, test } from "vitest";
import { parseCrop, parseFilter } from "../../../../backend/cli/analyze/edit-options.ts";
import { filterText } from "../../../../backend/cli/report/findings.ts";

const message = (body: () => unknown) => {
  try {
    return JSON.stringify(body());
  } catch (error) {
    return (error as Error).message;
  }
};

describe("--crop", () => {
  test("accepts six numbers, with spaces, and a flat box", () => {
    expect(parseCrop("-1,2,3, 4,5.5,3")).toEqual({ min: [-1, 2, 3], max: [4, 5.5, 3] });
  });
  test.each(["", "1,2,3", "1,2,3,4,5,6,7", "1,2,3,4,5,", "1,2,3,4,5,x", "1,2,3,4,5,1e999"])("%j", (text) => {
    expect(message(() => parseCrop(text))).toBe(
      `--crop "${text}" must be six numbers in metres, xmin,ymin,zmin,xmax,ymax,zmax, such as 476000,5429000,0,476050,5429050,40`,
    );
  });
  test("names the axis of corners in the wrong order", () => {
    expect(message(() => parseCrop("0,7,0,1,6,1"))).toBe(
      '--crop "0,7,0,1,6,1": ymin 7 is above ymax 6; give the lower corner first',
    );
  });
});

describe("--filter", () => {
  test.each([
    ["height=-2..4.5", { slug: "height", min: -2, max: 4.5 }],
    ["height=2..", { slug: "height", min: 2, max: null }],
    ["height=..2", { slug: "height", min: null, max: 2 }],
    [" height = -5 .. -1 ", { slug: "height", min: -5, max: -1 }],
    ["class=2", { slug: "class", values: [2] }],
    ["class=1, 2,-5", { slug: "class", values: [1, 2, -5] }],
  ])("%j", (text, rule) => {
    expect(parseFilter(text)).toEqual(rule);
    expect(parseFilter(filterText(parseFilter(text)))).toEqual(rule);
  });
  test.each([
    ["height", "must be a column, = and the values to keep: reflectance=-20..0, height=2.. or class=1,2,5"],
    ["=1..2", "must be a column, = and the values to keep"],
    ["height=", "must be a column, = and the values to keep"],
    ["height=..", ": a range must be min..max with two numbers, one of which may be left out, such as 2.."],
    ["height=a..2", ": a range must be min..max"],
    ["height=5..2", ": 5 is above 2; give the lower end first"],
    ["class=1,x", ": values must be whole numbers such as 1,2,5; for other values give a range, min..max"],
    ["class=1.5", ": values must be whole numbers"],
    ["class=1,,2", ": values must be whole numbers"],
  ])("%j is refused", (text, rule) => {
    expect(message(() => parseFilter(text))).toContain(`--filter "${text}"`);
    expect(message(() => parseFilter(text))).toContain(rule);
  });
});
