import { z } from "zod";
import { MAX_BACKFILL_CELLS } from "../../limits.ts";
import { FailureCode, MissOctreeCacheId, Warnings } from "../fields.ts";
import { LooseTriple, Point } from "../geometry.ts";
import { PoseStream } from "../trajectory.ts";

const count = (what: string) =>
  z
    .int()
    .min(2)
    .nullish()
    .default(null)
    .describe(`number of ${what} of the scan raster; the raster has at most ${MAX_BACKFILL_CELLS} pulses`);
const zenith = (what: string, absent: number) =>
  z
    .number()
    .nullish()
    .default(null)
    .describe(
      `${what} of the sweep, degrees; null = ${absent}, unless the time stamps show pulses of a line without any return: then both limits are needed, else an error in the tail`,
    );
const degrees = (value: number, what: string) =>
  z.number().default(value).describe(`${what}, degrees; default ${value}`);

export const BackfillMissesRequest = z
  .object({
    origin: LooseTriple.describe(
      "scanner position [x, y, z], metres, stored frame (true world less world_shift); other lengths: 400. A scan of a file of several (scan_index) has the position that the file states. A warning tells if the returns of pulses that have several show that the beams come from elsewhere",
    ),
    origin_known: z
      .boolean()
      .default(true)
      .describe("false: origin is a placeholder; a scan without trajectory is then refused with 400"),
    n_theta: count("rows (zenith)"),
    n_phi: count("columns (azimuth)"),
    theta_min: zenith("smallest zenith angle, 0 = along the scanner's axis upwards,", 0),
    theta_max: zenith("largest zenith angle", 180),
    phi_min: degrees(0, "first bearing of the sweep, clockwise from +y of the scanner"),
    phi_max: degrees(360, "last bearing of the sweep"),
    tilt_roll_deg: degrees(0, "tilt of the scanner about +x, applied after the heading"),
    tilt_pitch_deg: degrees(0, "tilt of the scanner about +y, after the roll"),
    azimuth_offset_deg: degrees(0, "heading of the scanner, added to every bearing"),
    beam_exit_diameter: z
      .number()
      .min(0)
      .default(0)
      .describe("diameter of the beam at the scanner, metres; returns of one pulse may lie that far apart"),
    beam_divergence: z
      .number()
      .min(0)
      .default(0)
      .describe("divergence of the beam, mrad; returns of one pulse may lie that far apart in angle"),
    trajectory: PoseStream.nullish()
      .default(null)
      .describe("poses of a moving scanner, stored frame, on the clock of the timestamps; null = it stood still"),
  })
  .meta({ id: "BackfillMissesRequest" });
export type BackfillMissesRequest = z.infer<typeof BackfillMissesRequest>;

export const BackfillMissesTail = z
  .object({
    backfilled: z.int().describe("number of misses that were recovered"),
    miss_count: z.int().describe("the same number; 0 with already_had_misses"),
    has_misses: z.boolean().describe("true: the session has misses"),
    scan_origin: Point.describe("origin of the request"),
    already_had_misses: z
      .boolean()
      .describe("true: points of the cloud are misses already; nothing was recovered, and the answer is not streamed"),
    miss_octree_cache_id: MissOctreeCacheId.optional(),
    restored_deleted_hits: z
      .int()
      .optional()
      .describe("number of deleted hits that were used too, so that their pulses are not taken for misses"),
    warnings: Warnings.optional().describe("how the misses were placed, and what was approximated"),
    error: z.string().optional().describe("why the misses could not be recovered; the session has not changed"),
    code: FailureCode,
  })
  .meta({ id: "BackfillMissesTail", description: "recovered misses; with `error` the counts are 0" });
export type BackfillMissesTail = z.infer<typeof BackfillMissesTail>;
