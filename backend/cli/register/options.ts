import { AppError } from "../../../shared/errors.ts";
import {
  COPY_FORMATS,
  type CopyFormat,
  DEFAULT_SAMPLE_POINTS,
  parsePictureSize,
  parseSamplePoints,
  type ReadingOptions,
  wholeNumber,
} from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { MESH_FORMATS, type MeshFormat } from "../meshes/write.ts";
import { checkedReading, parseMetres } from "../run/inputs.ts";

/** Names of the methods on the command line. */
const METHODS = { gicp: "gicp", plane: "point_to_plane", point: "point_to_point" } as const;
export type Method = (typeof METHODS)[keyof typeof METHODS];
const STARTS = ["centroid", "auto"] as const;
export type Start = (typeof STARTS)[number];
const MOST_ITERATIONS = 100_000;

/** Options from commander, before their values are checked. */
export interface RawRegisterOptions {
  readonly out: string;
  readonly method: string;
  readonly initial?: string;
  readonly maxDistance?: string;
  readonly iterations?: string;
  readonly format?: string;
  readonly units?: string;
  readonly columns?: string;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface RegisterOptions {
  readonly out: string;
  readonly method: Method;
  /** Null: centroid, and auto where the pose is in doubt. */
  readonly initial: Start | null;
  /** Metres; null = 5 % of the size of the fixed side. */
  readonly maxDistance: number | null;
  readonly iterations: number | undefined;
  /** Of the moved file; undefined = that of the moving one. */
  readonly format: CopyFormat | MeshFormat | undefined;
  readonly reading: ReadingOptions;
  readonly points: number;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument. */
export function checkedRegister(raw: RawRegisterOptions): RegisterOptions {
  const { method, initial, maxDistance, iterations, format, points, pictureSize } = raw;
  if (!Object.hasOwn(METHODS, method))
    throw bad(`--method "${method}" is not one of ${Object.keys(METHODS).join(", ")}`);
  const start = initial === undefined ? null : STARTS.find((name) => name === initial);
  if (start === undefined) throw bad(`--initial "${initial}" is not one of ${STARTS.join(", ")}`);
  const known = [...new Set([...COPY_FORMATS, ...MESH_FORMATS])];
  const chosen = format === undefined ? undefined : known.find((name) => name === format.toLowerCase());
  if (format !== undefined && !chosen) throw bad(`--format "${format}" is not one of ${known.join(", ")}`);
  return {
    out: raw.out,
    method: METHODS[method as keyof typeof METHODS],
    initial: start,
    maxDistance: maxDistance === undefined ? null : parseMetres("--max-distance", maxDistance),
    iterations: iterations === undefined ? undefined : wholeNumber("--iterations", iterations, 1, MOST_ITERATIONS),
    format: chosen,
    reading: checkedReading(raw),
    points: points === undefined ? DEFAULT_SAMPLE_POINTS : parseSamplePoints(points),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}
