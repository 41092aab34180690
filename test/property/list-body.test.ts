import fc from "fast-check";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { type JsonDocument, type JsonShape, openRequestText } from "../../backend/native/core/request-text.ts";

const SHAPE: JsonShape = {
  kind: "object",
  fields: {
    points: { kind: "points" },
    numbers: { kind: "numbers" },
    heights: { kind: "heights" },
    flags: { kind: "flags" },
    inner: { kind: "object", fields: { numbers: { kind: "numbers" }, text: { kind: "value" } } },
    value: { kind: "value" },
    parts: {
      kind: "array",
      item: {
        kind: "object",
        fields: { points: { kind: "points" }, named: { kind: "record", item: { kind: "numbers" } } },
      },
    },
  },
};
const TOKEN = "never in a text:";
const LIMITS = { rest_bytes: 2 ** 20, depth: 64 };

function parse(text: string): Promise<JsonDocument> {
  const bytes = Buffer.from(text);
  const open = openRequestText(bytes.length);
  for (let at = 0; at < bytes.length; at += 7) open.append(bytes.subarray(at, at + 7));
  return open.parse(SHAPE, TOKEN, LIMITS).promise;
}

const ELEMENT: Readonly<Record<string, (value: unknown) => boolean>> = {
  points: (value) => Array.isArray(value) && value.length === 3 && value.every(Number.isFinite),
  numbers: Number.isFinite,
  flags: (value) => typeof value === "boolean",
};
const isHeight = (value: unknown) => value === null || Number.isFinite(value);
const fits = (kind: string, list: readonly unknown[]) =>
  kind !== "heights"
    ? list.every(ELEMENT[kind] ?? (() => false))
    : Array.isArray(list[0])
      ? list.every((row) => Array.isArray(row) && row.every(isHeight))
      : list.every(isHeight);

/** What the scanner promises of a parsed value: lists that fit as flat numbers, others by their length. */
function expected(value: unknown, shape: JsonShape): unknown {
  if (shape.kind === "value") return value;
  if (shape.kind === "array") return Array.isArray(value) ? value.map((item) => expected(item, shape.item)) : value;
  if (shape.kind === "record") {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expected(item, shape.item)]));
  }
  if (shape.kind !== "object") {
    if (!Array.isArray(value)) return value;
    if (!fits(shape.kind, value)) return { length: value.length, values: null };
    return { length: value.length, values: value.flat().map((item) => (item === null ? Number.NaN : Number(item))) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
      return [key, field ? expected(item, field) : null];
    }),
  );
}

function found({ rest, lists }: JsonDocument): unknown {
  return JSON.parse(rest, (_key, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith(TOKEN)) return value;
    const { length, column } = lists[Number(value.slice(TOKEN.length))] ?? { length: -1, column: null };
    if (!column) return { length, values: null };
    const bytes = new Uint8Array(column.bytes);
    const kind = column.dtype; // gone with the column
    column.readInto(bytes, 0);
    column.release();
    const values = kind === "u8" ? bytes : new Float64Array(bytes.buffer);
    return { length, values: [...values] };
  });
}

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, 1e22, 0.1, 5e-324),
);
const anything = fc.jsonValue({ maxDepth: 3 });
const bad = fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anything });
const spoilt = <T>(list: fc.Arbitrary<T[]>) =>
  fc.tuple(list, bad).map(([values, more]): unknown[] => (more === undefined ? values : [...values, more]));
const document = fc.record(
  {
    points: fc.oneof(spoilt(fc.array(fc.tuple(number, number, number))), anything),
    numbers: fc.oneof(spoilt(fc.array(number)), anything),
    heights: fc.oneof(spoilt(fc.array(fc.option(number))), spoilt(fc.array(fc.array(fc.option(number)))), anything),
    flags: fc.oneof(spoilt(fc.array(fc.boolean())), anything),
    inner: fc.oneof(fc.record({ numbers: fc.array(number), text: fc.string({ unit: "binary" }) }), anything),
    value: anything,
    parts: fc.oneof(
      fc.array(
        fc.oneof(
          fc.record(
            {
              points: fc.oneof(spoilt(fc.array(fc.tuple(number, number, number))), anything),
              named: fc.oneof(fc.dictionary(fc.string(), spoilt(fc.array(number))), anything),
              other: anything,
            },
            { requiredKeys: [] },
          ),
          anything,
        ),
      ),
      anything,
    ),
    unknown: anything,
  },
  { requiredKeys: [] },
);
/** The texts that JSON.stringify makes of negative zero lose its sign; the text keeps it. */
const text = fc
  .tuple(fc.oneof(document, anything), fc.constantFrom(0, 1, "\t"))
  .map(([value, space]) => JSON.stringify(value, null, space));

test("lists and the rest are those of JSON.parse", async () => {
  const before = addon.bulkBytesInUse();
  await fc.assert(
    fc.asyncProperty(text, async (json) => {
      fc.pre(!json.includes("__proto__"));
      expect(found(await parse(json))).toEqual(expected(JSON.parse(json), SHAPE));
    }),
    { numRuns: 1000 },
  );
  expect(addon.bulkBytesInUse()).toBe(before);
});

test("a text is refused exactly if JSON.parse refuses it", async () => {
  let refusals = 0;
  const damage = fc.tuple(
    fc.nat(),
    fc.nat(3),
    fc.oneof(fc.constantFrom("", ",", "]", "}", "[", '"', "0", "-", ".", "e", "null", "\\", "\u0001"), fc.string()),
  );
  await fc.assert(
    fc.asyncProperty(text, damage, async (json, [at, removed, added]) => {
      const from = at % (json.length + 1);
      const damaged = json.slice(0, from) + added + json.slice(from + removed);
      fc.pre(
        !/__proto__|prototype/.test(damaged) && damaged.trim() !== "" && Buffer.from(damaged).toString() === damaged,
      );
      let valid = true;
      try {
        JSON.parse(damaged);
      } catch {
        valid = false;
        refusals += 1;
      }
      const outcome = await parse(damaged).then(
        () => true,
        (error: Error) => {
          expect(error.message).toMatch(/^the body is not valid JSON: .* at byte \d+$/);
          return false;
        },
      );
      expect(outcome).toBe(valid);
    }),
    { numRuns: 3000 },
  );
  expect(refusals).toBeGreaterThan(500);
});

test("numbers are the doubles of JSON.parse, bit by bit", async () => {
  const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?$/);
  await fc.assert(
    fc.asyncProperty(fc.array(digits, { minLength: 1, maxLength: 50 }), async (list) => {
      const wanted = list.map((item) => JSON.parse(item) as number);
      fc.pre(wanted.every(Number.isFinite));
      const { lists } = await parse(`{"numbers":[${list.join(" , ")}]}`);
      const values = new Float64Array(list.length);
      lists[0]?.column?.readInto(new Uint8Array(values.buffer), 0);
      for (const [i, value] of values.entries())
        expect([list[i], Object.is(value, wanted[i])]).toEqual([list[i], true]);
    }),
    { numRuns: 2000 },
  );
});
