import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonChunks } from "../../backend/http/json-stream.ts";
import { Base64Bytes, FlagBytes, LazyList } from "../../shared/wire/json-values.ts";

const text = (value: unknown) => Buffer.concat([...jsonChunks(value)]).toString();

test("the text equals that of JSON.stringify for any value", () => {
  const odd = fc.oneof(
    fc.constantFrom(undefined, Number.NaN, Infinity, -0, new Date(0), () => 1, Symbol("s")),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.anything({ withDate: true, withTypedArray: false, withBigInt: false }), odd, (value, extra) => {
      fc.pre(!hasBigInt(extra) && !hasBigInt(value));
      const whole = { value, extra: isView(extra) ? 0 : extra, list: [value] };
      if (containsView(whole)) return;
      expect(text(whole)).toBe(JSON.stringify(whole));
    }),
  );
});

function visit(value: unknown, seen: (v: unknown) => boolean): boolean {
  if (seen(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some((inner) => visit(inner, seen));
}
const hasBigInt = (value: unknown) => visit(value, (v) => typeof v === "bigint");
const isView = (value: unknown) => ArrayBuffer.isView(value);
const containsView = (value: unknown) => visit(value, isView);

test("long lists and typed arrays of any length, also at the borders of slices", () => {
  for (const n of [0, 1, 2047, 2048, 2049, 9_999, 10_000, 10_001, 30_000]) {
    const list = Array.from({ length: n }, (_, i) => (i % 7 === 0 ? Number.NaN : i / 3));
    expect(text({ list })).toBe(JSON.stringify({ list }));
    expect(text(Float64Array.from(list))).toBe(JSON.stringify(list));
    expect(text(Uint8Array.from(list.map(Math.floor)))).toBe(
      JSON.stringify([...Uint8Array.from(list.map(Math.floor))]),
    );
  }
});

test("bytes as base64 and flags as booleans, at the borders of slices", () => {
  for (const n of [0, 1, 2, 3, 2047, 2048, 2049, 196_607, 196_608, 196_609, 600_001]) {
    const bytes = Uint8Array.from({ length: n }, (_, i) => i * 7);
    const view = new Uint8Array([9, ...bytes]).subarray(1); // not at the start of its buffer
    expect(text({ data: new Base64Bytes(view) })).toBe(JSON.stringify({ data: Buffer.from(bytes).toString("base64") }));
    const flags = bytes.map((byte) => byte & 1);
    expect(text([new FlagBytes(flags)])).toBe(JSON.stringify([Array.from(flags, (flag) => flag === 1)]));
  }
});

test("long strings with surrogate pairs across every border", () => {
  for (const pad of ["", "x"]) {
    const value = pad + '\u{1F332}"\n'.repeat(700_000);
    expect(JSON.parse(text({ data: value }))).toEqual({ data: value });
  }
});

test("chunks are small, and the first one comes before the rest is made", () => {
  const value = {
    points: Array.from({ length: 200_000 }, (_, i) => [i, i + 0.5, -i]),
    big: new Float64Array(300_000).fill(1 / 3),
  };
  let largest = 0;
  for (const chunk of jsonChunks(value)) largest = Math.max(largest, chunk.length);
  expect(largest).toBeLessThan(512 * 1024);
  let made = 0;
  const row = {
    toJSON: () => {
      made += 1;
      return `row ${made}`;
    },
  };
  const rest = jsonChunks(new Array(100_000).fill(row));
  expect(rest.next().value?.length).toBeGreaterThan(1000);
  expect(made).toBeLessThan(50_000);
  expect([...rest].length).toBeGreaterThan(1);
  expect(made).toBe(100_000);
});

test("values without a JSON form are an error", () => {
  expect(() => text({ id: 1n })).toThrow(/bigint 1/);
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(() => text(cycle)).toThrow(/nested deeper/);
});

test("lists made while they are written, at the borders of slices", () => {
  for (const n of [0, 1, 63, 64, 65, 129]) {
    const at = (i: number) => ({ i, half: i / 2, lost: Number.NaN, named: `"${i}"` });
    const list = Array.from({ length: n }, (_, i) => at(i));
    expect(text({ cells: new LazyList(n, at), after: 1 })).toBe(JSON.stringify({ cells: list, after: 1 }));
  }
});
