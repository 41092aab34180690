import fc from "fast-check";
import { expect, test } from "vitest";
import { expectedColumns } from "../../backend/services/files/column-roles.ts";
import { unitOfComment } from "../../backend/services/files/stated-unit.ts";
import { unitOfAxis, widerAxes } from "../../backend/services/files/text/axis-names.ts";
import { detectTextLayout, textPreviewColumns } from "../../backend/services/files/text/layout.ts";
import { unitKey } from "../../backend/services/fit/quantities/unit-text.ts";
import { isHeader, unitOfHeader } from "../../backend/services/fit/table/header.ts";
import { AppError } from "../../shared/errors.ts";
import { stopwatch } from "../support/run/stopwatch.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(" ", "_", "(", ")", "[", "]", "/", "-", "m", "u", "s", "2", "unit", "=", "\n") }),
);

test("any text is a unit or none", () => {
  fc.assert(
    fc.property(text, (words) => {
      expect(unitKey(words) ?? "none").toEqual(expect.any(String));
      unitOfComment(words);
      unitOfAxis(words);
      widerAxes(words.split("_"));
    }),
    { numRuns: 2000 },
  );
});

test.each(["(", "[", "a ", "_a", " ", "x("])("a long header of %j is read in no time", (part) => {
  const long = part.repeat(260_000 / part.length);
  const stop = stopwatch();
  for (const header of [`x,y,z,${long}`, long]) {
    try {
      detectTextLayout([header, "1.5,2.5,3.5,1", "2.5,3.5,4.5,2"]);
    } catch (raw) {
      expect(raw).toBeInstanceOf(AppError);
    }
  }
  expect(stop().own_ms).toBeLessThan(3000); // minutes, before names had a longest length
});

test("longer lines are refused", () => {
  expect(() => detectTextLayout([`x,y,z,${"(".repeat(2 ** 18)}`, "1.5,2.5,3.5,1"])).toThrow(
    "line 1 has 262150 characters, more than 262144: not a text table",
  );
});

test.each([" ", "_", "(", "unit ", "unit= ", "m ", "/m", "\n"])("a megabyte of %j takes no time", (part) => {
  const long = part.repeat(2 ** 20 / part.length);
  const stop = stopwatch();
  unitKey(long);
  unitOfComment(long);
  unitOfAxis(long);
  widerAxes([long, `x${long}`, `${long}z`]);
  unitOfHeader(long);
  isHeader([long, `A${long}`], ["A", "B"]);
  expect(stop().own_ms).toBeLessThan(100);
});

test.each<[string, (column: number) => string]>([
  ["of one name", () => "a"],
  ["of other names", (column) => `a${column}`],
  ["of one role", () => "r"],
  ["of one coordinate", () => "x"],
])("twenty thousand columns %s", (_, name) => {
  const names = Array.from({ length: 20_000 }, (__, column) => name(column));
  const stop = stopwatch();
  const layout = detectTextLayout([`x,y,z,${names.join(",")}`, `1.5,2.5,3.5,${names.map(() => "1").join(",")}`]);
  expect(textPreviewColumns(layout)).toHaveLength(20_003);
  expect(new Set(layout.columns.map(({ slug }) => slug)).size).toBe(20_001); // of x, y and z it is empty
  expectedColumns(names.map((one) => ({ name: one, label: one, role: null, slug: null })));
  expect(stop().own_ms).toBeLessThan(3000); // a minute and more, before
});
