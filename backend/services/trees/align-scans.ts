import type {
  AlignScansRequest,
  AlignScansTail,
  ScanMove,
} from "../../../shared/contract/cloud-session/align-scans.ts";
import { INVENTORY_CONSTANTS, INVENTORY_DEFAULTS } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { AppError } from "../../../shared/errors.ts";
import { lengthText } from "../../../shared/length-text.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { groundLayersBytes } from "../../native/classify/ground.ts";
import * as native from "../../native/inventory.ts";
import { type CloudChange, type CloudSession, type CloudState, stateAfter } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { currentOctree, hasNormals } from "../../sessions/edits.ts";
import { TREE_SLUG } from "../../sessions/tree-version.ts";
import { boundarySteps } from "../../sessions/undo.ts";
import { distanceWarnings } from "../cloud/distance-warnings.ts";
import { floorOf } from "../cloud/edit.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import {
  buildOctrees,
  keepOctrees,
  octreeBlock,
  octreeCost,
  overlayId,
  rebuilt,
  type Surviving,
} from "../octree/publish.ts";
import { scanNumbers } from "../octree/scan-column.ts";
import { hasStamps, nativeCloud } from "./inventory.ts";
import { movedOrigin } from "./moved-origin.ts";
import { treeHits } from "./tree-noise.ts";
import { treeSizes } from "./tree-sizes.ts";
import { viewFitOf } from "./view-fit.ts";

type Found = native.AlignedScans;

/** Moves the scans of a session onto each other, level by its stems and upwards by its ground; an undo boundary. Errors: invalid_argument without trees or stamps. */
export function alignScans(
  session: CloudSession,
  { skip_noise, scan_column }: AlignScansRequest,
  deps: Deps,
  job: Job,
): Promise<AlignScansTail> {
  return session.read(job, async (base) => {
    const trees = optionalExtra(base, TREE_SLUG);
    if (!trees)
      throw new AppError("invalid_argument", `The cloud has no column ${TREE_SLUG}: run Segment Trees first.`);
    const scans = scanNumbers(base, scan_column);
    if (!hasStamps(base, scans))
      throw new AppError(
        "invalid_argument",
        "The cloud has neither scan_index nor gps times, which tell what was measured together: import it with them, or name the column of its scan numbers (scan_column).",
      );
    if (scans && scans.slug !== "scan_index" && base.meta.scan_origins)
      throw new AppError(
        "invalid_argument",
        `The scanner positions of the cloud are numbered by scan_index, not by ${scans.slug}, and would not move with their scans: leave scan_column out, or import the cloud without them.`,
      );
    const mask = await surviving(base, job);
    const hits = await treeHits(base, skip_noise, job.quiet());
    const { rows, largest } = await treeSizes(trees, { skip: hits.skip, has_noise: hits.noise_count > 0 }, deps, job);
    const moving = 2 * (positionsColumn(base).bytes + (fixedColumn(base, "beam_origins")?.bytes ?? 0));
    const measuring = Math.max(native.treeInventoryBytes(rows, largest, job.threads), groundLayersBytes(trees.length));
    const bytes = Math.max(measuring, octreeCost(base, mask)) + moving;
    return deps.admission.run(job, "Align scans", bytes, async () => {
      const found = await measured(base, nativeCloud(base, { skip: hits.skip, scans }), job);
      const view_fit = viewFitOf(found.view_fit);
      if (!found.positions) return { session_id: session.id, aligned: false, view_fit, warnings: whyNot(found) };
      return { ...(await moved(session, base, { found, mask }, deps, job)), view_fit };
    });
  });
}

/** The op's answer; the run owns its columns. */
async function measured(base: CloudState, cloud: ReturnType<typeof nativeCloud>, job: Job): Promise<Found> {
  job.stage("Measuring trees", 0.02, 0.5, [
    { name: "Counting classes", weight: 0.01 },
    { name: "Ordering points by class", weight: 0.01 },
    { name: "Indexing trees", weight: 0.01 },
    {
      name: "Measuring tree",
      weight: 0.3,
      message: (done, total) => `Measuring tree ${Math.min(done + 1, total)} of ${total}`,
    },
    { name: "Comparing views", weight: 0.1 },
    { name: "Measuring without drift", weight: 0.25 },
    { name: "Measuring again without drift", weight: 0.25 },
    { name: "Plot boundary", weight: 0.01 },
    { name: "Stand metrics", weight: 0.02 },
    { name: "Moving points", weight: 0.03 },
    { name: "Comparing scans", weight: 0.02 },
  ]);
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const params = { ...INVENTORY_DEFAULTS, ...constants, slice_widen_m, tree_ids: null };
  const origins = fixedColumn(base, "beam_origins");
  const found = await job.track(() => native.alignScans(cloud, params, origins));
  return found;
}

