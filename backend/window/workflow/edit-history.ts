import type { BoxRegion, Region } from "../../../shared/contract/region.ts";

/* What the page keeps of the edits, in the storage of its tab. */

/** What a selection covers in one session, stored frame. */
export interface EditPart {
  readonly session_id: string;
  readonly region: Region;
  readonly limit_box: BoxRegion | null;
}
export interface Edit {
  readonly id: string;
  /** Null: delete. */
  readonly label: { readonly slug: string; readonly to_class: number } | null;
  readonly parts: readonly EditPart[];
}
/** An edit that was made. */
export interface Made {
  readonly edit: Edit;
  /** Sessions where it made a step, and the number of steps to keep once its undo has begun; null = not begun. */
  readonly steps: Readonly<Record<string, number | null>>;
}
export interface Pending {
  readonly edit: Edit;
  readonly steps: Readonly<Record<string, null>>;
  /** Parts before this one are made; it was sent when its session had `steps_before` steps. */
  readonly next: number;
  readonly steps_before: number;
  /** What can be redone once it is made. */
  readonly undone: readonly Edit[];
}
export interface History {
  readonly made: readonly Made[];
  readonly undone: readonly Edit[];
  readonly pending: Pending | null;
  /** Edits that were drawn while one was pending, the oldest first. */
  readonly waiting: readonly Edit[];
}
export const EMPTY: History = { made: [], undone: [], pending: null, waiting: [] };

/** Also what a page kept that knew no waiting edits. */
export const isHistory = (value: unknown): value is Omit<History, "waiting"> & Partial<History> =>
  typeof value === "object" &&
  value !== null &&
  Array.isArray((value as History).made) &&
  Array.isArray((value as History).undone) &&
  "pending" in value;

/** Without the parts of other sessions: an edit of several clouds stays for those that are open. */
export function historyWithin({ made, undone, pending, waiting }: History, isOpen: (id: string) => boolean): History {
  const part = (edit: Edit): Edit[] => {
    const parts = edit.parts.filter(({ session_id }) => isOpen(session_id));
    return parts.length > 0 ? [{ ...edit, parts }] : [];
  };
  const open = <T>(steps: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(steps).filter(([id]) => isOpen(id)));
  const [edit] = pending ? part(pending.edit) : [];
  return {
    made: made.flatMap((one) => part(one.edit).map((edit) => ({ edit, steps: open(one.steps) }))),
    undone: undone.flatMap(part),
    pending:
      pending && edit
        ? {
            ...pending,
            edit,
            steps: open(pending.steps),
            next: pending.edit.parts.slice(0, pending.next).filter(({ session_id }) => isOpen(session_id)).length,
            undone: pending.undone.flatMap(part),
          }
        : null,
    waiting: waiting.flatMap(part),
  };
}
