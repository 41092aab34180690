import { z } from "zod";
import { MAX_WOOD_SPLIT_VALUES, WOOD_CLASS_SLUG } from "../limits.ts";
import { BulkNumbers, Point, PointList } from "./geometry.ts";
import { idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";
import { PoseStream } from "./trajectory.ts";

const perPulse = (what: string) => BulkNumbers.nullish().default(null).describe(`(n) ${what}`);

/** Values of inline pulses. */
export const PulseColumns = z
  .object({
    is_miss: perPulse("1 = miss: the pulse returned nothing, and its point lies anywhere along the beam; 0 = hit"),
    timestamp: perPulse("seconds; with return_type multi, rows of equal time are the returns of one pulse"),
    target_index: perPulse("number of the return in its pulse"),
    target_count: perPulse("number of returns of its pulse"),
    intensity: perPulse("energy of the return, any linear unit; for return_weights energy"),
    wood_class: perPulse("label of the hit, for wood_split with slug wood_class"),
    origin_x: perPulse("x of the beam origin, metres; the three together replace origin"),
    origin_y: perPulse("y of the beam origin, metres"),
    origin_z: perPulse("z of the beam origin, metres"),
  })
  .meta({ id: "PulseColumns", description: "values of inline pulses, one per point" });

/** Labels that tell wood from leaves. */
export const WoodSplit = z
  .object({
    slug: z
      .string()
      .min(1)
      .default(WOOD_CLASS_SLUG)
      .describe("column with the labels; of inline pulses only wood_class; in no scan: 400"),
    wood_values: z.array(z.int()).min(1).max(MAX_WOOD_SPLIT_VALUES).default([1]).describe("labels of wood"),
    leaf_values: z
      .array(z.int())
      .min(1)
      .max(MAX_WOOD_SPLIT_VALUES)
      .default([2])
      .describe("labels of leaves; a value in both lists: 400; hits with neither count for neither"),
  })
  .meta({ id: "WoodSplit", description: "labels that tell wood from leaves" });
export type WoodSplit = z.infer<typeof WoodSplit>;

const LadScanFields = z
  .object({
    session_id: z
      .string()
      .nullish()
      .default(null)
      .describe("open session with its misses; takes precedence over the other sources; an unknown one: 404"),
    file_path: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "point cloud file with misses, in metres: units are not converted, and warnings name others; needs allow_file_source",
      ),
    ascii_format: z.string().nullish().default(null).describe("column names of a text file, separated by spaces"),
    allow_file_source: z
      .boolean()
      .default(false)
      .describe("true: read file_path if there is no session_id; a file lacks the edits of a session"),
    points: PointList.nullish()
      .default(null)
      .describe("(n) inline pulses, metres, true world: where each return or miss lies"),
    scalar_columns: PulseColumns.nullish().default(null).describe("values of the inline pulses"),
    origin: Point.describe(
      "scanner position, metres, true world; beam origins of the pulses and positions of merged scans replace it. A warning tells if it is implausibly far from the hits, and if the returns of pulses that have several, or misses at one distance from their scanner, show that the beams come from elsewhere",
    ),
    trajectory: PoseStream.nullish()
      .default(null)
      .describe(
        "poses of a moving scanner, on the clock of the timestamps: the beam origin of each pulse, unless the pulses have their own; only its poses and lever_arm matter. A warning tells if the returns of pulses that have several do not lie on the beams, by which time the clocks differ, or by how much the poses are off",
      ),
    return_type: z
      .enum(["single", "multi"])
      .default("single")
      .describe("multi: rows with one timestamp are one pulse; needs timestamp, target_index and target_count"),
    leaf_intensity: z
      .number()
      .positive()
      .nullish()
      .default(null)
      .describe(
        "intensity of a leaf that fills the beam and faces it, unit of the intensities of the source (of own scans 0..1: the reflectance of the leaves); needed by return_weights energy",
      ),
    label: z.string().max(200).nullish().default(null).describe("name of the scan in messages; null = its number"),
  })
  .meta({ id: "LadScan", description: "pulses of one scan, hits and misses, from a session, a file or inline" });
export const LadScan = withIdleKeys(
  LadScanFields,
  idleUnless(({ session_id }) => !isSent(session_id), "points", "scalar_columns"),
);
export type LadScan = z.infer<typeof LadScan>;
