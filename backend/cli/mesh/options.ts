import { basename, dirname, extname, join, resolve } from "node:path";
import { TRIANGULATION_METHODS } from "../../../shared/contract/triangulate.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_POISSON_DEPTH } from "../../../shared/limits.ts";
import { parsePictureSize, type ReadingOptions, wholeNumber } from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { MESH_FORMATS, type MeshFormat } from "../meshes/write.ts";
import { checkedReading, parseMetres } from "../run/inputs.ts";

export type MeshMethod = (typeof TRIANGULATION_METHODS)[number];

const MOST_RADII = 16;
const [FEWEST_NEIGHBORS, MOST_NEIGHBORS] = [3, 1000];

/** Options from commander, before their values are checked. */
export interface RawMeshOptions {
  readonly out: string;
  readonly method: string;
  readonly depth?: string;
  readonly radii?: string;
  readonly alpha?: string;
  readonly normalRadius?: string;
  readonly normalNeighbors?: string;
  readonly units?: string;
  readonly columns?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface MeshOptions {
  /** The mesh file, absolute. */
  readonly file: string;
  readonly format: MeshFormat;
  /** Folder of the report. */
  readonly out: string;
  readonly method: MeshMethod;
  /** Fields of the request for this method. */
  readonly tuning: Readonly<{
    depth?: number;
    radii?: number[];
    alpha?: number;
    normal_radius?: number;
    normal_max_nn?: number;
  }>;
  readonly reading: ReadingOptions;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

/** Which methods an option belongs to. */
const BELONGS = {
  depth: ["poisson"],
  radii: ["ball_pivoting"],
  alpha: ["alpha_shape"],
  normalRadius: ["poisson", "ball_pivoting"],
  normalNeighbors: ["poisson", "ball_pivoting"],
} as const satisfies Partial<Record<keyof RawMeshOptions, readonly MeshMethod[]>>;

const optionName = (key: string) => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Errors: invalid_argument, also for an option of another method. */
export function checkedMesh(raw: RawMeshOptions): MeshOptions {
  const method = TRIANGULATION_METHODS.find((known) => known === raw.method);
  if (!method) throw bad(`--method "${raw.method}" is not one of ${TRIANGULATION_METHODS.join(", ")}`);
  for (const [key, methods] of Object.entries(BELONGS)) {
    const isGiven = raw[key as keyof typeof BELONGS] !== undefined;
    if (isGiven && !(methods as readonly string[]).includes(method))
      throw bad(`${optionName(key)} belongs to ${methods.join(" and ")}, not to ${method}; leave it out`);
  }
  const extension = extname(raw.out).slice(1).toLowerCase();
  const format = MESH_FORMATS.find((known) => known === extension);
  if (!format)
    throw bad(`--out "${raw.out}" must be a file that ends with ${MESH_FORMATS.map((name) => `.${name}`).join(", ")}`);
  const file = resolve(raw.out);
  const { depth, radii, alpha, normalRadius, normalNeighbors, pictureSize } = raw;
  const tuning = {
    ...(depth === undefined ? {} : { depth: wholeNumber("--depth", depth, 1, MAX_POISSON_DEPTH) }),
    ...(radii === undefined ? {} : { radii: parseRadii(radii) }),
    ...(alpha === undefined ? {} : { alpha: parseMetres("--alpha", alpha) }),
    ...(normalRadius === undefined ? {} : { normal_radius: parseMetres("--normal-radius", normalRadius) }),
    ...(normalNeighbors === undefined
      ? {}
      : { normal_max_nn: wholeNumber("--normal-neighbors", normalNeighbors, FEWEST_NEIGHBORS, MOST_NEIGHBORS) }),
  };
  return {
    file,
    format,
    out: join(dirname(file), `${basename(file, extname(file))}_report`),
    method,
    tuning,
    reading: checkedReading(raw),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}

function parseRadii(text: string): number[] {
  const radii = text.split(",").map((part) => parseMetres("--radii", part.trim()));
  if (radii.length > MOST_RADII) throw bad(`--radii has ${radii.length} radii, more than ${MOST_RADII}`);
  return radii;
}
