import { z } from "zod";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { ScanColumnName, ViewFit } from "./scan-fit.ts";

export const AlignScansRequest = z
  .object({
    skip_noise: z
      .boolean()
      .default(true)
      .describe(
        "true: hits that column noise_class (2) or las_classification (7, 18) names as noise are part of no stem; they are moved like all others",
      ),
    scan_column: ScanColumnName,
  })
  .meta({ id: "AlignScansRequest" });
export type AlignScansRequest = z.infer<typeof AlignScansRequest>;

export const ScanMove = z
  .object({
    scan_index: z.number().describe("number of the scan; 0 without a column of them"),
    x_m: z
      .number()
      .describe("how far the middle of the stems was moved along x, mean over the time of the scan, metres"),
    y_m: z.number().describe("the same along y, metres"),
    z_m: z
      .number()
      .describe(
        "how far it was moved upwards so that the ground of scans (ground_class, scan numbers) lies at one height, metres; 0 where it fits within 1 cm, or no ground tells",
      ),
    turn_deg: z
      .number()
      .describe("turn about it, counter-clockwise from above, mean over the time of the scan, degrees"),
    most_m: z.number().describe("largest distance that the middle was moved level at any time of the scan, metres"),
  })
  .meta({ id: "ScanMove", description: "how a scan was moved" });

export type ScanMove = z.infer<typeof ScanMove>;

const common = {
  session_id: SessionId,
  view_fit: ViewFit.nullable().describe(
    "how well views of the stems fit each other, as in tree_inventory; null: fewer than four stems are seen by several views",
  ),
  warnings: Warnings,
};

const Aligned = OctreeBlock.extend({
  ...common,
  aligned: z.literal(true).describe("true: the scans were moved"),
  scans: z.array(ScanMove).describe("every scan with stems, or with ground that was moved, ascending"),
  total_count: TotalCount,
  miss_octree_cache_id: MissOctreeCacheId,
}).meta({ id: "ScansAligned", description: "the octree of the moved points" });

const NotAligned = z
  .object({
    ...common,
    aligned: z
      .literal(false)
      .describe("false: nothing was moved, because the scans fit or neither stems nor ground tell; see warnings"),
  })
  .meta({ id: "ScansNotAligned", description: "the cloud stays as it was" });

export const AlignScansTail = z.union([Aligned, NotAligned]).meta({ id: "AlignScansTail" });
export type AlignScansTail = z.infer<typeof AlignScansTail>;
