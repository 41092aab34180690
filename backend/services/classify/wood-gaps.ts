import type { Job } from "../../jobs/job.ts";
import { type NativeFilter, selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";

const GROUND = 1;

interface Labels {
  /** Which points count as those of trees; none: all. */
  readonly trees: readonly NativeFilter[];
  readonly wood: NativeColumn;
  readonly skip: NativeColumn | null;
}

/**
 * Warns of points of trees that are neither wood nor leaf nor ground: an undo or a merge brought them after wood was told
 * from leaves. `effect`: what that means for the caller's result, and the way out.
 */
export async function unlabelledWood(
  state: CloudState,
  { trees, wood, skip }: Labels,
  effect: string,
  job: Job,
): Promise<string[]> {
  const ground = optionalExtra(state, "ground_class");
  const positions = positionsColumn(state);
  const filters = [...trees, { column: wood, min: 0, max: 0, values: [] }];
  const found = await job.track(() => selectRows({ positions, regions: [], filters }));
  const terms = [
    { mask: job.adopt(new ColumnRef(found)).native, invert: true },
    ...(skip ? [{ mask: skip, invert: false }] : []),
  ];
  if (ground) {
    const rows = [{ column: ground, min: GROUND, max: GROUND, values: [] }];
    const labelled = await job.track(() => selectRows({ positions, regions: [], filters: rows }));
    terms.push({ mask: job.adopt(new ColumnRef(labelled)).native, invert: false });
  }
  const left = await job.track(() => combineMasks(terms, "or"));
  job.adopt(new ColumnRef(left.mask));
  const count = positions.length - left.count;
  if (count === 0) return [];
  const which = count === 1 ? "1 point of a tree has" : `${count} points of trees have`;
  const were = count === 1 ? "it was" : "they were";
  return [
    `${which} no wood class, because ${were} deleted or in another cloud when wood was told from leaves: ${effect}`,
  ];
}
