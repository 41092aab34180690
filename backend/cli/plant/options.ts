import { basename, dirname, extname, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { DEFAULT_PLANT_AGE_DAYS, DEFAULT_PLANT_SPACING_M, MAX_CANOPY_PLANTS } from "../../../shared/limits.ts";
import { parsePictureSize, wholeNumber } from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { parseMetres } from "../run/inputs.ts";

/** STL has neither colours nor textures. */
export const PLANT_FORMATS = ["glb", "obj", "ply"] as const;
export type PlantFormat = (typeof PLANT_FORMATS)[number];

/** Options from commander, before their values are checked. */
export interface RawPlantOptions {
  readonly out: string;
  readonly age?: string;
  readonly seed?: string;
  readonly canopy?: string;
  readonly spacing?: string;
  readonly picture?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface PlantOptions {
  /** The mesh file, absolute. */
  readonly file: string;
  readonly format: PlantFormat;
  readonly age: number;
  /** null = the service draws one. */
  readonly seed: number | null;
  readonly canopy: { readonly count: readonly [number, number]; readonly spacing: readonly [number, number] } | null;
  /** The picture, absolute, in the folder of the mesh. */
  readonly picture: string | null;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument. */
export function checkedPlant(raw: RawPlantOptions): PlantOptions {
  const extension = extname(raw.out).slice(1).toLowerCase();
  const format = PLANT_FORMATS.find((known) => known === extension);
  if (!format)
    throw bad(`--out "${raw.out}" must be a file that ends with ${PLANT_FORMATS.map((name) => `.${name}`).join(", ")}`);
  const file = resolve(raw.out);
  if (raw.spacing !== undefined && raw.canopy === undefined)
    throw bad("--spacing belongs to --canopy; give both, or leave it out");
  return {
    file,
    format,
    age: raw.age === undefined ? DEFAULT_PLANT_AGE_DAYS : parseAge(raw.age),
    seed: raw.seed === undefined ? null : wholeNumber("--seed", raw.seed, 0, Number.MAX_SAFE_INTEGER),
    canopy: raw.canopy === undefined ? null : { count: parseCounts(raw.canopy), spacing: parseSpacing(raw.spacing) },
    picture: raw.picture === undefined ? null : parsePicture(raw.picture, file),
    pictureSize: raw.pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(raw.pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}

function parseAge(text: string): number {
  const days = text.trim() === "" ? Number.NaN : Number(text);
  if (!(days >= 0 && Number.isFinite(days))) throw bad(`--age "${text}" must be 0 or more days`);
  return days;
}

function parseCounts(text: string): [number, number] {
  const [, x = "", y = ""] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  const count: [number, number] = [Number(x), Number(y)];
  if (!(count[0] > 0 && count[1] > 0)) throw bad(`--canopy "${text}" must be two whole numbers above 0, such as 5x5`);
  if (count[0] * count[1] > MAX_CANOPY_PLANTS)
    throw bad(`--canopy "${text}" has more than the ${MAX_CANOPY_PLANTS} plants that a canopy may have`);
  return count;
}

function parseSpacing(text: string | undefined): [number, number] {
  if (text === undefined) return [DEFAULT_PLANT_SPACING_M, DEFAULT_PLANT_SPACING_M];
  const parts = text.split("x").map((part) => parseMetres("--spacing", part));
  const [x = 0, y = x] = parts;
  if (parts.length > 2) throw bad(`--spacing "${text}" must be one distance, or two such as 0.75x0.2`);
  return [x, y];
}

function parsePicture(text: string, file: string): string {
  if (extname(text).toLowerCase() !== ".png") throw bad(`--picture "${text}" must be a file that ends with .png`);
  const picture = resolve(text);
  if (dirname(picture) !== dirname(file))
    throw bad(`--picture "${text}" must lie in the folder of --out "${basename(file)}", ${dirname(file)}`);
  return picture;
}
