import { z } from "zod";
import { ColumnPlan } from "../../../shared/contract/column-plan.ts";
import { type CloudMeta, META_DEFAULTS, MISS_COLUMNS } from "../../sessions/cloud-session.ts";
import type { ExtraDim } from "../../sessions/column-names.ts";
import { damagedProject } from "./archive-read.ts";
import { NamePart } from "./manifest.ts";

/* The member session.json: all of a session but its columns. docs/project-files.md describes it. */

const triple = z.tuple([z.number(), z.number(), z.number()]);
const count = z.int().min(0);
const text = z.string().nullable();
const dtype = z.enum(["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64", "vec3d", "rgb16"]);
const OctreeId = z
  .string()
  .regex(/^[0-9a-f]{8,64}$/)
  .nullable();

const LasExtra = z.strictObject({
  slug: z.string(),
  label: z.string(),
  record: z.strictObject({
    name: z.string(),
    description: z.string(),
    stored: dtype,
    scale: z.number().nullable(),
    offset: z.number().nullable(),
    no_data: text,
  }),
});
const ExtraDimFile = z.strictObject({
  slug: z.string().min(1),
  label: z.string(),
  las_extra: LasExtra.optional(),
  las_field: z.string().optional(),
  hidden: z.literal(true).optional(),
});

/** The fields of CloudMeta. A missing one takes its default; an unknown one is of a newer version. */
const Scalars = z.strictObject({
  extra_dims_meta: z.array(ExtraDimFile).default([]),
  hidden_fixed: z.array(z.enum(["intensity", "timestamps"])).optional(),
  constant_dimensions: z.array(z.strictObject({ name: z.string(), value: z.number() })).optional(),
  crs_epsg: z.int().nullable().default(null),
  crs_is_geographic: z.boolean().default(false),
  crs_wkt: text.default(null),
  crs_geotiff: z.strictObject({ directory: z.string(), doubles: z.string(), ascii: z.string() }).nullable().optional(),
  source_units: text.default(null),
  source_unit_scale: z.number().nullable().default(null),
  gps_time_encoding: z.enum(["adjusted_standard", "gps_week"]).nullable().default(null),
  intensity_units: z.strictObject({ divisor: z.number(), offset: z.number() }).optional(),
  source_scale_m: triple.nullable().default(null),
  source_offset_m: triple.nullable().optional(),
  source_path: text.default(null),
  ascii_format: text.default(null),
  column_plan: ColumnPlan.nullable().default(null),
  octree_cache_id: OctreeId.default(null),
  rendered_octree_cache_id: OctreeId.default(null),
  octree_pose: z.array(z.number()).length(16).nullable().default(null),
  octree_point_count: count.nullable().default(null),
  octree_stale_gen: count.default(0),
  octree_lacks_labels: z.boolean().default(META_DEFAULTS.octree_lacks_labels),
  miss_octree_cache_id: OctreeId.default(null),
  miss_octree_origin: triple.nullable().default(null),
  normals_stale: z.boolean().default(META_DEFAULTS.normals_stale),
  backfilled_misses_stale: z.boolean().default(META_DEFAULTS.backfilled_misses_stale),
  backfilled_misses_moved: z.boolean().default(META_DEFAULTS.backfilled_misses_moved),
  unrestorable_hit_count: count.default(META_DEFAULTS.unrestorable_hit_count),
  misses_of_lost_hits: count.optional(),
  scan_origins: z.array(z.strictObject({ scan_index: z.number(), origin: triple })).optional(),
  recovery_losses: z.array(z.string()).optional(),
});

/** Fields of A that B lacks. */
type Lacking<A, B> = Exclude<keyof A, keyof B>;
/** Does not compile if the schema lacks a field: it would refuse the projects that have it. */
const lacks: {
  readonly [Field in Lacking<CloudMeta, z.infer<typeof Scalars> & Pick<CloudMeta, "world_shift">>]: never;
} & { readonly [Field in Lacking<ExtraDim, z.infer<typeof ExtraDimFile>>]: never } = {};
void lacks;

const Stroke = z.strictObject({
  stroke_id: z.string(),
  /** Absent in files of others. */
  to_class: z.number().optional(),
  encoding: z.literal("sparse"),
  changed_count: count,
  arrays: z.array(z.tuple([z.enum(["idx", "prev", "prev_float"]), NamePart])),
});

const SessionFileSchema = z.strictObject({
  key: NamePart,
  n: count,
  arrays: z.array(
    z.enum(["positions", "colors", "intensity", "deleted", "deleted_base", "timestamps", "beam_origins"]),
  ),
  extras: z.array(z.strictObject({ slug: z.string().min(1), member: NamePart })),
  world_shift: triple.nullable(),
  deleted_history: count.default(0),
  label_history: z.record(z.string(), z.array(Stroke)).default({}),
  /** `directions` follow from the positions, and are not read. */
  backfilled_misses: z.array(z.enum([...MISS_COLUMNS, "directions"])).default([]),
  scalars: Scalars,
});
export type SessionFile = z.infer<typeof SessionFileSchema>;
export type StrokeFile = SessionFile["label_history"][string][number];

/** Errors: invalid_file, with the field. */
export function parseSessionFile(raw: unknown, name: string): SessionFile {
  const parsed = SessionFileSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: "" };
  throw damagedProject(`${name}: ${path.join(".")} ${message}`);
}

/** The description of a session in a file. */
export const scalarsOf = ({ world_shift: _, ...scalars }: CloudMeta): SessionFile["scalars"] =>
  scalars as unknown as SessionFile["scalars"];

export const metaOf = ({ scalars, world_shift }: SessionFile): CloudMeta =>
  ({ ...scalars, world_shift }) as unknown as CloudMeta;
