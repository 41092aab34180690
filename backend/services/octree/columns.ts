import { AppError } from "../../../shared/errors.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraKey, type FIXED_COLUMNS } from "../../sessions/column-names.ts";

/** A fixed column of a session; null if absent. */
export function fixedColumn(state: CloudState, name: (typeof FIXED_COLUMNS)[number]): NativeColumn | null {
  return state.columns.get(name)?.native ?? null;
}

/** An extra by slug. Errors: invalid_argument, listing `also` (other names the caller accepts) and the extras. */
export function extraColumn(state: CloudState, slug: string, also: readonly string[] = []): NativeColumn {
  const column = state.columns.get(extraKey(slug));
  if (column) return column.native;
  const available = [...also, ...state.meta.extra_dims_meta.map((extra) => extra.slug)].join(", ");
  throw new AppError("invalid_argument", `Unknown scalar attribute: '${slug}'. Available: [${available}]`);
}

export function optionalExtra(state: CloudState, slug: string): NativeColumn | null {
  return state.columns.get(extraKey(slug))?.native ?? null;
}

export function positionsColumn(state: CloudState): NativeColumn {
  const positions = fixedColumn(state, "positions");
  if (!positions) throw new AppError("internal", "a session without positions");
  return positions;
}
