/** One record of a generated LAS file; what is absent is 0. */
export interface LasRow {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly intensity?: number;
  readonly return_number?: number;
  readonly number_of_returns?: number;
  readonly classification?: number;
  /** Whole degrees. */
  readonly scan_angle_rank?: number;
  readonly gps_time?: number;
  readonly rgb?: readonly [number, number, number];
  /** By name of the extra dimension. */
  readonly extra?: Readonly<Record<string, number>>;
}
export interface LasExtra {
  readonly name: string;
  readonly type: "u8" | "u16" | "i32" | "f32" | "f64";
  readonly description?: string;
  /** value = stored * scale + offset; the rows give what is stored. */
  readonly scale?: number;
  readonly offset?: number;
  readonly no_data?: number;
}
export interface LasOptions {
  readonly scale?: number;
  readonly offset?: readonly [number, number, number];
  readonly extras?: readonly LasExtra[];
  /** Bit 0: GPS time is adjusted standard time instead of seconds of the week. */
  readonly global_encoding?: number;
  /** Points the header claims; default: as many as there are. */
  readonly declared?: number;
  readonly wkt?: string;
  /** GeoTIFF key directory. */
  readonly geotiff?: readonly number[];
}

const TYPES = { u8: [1, 1], u16: [3, 2], i32: [6, 4], f32: [9, 4], f64: [10, 8] } as const; // extra-byte type, bytes
const HEADER = 227;
const RECORD = 34; // point format 3: time and colour

/** A LAS 1.2 file, point format 3, written field by field after the ASPRS specification 1.4 R15, sections 2.4 to 2.6. */
export function lasBytes(rows: readonly LasRow[], options: LasOptions = {}): Buffer {
  const { scale = 0.001, offset = [0, 0, 0], extras = [], global_encoding = 0, declared = rows.length } = options;
  const extraBytes = extras.reduce((sum, { type }) => sum + TYPES[type][1], 0);
  const records = [
    ...(extras.length > 0 ? [record("LASF_Spec", 4, extraPayload(extras))] : []),
    ...(options.wkt ? [record("LASF_Projection", 2112, Buffer.from(`${options.wkt}\0`))] : []),
    ...(options.geotiff
      ? [record("LASF_Projection", 34735, Buffer.from(Uint16Array.from(options.geotiff).buffer))]
      : []),
  ];
  const vlr = records.reduce((sum, { length }) => sum + length, 0);
  const stride = RECORD + extraBytes;
  const bytes = Buffer.alloc(HEADER + vlr + stride * rows.length);
  bytes.write("LASF", 0);
  bytes.writeUInt16LE(global_encoding, 6);
  bytes.writeUInt8(1, 24);
  bytes.writeUInt8(2, 25);
  bytes.writeUInt16LE(HEADER, 94);
  bytes.writeUInt32LE(HEADER + vlr, 96);
  bytes.writeUInt32LE(records.length, 100);
  bytes.writeUInt8(3, 104);
  bytes.writeUInt16LE(stride, 105);
  bytes.writeUInt32LE(declared, 107);
  for (const axis of [0, 1, 2] as const) {
    bytes.writeDoubleLE(scale, 131 + 8 * axis);
    bytes.writeDoubleLE(offset[axis], 155 + 8 * axis);
    const values = rows.map((row) => [row.x, row.y, row.z][axis] ?? 0);
    bytes.writeDoubleLE(Math.max(0, ...values), 179 + 16 * axis);
    bytes.writeDoubleLE(Math.min(0, ...values), 187 + 16 * axis);
  }
  Buffer.concat(records).copy(bytes, HEADER);
  for (const [i, row] of rows.entries()) writeRow(bytes, HEADER + vlr + i * stride, row, extras, scale, offset);
  return bytes;
}

function record(user: string, id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(54);
  head.write(user, 2);
  head.writeUInt16LE(id, 18);
  head.writeUInt16LE(payload.length, 20);
  return Buffer.concat([head, payload]);
}

function extraPayload(extras: readonly LasExtra[]): Buffer {
  const bytes = Buffer.alloc(192 * extras.length);
  for (const [i, { name, type, description = "", scale, offset, no_data }] of extras.entries()) {
    const at = 192 * i;
    const flags = (no_data === undefined ? 0 : 1) | (scale === undefined ? 0 : 8) | (offset === undefined ? 0 : 16);
    bytes.writeUInt8(TYPES[type][0], at + 2);
    bytes.writeUInt8(flags, at + 3);
    bytes.write(name, at + 4, 32);
    if (type.startsWith("f")) bytes.writeDoubleLE(no_data ?? 0, at + 40);
    else bytes.writeBigInt64LE(BigInt(no_data ?? 0), at + 40);
    bytes.writeDoubleLE(scale ?? 0, at + 112);
    bytes.writeDoubleLE(offset ?? 0, at + 136);
    bytes.write(description, at + 160, 32);
  }
  return bytes;
}

function writeRow(
  bytes: Buffer,
  at: number,
  row: LasRow,
  extras: readonly LasExtra[],
  scale: number,
  offset: readonly number[],
): void {
  for (const [axis, value] of [row.x, row.y, row.z].entries()) {
    bytes.writeInt32LE(Math.round((value - (offset[axis] ?? 0)) / scale), at + 4 * axis);
  }
  bytes.writeUInt16LE(row.intensity ?? 0, at + 12);
  bytes.writeUInt8((row.return_number ?? 0) | ((row.number_of_returns ?? 0) << 3), at + 14);
  bytes.writeUInt8(row.classification ?? 0, at + 15);
  bytes.writeInt8(row.scan_angle_rank ?? 0, at + 16);
  bytes.writeDoubleLE(row.gps_time ?? 0, at + 20);
  for (const [channel, value] of (row.rgb ?? [0, 0, 0]).entries()) bytes.writeUInt16LE(value, at + 28 + 2 * channel);
  let place = at + RECORD;
  for (const { name, type } of extras) {
    const value = row.extra?.[name] ?? 0;
    if (type === "u8") bytes.writeUInt8(value, place);
    else if (type === "u16") bytes.writeUInt16LE(value, place);
    else if (type === "i32") bytes.writeInt32LE(value, place);
    else if (type === "f32") bytes.writeFloatLE(value, place);
    else bytes.writeDoubleLE(value, place);
    place += TYPES[type][1];
  }
}

/** A LAS 1.2 file of `count` points, format 0, spread over a wavy square of 1 mm steps: made in well under a second. */
export function bigLasBytes(count: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(HEADER + 20 * count);
  lasBytes([]).copy(bytes);
  bytes.writeUInt8(0, 104);
  bytes.writeUInt16LE(20, 105);
  bytes.writeUInt32LE(count, 107);
  const side = Math.ceil(Math.sqrt(count));
  let state = (Math.imul(seed, 2654435761) >>> 0) | 1;
  for (let i = 0; i < count; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const at = HEADER + 20 * i;
    bytes.writeInt32LE((i % side) * 20 + (state & 15), at);
    bytes.writeInt32LE(Math.floor(i / side) * 20 + ((state >>> 4) & 15), at + 4);
    bytes.writeInt32LE((state >>> 8) & 4095, at + 8);
    bytes.writeUInt16LE(state & 0xffff, at + 12);
  }
  for (const [axis, max] of [side * 0.02, side * 0.02, 4.096].entries()) bytes.writeDoubleLE(max, 179 + 16 * axis);
  return bytes;
}
