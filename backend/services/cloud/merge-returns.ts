import type { Job } from "../../jobs/job.ts";
import { returnNumbering, returnsFromOne } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { fixedColumn, optionalExtra } from "../octree/columns.ts";
import { constantOf } from "./merge-constants.ts";

const INDEX_SLUG = "target_index";
const RETURN_SLUGS: ReadonlySet<string> = new Set([INDEX_SLUG, "target_count"]);

/** What fills an extra column for the points of clouds without it. */
export type FillOf = (slug: string) => number;

/** The return numbers of merged clouds, which count alike. */
export interface MergedReturns {
  /**
   * 0, but 1 for the return numbers if all clouds that have them count from 1: a point of which nothing is known is return 1
   * of 1, as in a LAS export.
   */
  readonly fillOf: FillOf;
  /** Columns instead of those of a cloud, by key; the run owns them. */
  readonly renumbered: ReadonlyMap<CloudState, ReadonlyMap<string, NativeColumn>>;
  readonly warnings: readonly string[];
}

/** Where some clouds count returns from 0 and others from 1, all count from 1. */
export async function mergedReturns(states: readonly CloudState[], job: Job): Promise<MergedReturns> {
  const begins = new Map<CloudState, 0 | 1 | null>();
  for (const state of states) begins.set(state, await beginOf(state, job));
  const beginning = (at: 0 | 1) => states.filter((state) => begins.get(state) === at);
  const [zero, one] = [beginning(0), beginning(1)];
  const fill = one.length > 0 ? 1 : 0;
  const renumbered = new Map<CloudState, ReadonlyMap<string, NativeColumn>>();
  if (one.length > 0)
    for (const state of zero) renumbered.set(state, new Map([[extraKey(INDEX_SLUG), await fromOne(state, job)]]));
  return {
    fillOf: (slug) => (RETURN_SLUGS.has(slug) ? fill : 0),
    renumbered,
    warnings: renumbered.size > 0 ? [renumberedWarning(zero.length, one.length)] : [],
  };
}

function renumberedWarning(zero: number, one: number): string {
  const [clouds, other] = [zero, one].map((count) => `${count} ${count === 1 ? "cloud counts" : "clouds count"}`);
  const its = zero === 1 ? "its target_index is" : "their target_index is";
  return `${clouds} the returns of a pulse from 0 and ${other} from 1: ${its} 1 higher in the merged cloud, so that all count from 1.`;
}

/** Number at which a cloud begins to count, from its points that are not deleted; null: it does not tell. */
async function beginOf(state: CloudState, job: Job): Promise<0 | 1 | null> {
  const target_index = optionalExtra(state, INDEX_SLUG);
  // A constant is from a LAS file, which counts from 1; 0 is unknown there.
  if (!target_index) return (constantOf(state, extraKey(INDEX_SLUG)) ?? 0) >= 1 ? 1 : null;
  const target_count = optionalExtra(state, "target_count");
  const deleted = fixedColumn(state, "deleted");
  const { first } = await job.track(() => returnNumbering(target_index, target_count, deleted));
  if (first === null) return null;
  return first === 0 ? 0 : 1;
}

async function fromOne(state: CloudState, job: Job): Promise<NativeColumn> {
  const target_index = optionalExtra(state, INDEX_SLUG);
  if (!target_index) throw new Error("return numbers without their column");
  const column = await job.track(() => returnsFromOne(target_index, optionalExtra(state, "target_count")));
  return job.adopt(new ColumnRef(column)).native;
}
