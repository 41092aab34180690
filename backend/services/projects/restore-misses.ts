import type { DType } from "../../native/core/handles.ts";
import type { MissBuffer, MissColumn } from "../../sessions/cloud-session.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { damagedProject } from "./archive-read.ts";
import { column, requireType, type Source } from "./restore-column.ts";
import type { SessionFile } from "./session-file.ts";

/** Types of the columns of recovered misses. */
const OF_MISSES: Readonly<Record<MissColumn, DType>> = {
  positions: "vec3d",
  timestamp: "f64",
  origins: "vec3d",
  row_index: "u32",
  column_index: "u32",
};

/** The recovered misses of a session; `step` is called for each column. Errors: invalid_file, naming the member. */
export async function missBuffer(source: Source, file: SessionFile, step: <T>(value: T) => T): Promise<MissBuffer> {
  const names = missColumns(file);
  if (names.length > 0 && (names[0] !== "positions" || new Set(names).size !== names.length))
    throw damagedProject(`${source.folder}/session.json: its recovered misses`);
  const misses = new Map<MissColumn, ColumnRef>();
  for (const name of names) {
    const member = `misses/${name}`;
    const found = step(await column(source, member, misses.get("positions")?.length ?? null));
    requireType(source, member, found, OF_MISSES[name]);
    misses.set(name, found);
  }
  return misses;
}

/** Columns of the recovered misses, positions first. */
export const missColumns = ({ backfilled_misses }: SessionFile): MissColumn[] => {
  const names = backfilled_misses.filter((name) => name !== "directions");
  return [...names.filter((name) => name === "positions"), ...names.filter((name) => name !== "positions")];
};
