import type { DType } from "../../native/core/handles.ts";

interface Integer {
  readonly signed: boolean;
  readonly bits: number;
}

const INTEGERS: Readonly<Partial<Record<DType, Integer>>> = {
  u8: { signed: false, bits: 8 },
  i8: { signed: true, bits: 8 },
  u16: { signed: false, bits: 16 },
  i16: { signed: true, bits: 16 },
  u32: { signed: false, bits: 32 },
  i32: { signed: true, bits: 32 },
  u64: { signed: false, bits: 64 },
  i64: { signed: true, bits: 64 },
};

/**
 * The narrowest type that can represent every value of all types. Integers stay integers; u64 with a signed type, and a
 * 32-bit or wider integer with a float, become f64, exact up to 2^53.
 */
export function commonDtype(dtypes: readonly DType[]): DType {
  const [first, ...rest] = dtypes;
  if (!first) throw new Error("no types");
  return rest.reduce(wider, first);
}

function wider(a: DType, b: DType): DType {
  if (a === b) return a;
  const [left, right] = [INTEGERS[a], INTEGERS[b]];
  if (left && right) return widerInteger(left, right);
  if (a === "f64" || b === "f64") return "f64";
  const bits = (left ?? right)?.bits ?? 0; // the other type is f32, whose 24 bits represent 16-bit integers
  return bits <= 16 ? "f32" : "f64";
}

function widerInteger(a: Integer, b: Integer): DType {
  const signed = a.signed || b.signed;
  const need = ({ signed: s, bits }: Integer) => (signed && !s ? bits + 1 : bits);
  const bits = Math.max(need(a), need(b));
  if (bits > 64) return "f64";
  const width = bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
  return `${signed ? "i" : "u"}${width}` as DType;
}
