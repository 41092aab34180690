import { AppError } from "../../../shared/errors.ts";
import { MAX_RAYS_PER_PULSE } from "../../../shared/limits.ts";
import { wholeNumber } from "../analyze/options.ts";
import { COLUMN_FORMATS } from "../distance/options.ts";
import { parseMetres } from "../run/inputs.ts";

/** E57 alone stores where the scanner stood; the others need it again, as `lad --origin`. */
export const SCAN_FORMATS = [...COLUMN_FORMATS, "e57"] as const;
type ScanFormat = (typeof SCAN_FORMATS)[number];

/** Options from commander, before their values are checked. */
export interface RawScanOptions {
  readonly out: string;
  readonly scanner?: string;
  readonly positions?: string;
  readonly distance?: string;
  readonly height?: string;
  readonly step?: string;
  readonly seconds?: string;
  readonly rays?: string;
  readonly misses?: true;
  readonly seed?: string;
  readonly format?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface ScanOptions {
  readonly out: string;
  /** A plant, or a mesh file. */
  readonly plant: { readonly species: string; readonly age: number } | null;
  readonly scanner: string;
  readonly positions: number;
  /** Metres; undefined: from the size of the object. */
  readonly distance: number | undefined;
  readonly height: number;
  /** Degrees; undefined: that of the scanner. */
  readonly step: number | undefined;
  readonly seconds: number;
  /** undefined: 100, or 1 for a beam without width. */
  readonly rays: number | undefined;
  readonly misses: boolean;
  readonly seed: number;
  readonly format: ScanFormat;
  readonly force: boolean;
  readonly json: boolean;
}

const MAX_POSITIONS = 64;
const DEFAULT_HEIGHT_M = 1.5;
const bad = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument. */
export function checkedScan(object: string, raw: RawScanOptions): ScanOptions {
  const format = raw.format === undefined ? "las" : SCAN_FORMATS.find((name) => name === raw.format?.toLowerCase());
  if (!format) throw bad(`--format "${raw.format}" is not one of ${SCAN_FORMATS.join(", ")}`);
  const [, species = "", age = ""] = /^([A-Za-z]\w+):(\d+(?:\.\d+)?)$/.exec(object) ?? [];
  return {
    out: raw.out,
    plant: species === "" ? null : { species, age: Number(age) },
    scanner: raw.scanner ?? "generic",
    positions: raw.positions === undefined ? 1 : wholeNumber("--positions", raw.positions, 1, MAX_POSITIONS),
    distance: raw.distance === undefined ? undefined : parseMetres("--distance", raw.distance),
    height: raw.height === undefined ? DEFAULT_HEIGHT_M : parseHeight(raw.height),
    step: raw.step === undefined ? undefined : positive("--step", raw.step, "degrees", 10),
    seconds: raw.seconds === undefined ? 1 : positive("--seconds", raw.seconds, "seconds", 3600),
    rays: raw.rays === undefined ? undefined : wholeNumber("--rays", raw.rays, 1, MAX_RAYS_PER_PULSE),
    misses: raw.misses ?? false,
    seed: raw.seed === undefined ? 1 : wholeNumber("--seed", raw.seed, 0, Number.MAX_SAFE_INTEGER),
    format,
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}

function parseHeight(text: string): number {
  const metres = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(metres)) throw bad(`--height "${text}" must be a number of metres`);
  return metres;
}

function positive(option: string, text: string, unit: string, most: number): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value > 0 && value <= most)) throw bad(`${option} "${text}" must be above 0 and at most ${most} ${unit}`);
  return value;
}
