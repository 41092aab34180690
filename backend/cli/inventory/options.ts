import { TREE_METHODS, type TreeMethod } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import { DEFAULT_SAMPLE_POINTS, parsePictureSize, parseSamplePoints, type ReadingOptions } from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { checkedReading, parseMetres } from "../run/inputs.ts";

/** Options from commander, before their values are checked. */
export interface RawInventoryOptions {
  readonly out: string;
  readonly method?: string;
  readonly breastHeight?: string;
  readonly minDbh?: string;
  readonly units?: string;
  readonly columns?: string;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface InventoryOptions {
  readonly out: string;
  /** undefined: by the kind of cloud. */
  readonly method: TreeMethod | undefined;
  /** Metres. */
  readonly breastHeight: number | undefined;
  /** Centimetres. */
  readonly minDbh: number | undefined;
  readonly reading: ReadingOptions;
  readonly points: number;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

function parseMethod(text: string): TreeMethod {
  const method = TREE_METHODS.find((name) => name === text.toLowerCase());
  if (!method) throw bad(`--method "${text}" is none of ${TREE_METHODS.join(", ")}`);
  return method;
}

function parseCentimetres(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= 0 && Number.isFinite(value)))
    throw bad(`--min-dbh "${text}" must be a number of centimetres from 0 on`);
  return value;
}

/** Errors: invalid_argument. */
export function checkedInventory(raw: RawInventoryOptions): InventoryOptions {
  const { method, breastHeight, minDbh, points, pictureSize } = raw;
  return {
    out: raw.out,
    method: method === undefined ? undefined : parseMethod(method),
    breastHeight: breastHeight === undefined ? undefined : parseMetres("--breast-height", breastHeight),
    minDbh: minDbh === undefined ? undefined : parseCentimetres(minDbh),
    reading: checkedReading(raw),
    points: points === undefined ? DEFAULT_SAMPLE_POINTS : parseSamplePoints(points),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}
