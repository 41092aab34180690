import fc from "fast-check";
import { expect, test } from "vitest";
import { unitOfComment } from "../../backend/services/files/stated-unit.ts";
import { unitOfAxis, widerAxes } from "../../backend/services/files/text/axis-names.ts";
import { unitKey } from "../../backend/services/fit/quantities/unit-text.ts";
import { isHeader, unitOfHeader } from "../../backend/services/fit/table/header.ts";
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
