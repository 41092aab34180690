import { WOOD_METHODS, type WoodMethod } from "../../../shared/contract/segment-wood.ts";
import { AppError } from "../../../shared/errors.ts";
import { DEFAULT_SAMPLE_POINTS, parsePictureSize, parseSamplePoints, type ReadingOptions } from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { checkedReading } from "../run/inputs.ts";

/** Options from commander, before their values are checked. */
export interface RawWoodOptions {
  readonly out: string;
  readonly method?: string;
  readonly model?: string;
  readonly woodBias?: string;
  readonly units?: string;
  readonly up?: string;
  readonly columns?: string;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface WoodOptions {
  readonly out: string;
  /** undefined: the default of the service. */
  readonly method: WoodMethod | undefined;
  /** Id of the network of method ml; null: the default one. */
  readonly model: string | null;
  readonly woodBias: number | undefined;
  readonly reading: ReadingOptions;
  readonly points: number;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

function parseMethod(text: string): WoodMethod {
  const method = WOOD_METHODS.find((name) => name === text.toLowerCase());
  if (!method) throw bad(`--method "${text}" is none of ${WOOD_METHODS.join(", ")}`);
  return method;
}

function parseBias(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= 0 && value <= 1)) throw bad(`--wood-bias "${text}" must be a number from 0 to 1`);
  return value;
}

/** Errors: invalid_argument. */
export function checkedWoodOptions(raw: RawWoodOptions): WoodOptions {
  const { model, woodBias, points, pictureSize } = raw;
  const method = raw.method === undefined ? undefined : parseMethod(raw.method);
  if (model !== undefined && method !== "ml") throw bad("--model needs --method ml");
  if (woodBias !== undefined && method === "ml") throw bad("--wood-bias does not act on --method ml");
  return {
    out: raw.out,
    method,
    model: model ?? null,
    woodBias: woodBias === undefined ? undefined : parseBias(woodBias),
    reading: checkedReading(raw),
    points: points === undefined ? DEFAULT_SAMPLE_POINTS : parseSamplePoints(points),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}