const NO_HEIGHTS =
  "Heights of the ground are no reason either: those of scans are within 1 cm, or no ground_class and scan numbers tell.";

function whyNot({ view_fit }: Found): string[] {
  if (!view_fit)
    return [
      "Nothing was moved: fewer than four stems are seen by several scans or visits with 15 points at breast height, or there are more than 100 scans.",
      NO_HEIGHTS,
    ];
  return [
    `Nothing was moved: the scans fit. The places of ${view_fit.n_stems} stems differ by ${(1000 * view_fit.spread_m).toFixed(1)} mm: no more than places of scans that fit, than their noise explains, or not alike for stems beside each other, as of rough bark and few points.`,
    NO_HEIGHTS,
  ];
}

/** The change of the session, and what is told of it but view_fit. */
async function moved(
  session: CloudSession,
  base: CloudState,
  { found, mask }: { readonly found: Found; readonly mask: Surviving },
  deps: Deps,
  job: Job,
) {
  const columns = new Map<string, ColumnRef>();
  if (found.positions) columns.set("positions", job.adopt(new ColumnRef(found.positions)));
  if (found.beam_origins) columns.set("beam_origins", job.adopt(new ColumnRef(found.beam_origins)));
  const meta = movedMeta(base, found);
  const after = stateAfter(base, { columns, meta });
  const overlay = base.meta.miss_octree_cache_id !== null;
  const built = await buildOctrees(after, mask, deps, { from: 0.5, to: 1, overlay }, job);
  const floor = await floorOf(fixedColumn(base, "deleted"), job);
  job.checkpoint(); // the last cancel point
  const change: CloudChange = {
    columns,
    undo: boundarySteps(base.undo, floor),
    meta: {
      ...meta,
      ...currentOctree(rebuilt(built, after)),
      octree_pose: null,
      octree_stale_gen: base.meta.octree_stale_gen + 1,
    },
  };
  await session.commit(base, change, job);
  await keepOctrees(deps);
  return {
    session_id: session.id,
    aligned: true as const,
    scans: movesOf(found),
    total_count: positionsColumn(base).length,
    miss_octree_cache_id: overlayId(built, base.meta.miss_octree_cache_id),
    ...octreeBlock(built),
    warnings: [...effects(base, found), ...distanceWarnings(base), ...(built.overlay?.warnings ?? [])],
  };
}

/** Of scans with stems, and of those whose ground was moved. */
function movesOf({ scans, lifts }: Found): ScanMove[] {
  const none = { x_m: 0, y_m: 0, turn_rad: 0, most_m: 0 };
  const numbers = new Set([...scans, ...lifts].map(({ scan_index }) => scan_index));
  return [...numbers]
    .toSorted((a, b) => a - b)
    .map((scan_index) => {
      const lift = lifts.find((one) => one.scan_index === scan_index)?.z_m ?? 0;
      const { turn_rad, ...move } = scans.find((one) => one.scan_index === scan_index) ?? { scan_index, ...none };
      return { ...move, z_m: lift === 0 ? 0 : -lift, turn_deg: (180 / Math.PI) * turn_rad };
    });
}

/** What stays as it was made of the points as they lay. */
const effects = (base: CloudState, { lifts, scans }: Found): string[] => [
  ...(scans.length === 0
    ? ["Scans were moved in height alone: level they fit, or no three stems tell (view_fit)."]
    : []),
  `The column ${TREE_SLUG} still has the trees of the points as they lay: divide the cloud into trees again.`,
  ...(lifts.length > 0
    ? [
        `The ground of scans lay up to ${lengthText(spread(lifts))} above that of others; they were moved onto each other in height. Heights above the ground are those of the points as they lay: ${spread(lifts) > WITHIN_GROUND_M ? "segment ground and trees again, and compute" : "compute"} the terrain and heights again.`,
      ]
    : []),
  ...(base.misses.size > 0 ? ["The restored misses were not moved: restore them again."] : []),
];

/** Ground that lies higher is none for a filter. */
const WITHIN_GROUND_M = 0.1;

/** Of scans that were not lifted, too. */
const spread = (lifts: Found["lifts"]) =>
  Math.max(0, ...lifts.map(({ z_m }) => z_m)) - Math.min(0, ...lifts.map(({ z_m }) => z_m));

function movedMeta(base: CloudState, found: Found): Partial<CloudState["meta"]> {
  const { scan_origins, normals_stale } = base.meta;
  return {
    ...(base.misses.size > 0 ? { backfilled_misses_stale: true, backfilled_misses_moved: true } : {}),
    ...(scan_origins
      ? {
          scan_origins: scan_origins.map((scan) => ({
            ...scan,
            origin: movedOrigin(scan, found, base.meta.world_shift),
          })),
        }
      : {}),
    source_offset_m: null, // the points leave the grid of the source
    normals_stale: normals_stale || hasNormals(base),
  };
}
