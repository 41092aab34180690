import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { AppError } from "../../../shared/errors.ts";
import { AT, has64, type LasLayout, readLayout } from "./las-layout.ts";
import type { Rectangle } from "./plan-document.ts";

const BLOCK_RECORDS = 1 << 16;
/** Point formats without GPS time. */
const WITHOUT_TIME: ReadonlySet<number> = new Set([0, 2]);

/** Blocks of records, in order. Each block replaces the one before: its bytes are gone then. */
export async function* recordBlocks(file: FileHandle, { data, stride, count }: LasLayout): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(Math.min(BLOCK_RECORDS, count) * stride);
  for (let first = 0; first < count; first += BLOCK_RECORDS) {
    const bytes = block.subarray(0, Math.min(BLOCK_RECORDS, count - first) * stride);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, data + first * stride);
    if (bytesRead < bytes.length) throw new AppError("invalid_file", "the file ends within its points");
    yield bytes;
  }
}

/**
 * Whether a record's point belongs to a rectangle: edges are moved by half a step of the coordinates, so that no rounding
 * decides about a point on an edge, and the rectangle beside it has it or not the other way round.
 */
export function insideOf({ scale, offset }: Pick<LasLayout, "scale" | "offset">, box: Rectangle) {
  const ticks = (value: number, axis: 0 | 1) => Math.ceil((value - offset[axis]) / scale[axis] - 0.5);
  const [x0, y0, x1, y1] = [ticks(box[0], 0), ticks(box[1], 1), ticks(box[2], 0), ticks(box[3], 1)];
  return (bytes: Buffer, at: number): boolean => {
    const x = bytes.readInt32LE(at);
    const y = bytes.readInt32LE(at + 4);
    return x >= x0 && x < x1 && y >= y0 && y < y1;
  };
}

/** Writes the points of a rectangle from several files, in their order, to one. Returns their number. */
export async function sliceLas(
  paths: readonly string[],
  box: Rectangle,
  out: string,
  signal: AbortSignal,
): Promise<number> {
  const target = await open(out, "wx");
  try {
    const written = new Written();
    for (const path of paths) {
      const file = await open(path);
      try {
        await written.append(file, path, box, target, signal);
      } finally {
        await file.close();
      }
    }
    await written.finish(target);
    return written.count;
  } finally {
    await target.close();
  }
}

/** The file that slices are joined in; its header is that of the first. */
class Written {
  count = 0;
  #first: LasLayout | undefined;
  #at = 0;
  readonly #min = [Infinity, Infinity, Infinity];
  readonly #max = [-Infinity, -Infinity, -Infinity];

