import { z } from "zod";
import { FailureCode } from "./fields.ts";
import { PointList } from "./geometry.ts";
import { idleByAll, idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";
import { PointSource } from "./point-source.ts";
import { QsmBuildResponse } from "./qsm-records.ts";

export const RADIUS_MODELS = ["isotonic", "tapered"] as const;
export type RadiusModel = (typeof RADIUS_MODELS)[number];

/** Parameters of a model of one tree; build and tree_qsm share them. */
export const QsmParams = z.object({
  twig_radius_mm: z
    .number()
    .positive()
    .default(4.23)
    .describe(
      "radius of twigs of this year, measured per species, mm: no tip is thinner. The default is that of trees; of plants that span less than 2.5 m it is taken in proportion (enlarged_by)",
    ),
  axis_termination: z
    .boolean()
    .default(true)
    .describe("an axis may end at a fork of equals; false: one child continues it"),
  fork_symmetry: z
    .number()
    .min(0)
    .max(1)
    .default(0.75)
    .describe("radius of the second thickest child over that of the thickest, from which a fork ends the axis, 0..1"),
  w_growthlength: z
    .number()
    .min(0)
    .default(1)
    .describe("weight of the wood beyond a child in choosing the one that continues an axis"),
  w_area: z.number().min(0).default(0).describe("weight of its cross-section"),
  w_colinear: z.number().min(0).default(0).describe("weight of its direction"),
  radius_model: z
    .enum(RADIUS_MODELS)
    .default("isotonic")
    .describe(
      "isotonic: radii fall toward the tips, weighted by coverage; tapered: a taper per path, held by the measured radii, the twig radius and the sum of the branches",
    ),
});
export type QsmParams = z.infer<typeof QsmParams>;

/** Of a build and of tree_qsm. */
export const AlignScans = z
  .boolean()
  .default(true)
  .describe(
    "true: where scans, or visits of a scanner that is carried, show a tree at different places, as in wind, they are moved onto each other along its branches before the model is built; false: only told",
  );

const QsmBuildFields = QsmParams.extend({
  align_scans: AlignScans,
  points: PointList.nullish().default(null).describe("(n, 3) points of one tree without ground and leaves, metres"),
  source: PointSource.nullish().default(null).describe("points of a session instead"),
  sources: z
    .array(PointSource)
    .nullish()
    .default(null)
    .describe("several registered scans of one tree: used instead of source, together with points"),
}).meta({ id: "QsmBuildRequest" });
export const QsmBuildRequest = withIdleKeys(
  QsmBuildFields,
  idleByAll(
    idleUnless(({ sources }) => !isSent(sources), "source"),
    idleUnless(({ source, sources }) => !isSent(source) || isSent(sources), "points"),
  ),
);
export type QsmBuildRequest = z.infer<typeof QsmBuildRequest>;

export const QsmImportRequest = z
  .object({
    path: z.string().describe("absolute path of a .csv file on the service's machine; ~ is the user's home folder"),
  })
  .meta({ id: "QsmImportRequest" });
export type QsmImportRequest = z.infer<typeof QsmImportRequest>;

/** JSON tail of a build, and the answer of an import. */
export const QsmBuildTail = QsmBuildResponse.extend({ code: FailureCode }).meta({
  id: "QsmBuildTail",
  description: "a QSM: its cylinders, shoots and metrics, or the reason why there is none",
});
export type QsmBuildTail = z.infer<typeof QsmBuildTail>;
