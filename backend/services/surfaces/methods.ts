import { TRIANGULATION_METHODS } from "../../../shared/contract/triangulate.ts";
import { AppError } from "../../../shared/errors.ts";
import * as native from "../../native/surfaces.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type Method, meshingStage, told } from "./method.ts";
import { ballPivoting, poisson } from "./reconstruction.ts";

const delaunay: Method = {
  uses_origins: false,
  bytes: native.delaunayBytes,
  check: () => undefined,
  async mesh(points, _request, job) {
    meshingStage("delaunay", job);
    const { indices, repeated_count } = await job.track(() => native.delaunay(points));
    return {
      vertices: points,
      indices: job.adopt(new ColumnRef(indices)).native,
      warnings: told(repeated_count, "points have the x and y of another point and were left out."),
      details: {},
    };
  },
};

/** Sheet faces that are left out are told from this share of the triangles on. */
const SHEET_SHARE = 0.05;

const alphaShape: Method = {
  uses_origins: false,
  bytes: native.alphaShapeBytes,
  check({ alpha }) {
    if (alpha === null || alpha === undefined || (alpha > 0 && Number.isFinite(alpha))) return;
    throw new AppError("invalid_argument", `alpha is ${alpha}: it must be positive, in metres, or null`);
  },
  async mesh(points, { alpha }, job) {
    meshingStage("alpha shape", job);
    const shape = await job.track(() => native.alphaShape(points, alpha ?? null));
    const indices = job.adopt(new ColumnRef(shape.indices)).native;
    const { alpha_m, mean_spacing_m, volume_m3 } = shape;
    return {
      vertices: points,
      indices,
      warnings: [
        ...told(shape.repeated_count, "points are at the place of another point and were left out."),
        ...sheetWarning(shape, indices.length / 3),
      ],
      details: { alpha_m, mean_spacing_m, volume_m3 },
    };
  },
};

function sheetWarning({ faces, sheet_count, alpha_m }: native.AlphaShape, triangles: number): string[] {
  const radius = `alpha ${alpha_m.toPrecision(3)} m`;
  if (faces === "sheet") {
    return told(
      sheet_count,
      `of the faces bound no solid at ${radius}: the points lie on a thin surface, which they show.`,
    );
  }
  if (sheet_count < SHEET_SHARE * triangles) return [];
  return told(sheet_count, `faces bound no solid at ${radius} and were left out; a larger alpha closes thin parts.`);
}

const METHODS: Readonly<Record<(typeof TRIANGULATION_METHODS)[number], Method>> = {
  ball_pivoting: ballPivoting,
  poisson,
  alpha_shape: alphaShape,
  delaunay,
};

/** Errors: invalid_argument for a name that no method has. */
export function methodOf(name: string): Method {
  const known = TRIANGULATION_METHODS.find((method) => method === name);
  if (known) return METHODS[known];
  throw new AppError(
    "invalid_argument",
    `Unknown triangulation method "${name.slice(0, 60)}": use ${TRIANGULATION_METHODS.slice(0, -1).join(", ")} or ${TRIANGULATION_METHODS.at(-1)}.`,
  );
}
