import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { type ConstantDimension, type ExtraDim, extraKey, type IntensityUnits } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type Candidate, type ColumnWishes, columnCandidates, wished } from "./column-candidates.ts";
import { type ColumnStatistics, measureColumns } from "./column-statistics.ts";
import { withoutRepeatedReturns } from "./return-numbers.ts";
import { uniqueSlug } from "./slugs.ts";
import type { SourceKind } from "./source.ts";
import type { RoledColumn, SourceCloud } from "./source-cloud.ts";

/** The columns of a source file in the form a session stores. The run owns every reference. */
export interface AssignedColumns {
  readonly columns: Map<string, ColumnRef>;
  readonly extra_dims_meta: ExtraDim[];
  /** Fields of the file that have one value in every point. */
  readonly constant_dimensions: readonly ConstantDimension[];
  readonly intensity_units: IntensityUnits | undefined;
  /** Statistics over all rows of the scalar columns as they were read. */
  readonly stats: ColumnStatistics;
  readonly warnings: string[];
}

const CHANNELS = ["r", "g", "b"] as const;
const ORIGIN = ["origin_x", "origin_y", "origin_z"] as const;

/** Formats whose u16 intensity is used unchanged: the file defines it so, or the reader has scaled it scan by scan. */
const SCALED_INTENSITY: ReadonlySet<SourceKind> = new Set(["las", "e57", "ptx", "pcd"]);

/** Formats whose reader scales intensities of 0..1, or of the limits in the file, to 0..65535. */
const FRACTIONS: ReadonlySet<SourceKind> = new Set(["e57", "ptx"]);

/** Assigns every column of a file: to colours, intensity, timestamps, beam origins or the extras. */
export async function assignColumns(read: SourceCloud, wishes: ColumnWishes, job: Job): Promise<AssignedColumns> {
  const cloud = { ...read, columns: await withoutRepeatedReturns(read, job) };
  const scalars = cloud.columns.filter(({ column }) => column.native.dtype !== "rgb16");
  const stats = await measureColumns(
    scalars.map(({ column }) => column.native),
    null,
    job,
  );
  const constant = (source: RoledColumn) => constantOf(source.column.native, stats);
  const { candidates, constants, warnings } = columnCandidates(cloud, wishes, constant);
  const assignment = new Assignment(candidates, cloud, wishes, job, warnings);
  await assignment.colors();
  await assignment.intensity((source) => stats.get(source.column.native)?.max ?? 0);
  await assignment.timestamps();
  await assignment.beamOrigins();
  assignment.extras();
  const { columns, extra_dims_meta, black, intensity_units } = assignment;
  const constant_dimensions = [
    ...constants,
    ...(black && cloud.positions.length > 0 ? [{ name: "rgb", value: 0 }] : []),
  ];
  return { columns, extra_dims_meta, constant_dimensions, intensity_units, stats, warnings };
}

/** The only value of a column, 0 if it is empty; null if there are several, values that are not finite, or one that a
 * double rounds. */
function constantOf(column: NativeColumn, stats: ColumnStatistics): number | null {
  if (column.length === 0) return 0;
  const found = stats.get(column);
  if (!found?.is_constant || found.finite_count !== column.length) return null;
  const exact = !/^[iu]64$/.test(column.dtype) || Number.isSafeInteger(found.min);
  return exact ? found.min : null;
}

/** Builds the session's columns; a column that no role claims becomes an extra. */
class Assignment {
  readonly columns = new Map<string, ColumnRef>();
  readonly extra_dims_meta: ExtraDim[] = [];
  /** The LAS file has colours, all black: no column of the session. */
  black = false;
  intensity_units: IntensityUnits | undefined;
  readonly #taken = new Set<Candidate>();

  constructor(
    readonly candidates: readonly Candidate[],
    readonly cloud: SourceCloud,
    readonly wishes: ColumnWishes,
    readonly job: Job,
    readonly warnings: string[],
  ) {
    this.columns.set("positions", cloud.positions);
  }

