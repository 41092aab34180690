import type { Selection } from "../../../shared/contract/region.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { extraColumn, fixedColumn, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { parseRegion } from "./region.ts";

/** A selection that passed the checks before the run. */
export interface CheckedSelection {
  readonly region: native.NativeRegion | null;
  readonly filters: readonly CheckedFilter[];
}

interface CheckedFilter {
  readonly slug: string;
  readonly min: number;
  readonly max: number;
  readonly values: readonly number[];
}

/** Checks a selection against a session. Errors: invalid_argument, naming the field or listing the columns. */
export function checkSelection({ region, scalar_filters }: Selection, state: CloudState): CheckedSelection {
  if (!region && !scalar_filters?.length) {
    throw new AppError("invalid_argument", "the selection is empty: give a region, scalar_filters or both");
  }
  const filters = (scalar_filters ?? []).map(({ slug, min, max, values }) => {
    filterColumn(state, slug); // throws if it does not exist
    return {
      slug,
      min: min ?? Number.NEGATIVE_INFINITY,
      max: max ?? Number.POSITIVE_INFINITY,
      values: values ?? [],
    };
  });
  return { region: region ? parseRegion(region) : null, filters };
}

/** The column that a filter names. */
function filterColumn(state: CloudState, slug: string): NativeColumn {
  const clock = fixedColumn(state, "timestamps");
  if (clock && (slug === "timestamp" || slug === "gps-time")) return clock;
  return extraColumn(state, slug, clock ? ["timestamp"] : []);
}

export interface SelectedHits {
  /** u8 per row: surviving hits inside. */
  readonly inside: NativeColumn;
  readonly inside_count: number;
  /** u8 per row: surviving hits outside. */
  readonly outside: NativeColumn;
  readonly outside_count: number;
}

/** Divides the surviving hits by a selection. The run owns the masks. */
export async function selectHits(state: CloudState, selection: CheckedSelection, job: Job): Promise<SelectedHits> {
  const selected = await selectRows(state, selection, job);
  const { skip } = await surviving(state, job);
  const editable = skip ? [{ mask: skip, invert: true }] : [];
  const part = async (invert: boolean) => {
    const { mask, count } = await job.track(() => combineMasks([{ mask: selected, invert }, ...editable], "and"));
    return { mask: job.adopt(new ColumnRef(mask)).native, count };
  };
  const inside = await part(false);
  const outside = await part(true);
  return {
    inside: inside.mask,
    inside_count: inside.count,
    outside: outside.mask,
    outside_count: outside.count,
  };
}

/** u8 per row, 1 = inside the region and through every filter, also for misses and deleted rows. The run owns it. */
export async function selectRows(
  state: CloudState,
  { region, filters }: CheckedSelection,
  job: Job,
): Promise<NativeColumn> {
  const rows = await job.track(() =>
    native.selectRows({
      positions: positionsColumn(state),
      regions: region ? [region] : [],
      filters: filters.map((filter) => nativeFilter(filterColumn(state, filter.slug), filter)),
    }),
  );
  return job.adopt(new ColumnRef(rows)).native;
}

/** Rounds the ends of a range to the column's type, so that the float32 value shown as 2.4 is inside up to 2.4. */
function nativeFilter(column: NativeColumn, { min, max, values }: CheckedFilter): native.NativeFilter {
  const held = column.dtype === "f32" ? Math.fround : (value: number) => value;
  return { column, min: held(min), max: held(max), values };
}
