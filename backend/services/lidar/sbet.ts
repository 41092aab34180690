import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../../shared/errors.ts";
import { BLOCK_BYTES } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";

/*
 * Smoothed best estimate of trajectory (SBET): records of 17 little-endian float64, no header.
 *
 * | number | meaning |
 * |---|---|
 * | 0 | time, seconds |
 * | 1, 2 | latitude, longitude, radians |
 * | 3 | height above the ellipsoid, metres |
 * | 4 to 6 | velocity, m/s |
 * | 7, 8, 9 | roll, pitch, heading, radians |
 * | 10 to 16 | wander angle, accelerations, angular rates |
 */
export const SBET_RECORD_BYTES = 136;

const HALF_TURN = Math.PI * (1 + 1e-6);
/** Headings may go on counting after a full turn; in degrees most lie beyond. */
const MOST_HEADING = 4 * Math.PI;

export interface SbetRecord {
  readonly time_s: number;
  readonly latitude_rad: number;
  readonly longitude_rad: number;
  readonly height_m: number;
  readonly roll_rad: number;
  readonly pitch_rad: number;
  readonly heading_rad: number;
}

export interface Sbet {
  readonly record_count: number;
  /** Every stride-th record, and the last one. */
  readonly kept: readonly SbetRecord[];
  readonly stride: number;
  /** Of all records; longitudes are followed across the 180th meridian, so that they may exceed pi. */
  readonly mean_latitude_rad: number;
  readonly mean_longitude_rad: number;
  readonly longitude_span_rad: number;
}

/** Reads a trajectory. Errors: invalid_file, naming the record; any of the file system. */
export async function readSbet(path: string, name: string, target: number, job: Job): Promise<Sbet> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size === 0) throw new AppError("invalid_file", `${name} is empty`);
    if (size % SBET_RECORD_BYTES !== 0) {
      throw new AppError(
        "invalid_file",
        `${name} has ${size} bytes, which is not a multiple of the ${SBET_RECORD_BYTES} bytes of a record`,
      );
    }
    const count = size / SBET_RECORD_BYTES;
    const sums = new Sums(name, Math.ceil(count / target), count);
    await eachRecord(file, SBET_RECORD_BYTES, count, job, (view, at, i) => sums.add(view, at, i));
    return sums.result();
  } finally {
    await file.close();
  }
}

class Sums {
  readonly kept: SbetRecord[] = [];
  #latitude = 0;
  #longitude = 0;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;
  #first = 0;

  constructor(
    readonly name: string,
    readonly stride: number,
    readonly count: number,
  ) {}

  add(view: DataView, at: number, i: number): void {
    const value = (k: number) => view.getFloat64(at + 8 * k, true);
    const latitude_rad = value(1);
    const raw = value(2);
    if (!(Math.abs(latitude_rad) <= Math.PI / 2) || !(Math.abs(raw) <= 2 * Math.PI)) {
      throw this.#bad(i, `latitude ${latitude_rad} and longitude ${raw}, which are no angles in radians`);
    }
    if (i === 0) this.#first = raw;
    const longitude_rad = raw - 2 * Math.PI * Math.round((raw - this.#first) / (2 * Math.PI));
    this.#latitude += latitude_rad;
    this.#longitude += longitude_rad;
    this.#least = Math.min(this.#least, longitude_rad);
    this.#most = Math.max(this.#most, longitude_rad);
    const [time_s, height_m, roll_rad, pitch_rad, heading_rad] = [value(0), value(3), value(7), value(8), value(9)];
    if (![time_s, height_m, roll_rad, pitch_rad, heading_rad].every(Number.isFinite)) {
      throw this.#bad(i, "a time, height or attitude that is not finite");
    }
    if (Math.abs(roll_rad) > HALF_TURN || Math.abs(pitch_rad) > HALF_TURN / 2 || Math.abs(heading_rad) > MOST_HEADING) {
      const attitude = `roll ${roll_rad}, pitch ${pitch_rad} and heading ${heading_rad}`;
      throw this.#bad(i, `${attitude}, which are no angles in radians`);
    }
    if (i % this.stride !== 0 && i !== this.count - 1) return;
    this.kept.push({ time_s, latitude_rad, longitude_rad, height_m, roll_rad, pitch_rad, heading_rad });
  }

  #bad(i: number, what: string): AppError {
    return new AppError("invalid_file", `${this.name}: record ${i} has ${what}`);
  }

  result(): Sbet {
    return {
      record_count: this.count,
      kept: this.kept,
      stride: this.stride,
      mean_latitude_rad: this.#latitude / this.count,
      mean_longitude_rad: this.#longitude / this.count,
      longitude_span_rad: this.#most - this.#least,
    };
  }
}

/** Numbers of a record of an accuracy file (SMRMSG). */
const ACCURACY_LAYOUTS = [10, 17, 9];

/**
 * The largest position error of an accuracy file, metres: the root of the sum of the squares of its north, east and down
 * errors (numbers 1 to 3 of a record; number 0 is the time). Errors: a sentence about the file.
 */
export async function worstPositionError(path: string, job: Job): Promise<number> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    for (const numbers of ACCURACY_LAYOUTS) {
      if (size === 0 || size % (8 * numbers) !== 0) continue;
      const worst = await worstOf(file, 8 * numbers, size / (8 * numbers), job);
      if (worst !== null) return worst;
    }
  } finally {
    await file.close();
  }
  throw new AppError("invalid_file", "it has no records of 10, 17 or 9 numbers with increasing times");
}

/** Null if the times do not increase, or errors are no lengths: the records have another size. */
async function worstOf(file: FileHandle, bytes: number, count: number, job: Job): Promise<number | null> {
  let worst = 0;
  let before = Number.NEGATIVE_INFINITY;
  let fits = true;
  await eachRecord(file, bytes, count, job, (view, at) => {
    const time = view.getFloat64(at, true);
    const errors = [1, 2, 3].map((k) => view.getFloat64(at + 8 * k, true));
    fits &&= time > before && errors.every((error) => error >= 0 && Number.isFinite(error));
    before = time;
    worst = Math.max(worst, Math.hypot(...errors));
  });
  return fits ? worst : null;
}

/** Calls `read` for every record, block by block: the event loop runs between them. */
async function eachRecord(
  file: FileHandle,
  bytes: number,
  count: number,
  job: Job,
  read: (view: DataView, at: number, i: number) => void,
): Promise<void> {
  const together = Math.max(1, Math.floor(BLOCK_BYTES / 8 / bytes));
  const block = Buffer.alloc(Math.min(together, count) * bytes);
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  for (let first = 0; first < count; first += together) {
    job.checkpoint();
    const records = Math.min(together, count - first);
    await fill(file, block.subarray(0, records * bytes), first * bytes);
    for (let i = 0; i < records; i += 1) read(view, i * bytes, first + i);
  }
}

async function fill(file: FileHandle, out: Buffer, position: number): Promise<void> {
  for (let at = 0; at < out.length; ) {
    const { bytesRead } = await file.read(out, at, out.length - at, position + at);
    if (bytesRead === 0) throw new AppError("invalid_file", "the file became shorter while it was read");
    at += bytesRead;
  }
}