  #find(role: string): Candidate | undefined {
    return this.candidates.find((c) => c.role === role && !this.#taken.has(c));
  }
  #adopt(column: NativeColumn): ColumnRef {
    return this.job.adopt(new ColumnRef(column));
  }

  async colors(): Promise<void> {
    const ready = this.#find("rgb");
    if (ready) {
      this.#taken.add(ready);
      const highest = await this.job.track(() => native.maxChannel(ready.source.column.native));
      this.black = this.cloud.kind === "las" && highest === 0;
      if (!this.black) this.columns.set("colors", ready.source.column);
      return;
    }
    const channels = CHANNELS.map((channel) => this.#find(`${channel}255`) ?? this.#find(channel));
    const [r, g, b] = channels;
    if (!r || !g || !b) return;
    for (const channel of [r, g, b]) this.#taken.add(channel);
    const scale = [r, g, b].some(({ role }) => role?.endsWith("255")) ? "byte" : this.cloud.rgb_scale;
    const merged = await this.job.track(() =>
      native.mergeRgb(r.source.column.native, g.source.column.native, b.source.column.native, scale),
    );
    this.columns.set("colors", this.#adopt(merged));
  }

  /** LAS values are kept; other formats are scaled linearly from their full range, so that decibels are not clipped. */
  async intensity(max: (source: RoledColumn) => number): Promise<void> {
    const found = this.#find("intensity") ?? this.#find("reflectance");
    if (!found) return;
    // Reflectance is a measured quantity: the display channel is a copy, the values stay as an extra.
    if (found.role === "intensity") this.#taken.add(found);
    const { column } = found.source;
    if (column.native.dtype === "u16" && SCALED_INTENSITY.has(this.cloud.kind)) {
      // In LAS records the field always exists; 0 everywhere means that it was not used.
      if (this.cloud.kind !== "las" || max(found.source) > 0) this.columns.set("intensity", column);
      if (!FRACTIONS.has(this.cloud.kind)) this.intensity_units = { divisor: 1, offset: 0 };
      return;
    }
    const scaled = await this.job.track(() => native.scaleToU16(column.native));
    this.columns.set("intensity", this.#adopt(scaled.intensity));
    const low = scaled.min ?? 0;
    const range = (scaled.max ?? 0) - low;
    this.intensity_units = { divisor: range > 0 ? 65535 / range : 1, offset: low };
  }

  async timestamps(): Promise<void> {
    const found = this.#find("timestamp");
    if (!found) return;
    this.#taken.add(found);
    const { column } = found.source;
    const clock =
      column.native.dtype === "f64" ? column : this.#adopt(await this.job.track(() => native.toF64(column.native)));
    this.columns.set("timestamps", clock);
  }

  async beamOrigins(): Promise<void> {
    const [x, y, z] = ORIGIN.map((role) => this.#find(role));
    if (!x || !y || !z) return;
    for (const axis of [x, y, z]) this.#taken.add(axis);
    const origins = await this.job.track(() =>
      native.interleaveTriple(
        x.source.column.native,
        y.source.column.native,
        z.source.column.native,
        this.wishes.frame,
      ),
    );
    this.columns.set("beam_origins", this.#adopt(origins));
  }

  extras(): void {
    const used = new Set<string>();
    for (const found of this.candidates) {
      if (this.#taken.has(found) || found.source.column.native.dtype === "rgb16") continue;
      const slug = uniqueSlug(found.slug, used);
      used.add(slug.toLowerCase());
      const { record } = found.source;
      const las_extra = record ? { slug, label: found.own_label, record } : undefined;
      const label = wished(this.wishes.labels, slug) ?? found.label;
      this.extra_dims_meta.push({
        slug,
        label,
        ...(las_extra ? { las_extra } : {}),
        ...(found.las_field ? { las_field: found.las_field } : {}),
        ...(found.hidden ? { hidden: true as const } : {}),
      });
      this.columns.set(extraKey(slug), found.source.column);
    }
  }
}
