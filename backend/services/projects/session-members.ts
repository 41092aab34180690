import type { Job } from "../../jobs/job.ts";
import * as edits from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { chooseFilter, listRows } from "../../native/files/archive.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraKey, FIXED_COLUMNS } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import type { RowSet } from "../../sessions/undo.ts";
import type { ColumnMember } from "./column-member.ts";
import { type SessionFile, scalarsOf } from "./session-file.ts";

/** A session as a project holds it. */
export interface SessionMembers {
  readonly key: string;
  readonly n: number;
  readonly file: SessionFile;
  readonly columns: readonly ColumnMember[];
}

export const sessionFolder = (key: string): string => `sessions/${key}`;
export const rowCountOf = ({ columns }: CloudState): number => columns.get("positions")?.length ?? 0;

const own = (column: ColumnRef) => ({ column: column.native, close: () => undefined });
const owned = (column: NativeColumn) => ({ column, close: () => column.release() });
const nativeSet = ({ encoding, data, count }: RowSet) => ({ encoding, count, data: data.native });

/** The members of a session's state, which the caller holds until they are written. */
export async function sessionMembers(key: string, state: CloudState, job: Job): Promise<SessionMembers> {
  const n = rowCountOf(state);
  const folder = sessionFolder(key);
  const columns: ColumnMember[] = [];
  const stored = async (name: string, column: ColumnRef, isBool = false) => {
    const choice = await job.track(() => chooseFilter(column.native));
    columns.push({
      name: `${folder}/${name}`,
      isBool,
      bytes: column.native.bytes,
      choice,
      open: async () => own(column),
    });
  };
  /** A column that is made when its turn comes. */
  const made = (name: string, isBool: boolean, bytes: number, make: () => Promise<NativeColumn>) =>
    columns.push({ name: `${folder}/${name}`, isBool, bytes, open: async () => owned(await make()) });
  const rows = (name: string, set: RowSet) =>
    made(name, false, 8 * set.count, () => job.track(() => listRows(n, nativeSet(set))));

  const arrays: SessionFile["arrays"] = [];
  for (const name of FIXED_COLUMNS) {
    const column = state.columns.get(name);
    if (!column) continue;
    arrays.push(name);
    await stored(name, column, name === "deleted");
  }
  const { base, deletes, labels } = state.undo;
  if (base) {
    arrays.push("deleted_base");
    made("deleted_base", true, n, () => job.track(() => edits.unionRows(n, null, [nativeSet(base)])));
  }
  const extras: SessionFile["extras"] = [];
  for (const { slug } of state.meta.extra_dims_meta) {
    const column = state.columns.get(extraKey(slug));
    if (!column) continue;
    const member = `x${extras.length}`;
    extras.push({ slug, member });
    await stored(member, column);
  }
  for (const [i, set] of deletes.entries()) rows(`history/del${i}`, set);
  const label_history: SessionFile["label_history"] = {};
  for (const [k, [slug, strokes]] of [...labels].entries()) {
    const list: SessionFile["label_history"][string] = [];
    for (const [j, stroke] of strokes.entries()) {
      const name = `lab_${k}_${j}`;
      rows(`history/${name}_idx`, stroke.rows);
      await stored(`history/${name}_prev`, stroke.previous);
      const { stroke_id, to_class } = stroke;
      const arrays: (typeof list)[number]["arrays"] = [
        ["idx", `${name}_idx`],
        ["prev", `${name}_prev`],
      ];
      list.push({ stroke_id, to_class, encoding: "sparse", changed_count: stroke.rows.count, arrays });
    }
    Object.defineProperty(label_history, slug, { value: list, enumerable: true });
  }
  for (const [name, column] of state.misses) await stored(`misses/${name}`, column);
  const { meta } = state;
  const file: SessionFile = {
    key,
    n,
    arrays,
    extras,
    world_shift: meta.world_shift && [...meta.world_shift],
    deleted_history: deletes.length,
    label_history,
    backfilled_misses: [...state.misses.keys()],
    scalars: scalarsOf(meta),
  };
  return { key, n, file, columns };
}
