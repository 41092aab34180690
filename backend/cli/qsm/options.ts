import { RADIUS_MODELS, type RadiusModel } from "../../../shared/contract/qsm.ts";
import { LEAF_TEXTURE_NAMES } from "../../../shared/contract/qsm-leaves.ts";
import { AppError } from "../../../shared/errors.ts";
import { parsePictureSize, type ReadingOptions } from "../analyze/options.ts";
import { checkedReading, parseMetres } from "../run/inputs.ts";

const DEFAULT_TWIG_MM = 4.23;
const PICTURE_PX = 900;
/** Picture, length and spacing of leaves without options. */
const DEFAULT_LEAVES: LeafOptions = { texture: "AppleLeaf.png", leaf_size_m: 0.08, leaf_spacing: 0.05 };

/** Options from commander, before their values are checked. */
export interface RawQsmOptions {
  readonly out: string;
  readonly speciesTwig?: string;
  readonly radiusModel?: string;
  /** False: --no-align. */
  readonly align?: boolean;
  /** True: without a name. */
  readonly leaves?: string | true;
  readonly leafSize?: string;
  readonly leafSpacing?: string;
  readonly units?: string;
  readonly up?: string;
  readonly columns?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

/** Leaves that are put on the model, metres. */
export interface LeafOptions {
  readonly texture: (typeof LEAF_TEXTURE_NAMES)[number];
  readonly leaf_size_m: number;
  readonly leaf_spacing: number;
}

export interface QsmOptions {
  readonly out: string;
  readonly twig_radius_mm: number;
  readonly radius_model: RadiusModel;
  /** Scans that show the tree at different places are moved onto each other. */
  readonly align: boolean;
  /** Null: none. */
  readonly leaves: LeafOptions | null;
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
    align: raw.align ?? true,
    leaves: checkedLeaves(raw),
    reading: checkedReading(raw),
    pictureSize: pictureSize === undefined ? PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}

function checkedLeaves({ leaves, leafSize, leafSpacing }: RawQsmOptions): LeafOptions | null {
  if (leaves === undefined) {
    const stray = Object.entries({ "--leaf-size": leafSize, "--leaf-spacing": leafSpacing }).find(([, text]) => text);
    if (stray) throw new AppError("invalid_argument", `${stray[0]} belongs to --leaves; give both, or leave it out`);
    return null;
  }
  const texture = LEAF_TEXTURE_NAMES.find((name) => name === leaves || name === `${leaves}.png`);
  if (leaves !== true && !texture)
    throw new AppError("invalid_argument", `--leaves "${leaves}" is not one of ${LEAF_TEXTURE_NAMES.join(", ")}`);
  return {
    texture: texture ?? DEFAULT_LEAVES.texture,
    leaf_size_m: leafSize === undefined ? DEFAULT_LEAVES.leaf_size_m : parseMetres("--leaf-size", leafSize),
    leaf_spacing: leafSpacing === undefined ? DEFAULT_LEAVES.leaf_spacing : parseMetres("--leaf-spacing", leafSpacing),
  };
}
