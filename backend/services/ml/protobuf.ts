import { AppError } from "../../../shared/errors.ts";

/** A message, or the bytes of a field. */
export interface ProtoMessage {
  readonly bytes: Uint8Array;
  /** Fields that may still be read, of all messages inside one file. */
  readonly budget: { fields: number };
}

/** One field of a protobuf message; `bytes` of wire type 2, else the number. */
export interface ProtoField extends ProtoMessage {
  readonly number: number;
  readonly wire: number;
  readonly value: bigint;
}

const EMPTY = new Uint8Array(0);
const TEXT = new TextDecoder("utf-8", { fatal: true });

const damaged = (what: string): AppError => new AppError("invalid_file", `model.onnx is damaged: ${what}`);

class Reader {
  at = 0;
  constructor(readonly bytes: Uint8Array) {}

  varint(): bigint {
    const first = this.bytes[this.at];
    if (first !== undefined && first < 0x80) {
      this.at++;
      return BigInt(first);
    }
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw damaged("it ends inside a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value & 0xffff_ffff_ffff_ffffn;
    }
    throw damaged("a number has more than ten bytes");
  }

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) throw damaged("it ends inside a field");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/**
 * The fields of a message, in their order. Errors: invalid_file, also for more fields than the budget. Groups, which ONNX
 * does not use, are refused.
 */
export function* fieldsOf({ bytes, budget }: ProtoMessage): Generator<ProtoField> {
  const reader = new Reader(bytes);
  while (reader.at < bytes.length) {
    if (budget.fields-- <= 0) throw new AppError("invalid_file", "model.onnx has too many parts to be read");
    const key = reader.varint();
    const number = Number(key >> 3n);
    const wire = Number(key & 7n);
    if (number === 0 || number > 0x1fff_ffff) throw damaged(`a field has the number ${number}`);
    if (wire === 0) yield { number, wire, value: reader.varint(), bytes: EMPTY, budget };
    else if (wire === 1) yield { number, wire, value: 0n, bytes: reader.take(8), budget };
    else if (wire === 5) yield { number, wire, value: 0n, bytes: reader.take(4), budget };
    else if (wire === 2) yield { number, wire, value: 0n, bytes: reader.take(lengthOf(reader.varint())), budget };
    else throw damaged(`a field has the type ${wire}`);
  }
}

const lengthOf = (value: bigint): number => (value > 0x7fff_ffffn ? Number.MAX_SAFE_INTEGER : Number(value));

/** A string field. */
export function textOf({ wire, bytes }: ProtoField): string {
  if (wire !== 2) throw damaged("a text has another type");
  try {
    return TEXT.decode(bytes);
  } catch {
    throw damaged("a text is not UTF-8");
  }
}

/** An embedded message or the bytes of a bytes field. */
export function messageOf(field: ProtoField): ProtoMessage {
  if (field.wire !== 2) throw damaged("a part has another type");
  return field;
}

/** A signed number, as int32 and int64 fields have it. */
export function integerOf({ wire, value }: ProtoField): number {
  if (wire !== 0) throw damaged("a number has another type");
  return Number(BigInt.asIntN(64, value));
}

/** The first `most` numbers of a repeated integer field, packed or not. */
export function integersOf(field: ProtoField, most: number): number[] {
  if (field.wire === 0) return [integerOf(field)];
  const reader = new Reader(messageOf(field).bytes);
  const numbers: number[] = [];
  while (reader.at < reader.bytes.length && numbers.length < most)
    numbers.push(Number(BigInt.asIntN(64, reader.varint())));
  return numbers;
}
