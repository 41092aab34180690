import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import { LEAF_ANGLE_NAMES } from "../../../shared/contract/leaf-projection.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { parsePictureSize, type ReadingOptions } from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { checkedReading, parseMetres } from "../run/inputs.ts";

/** Options from commander, before their values are checked. */
export interface RawLadOptions {
  readonly out: string;
  readonly voxel: string;
  readonly origin?: readonly string[];
  readonly g: string;
  readonly lmax?: string;
  readonly multi?: true;
  readonly leafIntensity?: string;
  readonly box?: string;
  readonly level?: true;
  readonly minHits?: string;
  readonly leafWidth?: string;
  readonly occlusion?: string;
  readonly fill?: true;
  readonly wood?: true;
  readonly views?: true;
  readonly rangeNoise?: string;
  readonly units?: string;
  readonly columns?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

type Projection = Pick<LadRequest, "gtheta_override" | "gtheta" | "gtheta_spec" | "gtheta_per_beam">;
/** G from an angular triangulation of the scans. */
const TRIANGLES = "triangles";

export interface LadOptions {
  readonly out: string;
  /** Metres. */
  readonly voxel: number;
  readonly origins: readonly Triple[];
  readonly g: string;
  readonly projection: Projection;
  /** Longest edge of a triangle; undefined: the default of the service. */
  readonly lmax: number | undefined;
  readonly multi: boolean;
  /** undefined: the returns of a pulse count alike. */
  readonly leafIntensity: number | undefined;
  /** True world. */
  readonly box: { readonly min: Triple; readonly max: Triple } | undefined;
  /** Columns stay level also where the voxels hold the ground. */
  readonly level: boolean;
  /** undefined: the defaults of the service. */
  readonly minHits: number | undefined;
  readonly leafWidth: number | undefined;
  readonly occlusion: number | undefined;
  readonly fill: boolean;
  /** Leaves and wood apart. */
  readonly wood: boolean;
  /** Leaf area by what several scanners see, given the noise of their ranges, metres; undefined: not asked for. */
  readonly views: { readonly range_noise_m: number } | undefined;
  readonly reading: ReadingOptions;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

/** "1,2,3" as numbers. Errors: invalid_argument for another count. */
function numbers(option: string, text: string, count: number): number[] {
  const values = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (values.length !== count || !values.every(Number.isFinite))
    throw bad(`${option} "${text}" must be ${count} numbers, separated by commas`);
  return values;
}

/**
 * A number, the name of a distribution, which gives each beam its own G (that of spherical leaves is the same for all), or
 * "triangles". Errors: invalid_argument.
 */
export function parseProjection(text: string): Projection {
  const one = { gtheta_per_beam: false, gtheta_spec: null };
  if (text.toLowerCase() === TRIANGLES) return { ...one, gtheta_override: false, gtheta: null };
  const law = LEAF_ANGLE_NAMES.find((name) => name === text.toLowerCase());
  const kind = "dewit" as const;
  if (law) {
    const spec = { kind, dewit: law, value: null, beta_mu: null, beta_nu: null };
    const gtheta_spec = { spatial: "constant" as const, spec, profile: null };
    return { gtheta_override: true, gtheta: null, gtheta_spec, gtheta_per_beam: law !== "spherical" };
  }
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value > 0 && value <= 1))
    throw bad(
      `--g "${text}" must be a number above 0 and at most 1, or one of ${LEAF_ANGLE_NAMES.join(", ")}, ${TRIANGLES}`,
    );
  return { ...one, gtheta_override: true, gtheta: value };
}

function parseBox(text: string): LadOptions["box"] {
  const [x0 = 0, y0 = 0, z0 = 0, x1 = 0, y1 = 0, z1 = 0] = numbers("--box", text, 6);
  if (!(x0 < x1 && y0 < y1 && z0 < z1)) throw bad(`--box "${text}" must have each minimum below its maximum`);
  return { min: [x0, y0, z0], max: [x1, y1, z1] };
}

function parseCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (!(count >= 1)) throw bad(`--min-hits "${text}" must be a whole number from 1 on`);
  return count;
}

function parseIntensity(text: string, multi: boolean): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw bad(`--leaf-intensity "${text}" must be a number above 0`);
  if (!multi) throw bad("--leaf-intensity needs --multi: it weighs the returns of a pulse");
  return value;
}

function parseViews({ views, rangeNoise }: RawLadOptions): LadOptions["views"] {
  if (!views && rangeNoise !== undefined) throw bad("--range-noise needs --views");
  return views ? { range_noise_m: rangeNoise === undefined ? 0 : parseMetres("--range-noise", rangeNoise) } : undefined;
}

/** Errors: invalid_argument. */
export function checkedLad(raw: RawLadOptions): LadOptions {
  const { origin = [], box, minHits, leafIntensity, leafWidth, occlusion, pictureSize } = raw;
  const metres = (option: string, text: string | undefined) =>
    text === undefined ? undefined : parseMetres(option, text);
  return {
    out: raw.out,
    voxel: parseMetres("--voxel", raw.voxel),
    origins: origin.map((text) => numbers("--origin", text, 3) as unknown as Triple),
    g: raw.g,
    projection: parseProjection(raw.g),
    lmax: metres("--lmax", raw.lmax),
    multi: raw.multi ?? false,
    leafIntensity: leafIntensity === undefined ? undefined : parseIntensity(leafIntensity, raw.multi ?? false),
    box: box === undefined ? undefined : parseBox(box),
    level: raw.level ?? false,
    minHits: minHits === undefined ? undefined : parseCount(minHits),
    leafWidth: metres("--leaf-width", leafWidth),
    occlusion: metres("--occlusion", occlusion),
    fill: raw.fill ?? false,
    wood: raw.wood ?? false,
    views: parseViews(raw),
    reading: checkedReading(raw),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}