  async append(file: FileHandle, path: string, box: Rectangle, target: FileHandle, signal: AbortSignal): Promise<void> {
    const layout = await readLayout(file, path);
    this.#first ??= layout;
    const steps = stepsTo(this.#first, layout, path);
    const moved = steps.some((step) => step !== 0);
    const inside = insideOf(layout, box);
    if (this.#at === 0) {
      await target.write(layout.head, 0, layout.head.length, 0);
      this.#at = layout.head.length;
    }
    for await (const bytes of recordBlocks(file, layout)) {
      signal.throwIfAborted();
      let kept = 0;
      for (let at = 0; at < bytes.length; at += layout.stride) {
        if (!inside(bytes, at)) continue;
        if (kept < at) bytes.copyWithin(kept, at, at + layout.stride);
        if (moved)
          for (const [axis, step] of steps.entries())
            bytes.writeInt32LE(bytes.readInt32LE(kept + 4 * axis) + step, kept + 4 * axis);
        this.#grow(bytes, kept);
        kept += layout.stride;
      }
      await target.write(bytes, 0, kept, this.#at);
      this.#at += kept;
      this.count += kept / layout.stride;
    }
  }

  #grow(bytes: Buffer, at: number): void {
    for (let axis = 0; axis < 3; axis += 1) {
      const value = bytes.readInt32LE(at + 4 * axis);
      if (value < (this.#min[axis] as number)) this.#min[axis] = value;
      if (value > (this.#max[axis] as number)) this.#max[axis] = value;
    }
  }

  /** Counts and bounds of the header; records behind the points are left out. */
  async finish(target: FileHandle): Promise<void> {
    if (!this.#first || this.count === 0) return;
    const head = Buffer.from(this.#first.head);
    const wide = has64(head);
    const legacy = !wide || head.readUInt32LE(AT.legacy) > 0;
    head.writeUInt32LE(legacy ? this.count : 0, AT.legacy);
    head.fill(0, AT.legacy + 4, AT.legacy + 24);
    if (wide) {
      head.writeBigUInt64LE(BigInt(this.count), AT.count);
      head.fill(0, AT.count + 8, AT.count + 128);
      head.fill(0, AT.extended, AT.count); // extended records
    }
    for (let axis = 0; axis < 3; axis += 1) {
      const world = (ticks: number) =>
        ticks * head.readDoubleLE(AT.scale + 8 * axis) + head.readDoubleLE(AT.offset + 8 * axis);
      head.writeDoubleLE(world(this.#max[axis] as number), AT.bounds + 16 * axis);
      head.writeDoubleLE(world(this.#min[axis] as number), AT.bounds + 16 * axis + 8);
    }
    await target.write(head, 0, head.length, 0);
  }
}

/** Steps of the coordinates between the offsets of two files. Errors: invalid_file for records or grids that differ. */
function stepsTo(first: LasLayout, next: LasLayout, path: string): [number, number, number] {
  const differs = (what: string) =>
    new AppError("invalid_file", `${path} has other ${what} than the first file; write the files alike first`);
  const names = ({ extras }: LasLayout) => extras.map(({ name, type }) => `${name} ${type}`).join();
  if (first.stride !== next.stride || first.head[AT.format] !== next.head[AT.format] || names(first) !== names(next))
    throw differs("point records");
  const codings = ({ extras }: LasLayout) => extras.map(({ coding }) => coding).join();
  if (codings(first) !== codings(next)) throw differs("scales, offsets or no-data values of extra columns");
  const clock = ({ head }: LasLayout) => (WITHOUT_TIME.has(head[AT.format] ?? 0) ? 0 : (head[AT.encoding] ?? 0) & 1);
  if (clock(first) !== clock(next)) throw differs("GPS times (seconds of the week, or adjusted standard time)");
  const step = (axis: number) => {
    const at = (layout: LasLayout, start: number) => layout.head.readDoubleLE(start + 8 * axis);
    if (at(first, AT.scale) !== at(next, AT.scale)) throw differs("scale factors");
    const exact = (at(next, AT.offset) - at(first, AT.offset)) / at(first, AT.scale);
    if (Math.abs(exact - Math.round(exact)) > 1e-3) throw differs("offsets, which are no whole steps apart,");
    return Math.round(exact);
  };
  return [step(0), step(1), step(2)];
}

/** Reader of an extra column's value in a record. Errors: internal for a column that the file has not. */
export function columnReader({ extras }: LasLayout, name: string): (bytes: Buffer, at: number) => number {
  const column = extras.find((one) => one.name === name);
  const type = column?.type;
  if (!column) throw new AppError("internal", `the labelled tile has no column ${name}`);
  const { at: place } = column;
  if (type === 1) return (bytes, at) => bytes.readUInt8(at + place);
  if (type === 3) return (bytes, at) => bytes.readUInt16LE(at + place);
  if (type === 5) return (bytes, at) => bytes.readUInt32LE(at + place);
  if (type === 6) return (bytes, at) => bytes.readInt32LE(at + place);
  if (type === 9) return (bytes, at) => bytes.readFloatLE(at + place);
  throw new AppError("internal", `column ${name} has type ${type}`);
}

/** Writer of an extra column's value; as columnReader. */
export function columnWriter(layout: LasLayout, name: string): (bytes: Buffer, at: number, value: number) => void {
  const column = layout.extras.find((one) => one.name === name);
  if (column?.type === 5) return (bytes, at, value) => void bytes.writeUInt32LE(value, at + column.at);
  if (column?.type === 6) return (bytes, at, value) => void bytes.writeInt32LE(value, at + column.at);
  throw new AppError("internal", `column ${name} of the labelled tile has type ${column?.type}, not 32 bits`);
}
