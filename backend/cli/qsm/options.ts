import { RADIUS_MODELS, type RadiusModel } from "../../../shared/contract/qsm.ts";
import { AppError } from "../../../shared/errors.ts";
import { parsePictureSize, type ReadingOptions } from "../analyze/options.ts";
import { checkedReading } from "../run/inputs.ts";

const DEFAULT_TWIG_MM = 4.23;
const PICTURE_PX = 900;

/** Options from commander, before their values are checked. */
export interface RawQsmOptions {
  readonly out: string;
  readonly speciesTwig?: string;
  readonly radiusModel?: string;
  readonly units?: string;
  readonly columns?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface QsmOptions {
  readonly out: string;
  readonly twig_radius_mm: number;
  readonly radius_model: RadiusModel;
  readonly reading: ReadingOptions;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

/** Errors: invalid_argument. */
export function checkedQsm(raw: RawQsmOptions): QsmOptions {
  const { speciesTwig, radiusModel = "tapered", pictureSize } = raw;
  const radius_model = RADIUS_MODELS.find((known) => known === radiusModel);
  if (!radius_model)
    throw new AppError("invalid_argument", `--radius-model "${radiusModel}" is not one of ${RADIUS_MODELS.join(", ")}`);
  const twig = speciesTwig === undefined ? DEFAULT_TWIG_MM : Number(speciesTwig);
  if (!(Number.isFinite(twig) && twig > 0 && twig <= 100))
    throw new AppError(
      "invalid_argument",
      `--species-twig "${speciesTwig}" must be a radius in mm, above 0 and at most 100`,
    );
  return {
    out: raw.out,
    twig_radius_mm: twig,
    radius_model,
    reading: checkedReading(raw),
    pictureSize: pictureSize === undefined ? PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}
