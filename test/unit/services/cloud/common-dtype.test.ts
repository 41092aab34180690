import { expect, test } from "vitest";
import type { DType } from "../../../../backend/native/core/handles.ts";
import { commonDtype } from "../../../../backend/services/cloud/common-dtype.ts";

const INTEGERS = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"] as const;
const SCALARS = [...INTEGERS, "f32", "f64"] as const;
type Scalar = (typeof SCALARS)[number];

/** Every integer from -2^below to 2^above is held exactly. */
const EXACT: Record<Scalar, { below: number; above: number }> = {
  u8: { below: -1, above: 8 },
  i8: { below: 7, above: 7 },
  u16: { below: -1, above: 16 },
  i16: { below: 15, above: 15 },
  u32: { below: -1, above: 32 },
  i32: { below: 31, above: 31 },
  u64: { below: -1, above: 64 },
  i64: { below: 63, above: 63 },
  f32: { below: 24, above: 24 },
  f64: { below: 53, above: 53 },
};
const BYTES: Record<Scalar, number> = { u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, u64: 8, i64: 8, f32: 4, f64: 8 };
const isFloat = (dtype: Scalar) => dtype.startsWith("f");
const holds = (wide: Scalar, dtype: Scalar) =>
  isFloat(dtype)
    ? isFloat(wide) && BYTES[wide] >= BYTES[dtype]
    : EXACT[wide].below >= EXACT[dtype].below && EXACT[wide].above >= EXACT[dtype].above;

const pairs = SCALARS.flatMap((a) => SCALARS.map((b) => [a, b] as const));

test.each(pairs)("%s and %s: the narrowest type for both, an integer if there is one", (a, b) => {
  const found = commonDtype([a, b]) as Scalar;
  expect(commonDtype([b, a])).toBe(found);
  const fits = SCALARS.filter((dtype) => holds(dtype, a) && holds(dtype, b));
  if (fits.length === 0) return expect(found).toBe("f64"); // 64-bit integers beside what they do not fit: to 2^53
  const integers = fits.filter((dtype) => !isFloat(dtype));
  const best = isFloat(a) || isFloat(b) ? fits : integers;
  expect(best).toContain(found);
  expect(BYTES[found]).toBe(Math.min(...best.map((dtype) => BYTES[dtype])));
});

test("one type stays itself, triples too; three are as wide as the widest pair needs", () => {
  for (const dtype of [...SCALARS, "rgb16", "vec3d"] as DType[]) expect(commonDtype([dtype, dtype])).toBe(dtype);
  expect(commonDtype(["u8"])).toBe("u8");
  expect(commonDtype(["u8", "i8", "u16"])).toBe("i32");
  expect(commonDtype(["u8", "u8", "f32"])).toBe("f32");
  expect(() => commonDtype([])).toThrow();
});

test("the order of types does not change the values that they can represent", () => {
  for (const a of SCALARS)
    for (const b of SCALARS)
      for (const c of INTEGERS) {
        const found = commonDtype([a, b, c]) as Scalar;
        for (const part of [a, b, c]) expect(holds(found, part) || found === "f64", `${a} ${b} ${c}`).toBe(true);
      }
});
