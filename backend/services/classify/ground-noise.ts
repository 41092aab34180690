import type { Job } from "../../jobs/job.ts";
import { encodeRows, setLabels } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import { addon } from "../../native/core/addon.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";

const PLANT = 2;
/** Largest share of points that a scanner's noise explains. */
const MOST_NOISE = 0.03;

/** A copy of ground labels in which the hits that were left out as noise are plants. The run owns the column. */
export async function noiseIsNoGround(
  labels: ColumnRef,
  { hits, clean }: { readonly hits: NativeColumn | null; readonly clean: NativeColumn | null },
  job: Job,
): Promise<ColumnRef> {
  if (!clean || clean === hits) return labels;
  const terms = [{ mask: clean, invert: false }, ...(hits ? [{ mask: hits, invert: true }] : [])];
  const { mask } = await job.track(() => combineMasks(terms, "and"));
  const noise = job.adopt(new ColumnRef(mask)).native;
  const rows = await job.track(() => encodeRows(noise));
  job.adopt(new ColumnRef(rows.data));
  const plant = job.adopt(new ColumnRef(new addon.Column("u8", Uint8Array.of(PLANT)))).native;
  return job.adopt(new ColumnRef(await job.track(() => setLabels(labels.native, rows, plant))));
}

/** What left out noise means for the ground, in the words of noiseWarnings. */
export function groundNoiseEffect(noise_count: number, hit_count: number): readonly [string, string] {
  const much =
    noise_count > MOST_NOISE * hit_count
      ? ", more than a scanner makes: if some are ground, send skip_noise false or remove the labels"
      : "";
  return [`is no ground${much}`, `are no ground${much}`];
}
