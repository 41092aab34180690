import type { Client } from "../../../shared/client/index.ts";
import type { SessionSummary } from "../../../shared/contract/cloud-session/sessions.ts";
import type { BoxRegion, Region } from "../../../shared/contract/region.ts";
import { DEFAULT_MAX_DELETED_HISTORY } from "../../../shared/limits.ts";
import { isLost } from "./jobs.ts";
import type { TabMemory } from "./memory.ts";
import { Signal } from "./signal.ts";

/*
 * Deletions and labels with undo and redo. The service keeps the edits and can undo them; the page keeps what it needs to
 * send them again, in the storage of its tab. An edit whose answer never came is kept as pending: when the service is
 * back, its number of steps tells whether the edit was made, and if not, it is sent again.
 */

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
interface Made {
  readonly edit: Edit;
  /** Sessions where it made a step, and the number of steps to keep once its undo has begun; null = not begun. */
  readonly steps: Readonly<Record<string, number | null>>;
}
interface Pending {
  readonly edit: Edit;
  readonly steps: Readonly<Record<string, null>>;
  /** Parts before this one are made; it was sent when its session had `steps_before` steps. */
  readonly next: number;
  readonly steps_before: number;
  /** What can be redone once it is made. */
  readonly undone: readonly Edit[];
}
interface History {
  readonly made: readonly Made[];
  readonly undone: readonly Edit[];
  readonly pending: Pending | null;
}
const EMPTY: History = { made: [], undone: [], pending: null };
const KEY = "edits";

const isHistory = (value: unknown): value is History =>
  typeof value === "object" &&
  value !== null &&
  Array.isArray((value as History).made) &&
  Array.isArray((value as History).undone) &&
  "pending" in value;

export interface EditsParts {
  readonly client: Client;
  readonly memory: TabMemory;
  /** Sessions that an edit has changed. */
  readonly onChanged: (sessionIds: readonly string[]) => void;
  readonly onFailure: (error: unknown) => void;
  readonly onPending: () => void;
}

export class Edits {
  readonly history: Signal<History>;
  readonly #parts: EditsParts;
  /** Steps that the service can undo: of deletions under the session id, of labels under `id/slug`. */
  readonly #counts = new Map<string, number>();
  #queue: Promise<void> = Promise.resolve();

  constructor(parts: EditsParts) {
    this.#parts = parts;
    this.history = new Signal(parts.memory.read(KEY, isHistory) ?? EMPTY);
  }

  /** Makes a new edit. What was undone before cannot be redone any more. */
  make(edit: Edit): Promise<void> {
    return this.#then(() => this.#send({ edit, steps: {}, next: 0, steps_before: 0, undone: [] }, false));
  }
  undo(): Promise<void> {
    return this.#then(() => this.#undo());
  }
  redo(): Promise<void> {
    return this.#then(async () => {
      const [edit, ...undone] = this.history.value.undone;
      if (edit) await this.#send({ edit, steps: {}, next: 0, steps_before: 0, undone }, false);
    });
  }
  /** After the service was found: learns what it can undo, forgets closed sessions, completes a pending edit. */
  resume(sessions: readonly SessionSummary[]): Promise<void> {
    return this.#then(async () => {
      this.#counts.clear();
      for (const { session_id, undo } of sessions) {
        this.#counts.set(session_id, undo.deletions);
        for (const [slug, count] of Object.entries(undo.label_strokes))
          this.#counts.set(`${session_id}/${slug}`, count);
      }
      const open = new Set(sessions.filter(({ is_open }) => is_open).map(({ session_id }) => session_id));
      const { made, undone, pending } = this.history.value;
      this.#save({ made: made.filter(isOf(open)), undone: undone.filter((edit) => isOf(open)({ edit })), pending });
      if (pending && isOf(open)(pending)) await this.#send(pending, true);
      else if (pending) this.#save({ ...this.history.value, pending: null });
    });
  }

  async #undo(): Promise<void> {
    const newest = this.history.value.made.at(-1);
    if (!newest) return;
    const { edit } = newest;
    let { steps } = newest;
    const save = () => {
      const made = this.history.value.made.slice(0, -1);
      this.#save({ ...this.history.value, made: [...made, { edit, steps }] });
    };
    for (const [sessionId, begun] of Object.entries(steps)) {
      const key = keyOf(edit, sessionId);
      const keep = begun ?? Math.max(0, (this.#counts.get(key) ?? 1) - 1);
      steps = { ...steps, [sessionId]: keep };
      save(); // sent again after a lost answer, the same number undoes nothing more
      this.#counts.set(key, await this.#reset(edit, sessionId, keep));
      steps = Object.fromEntries(Object.entries(steps).filter(([id]) => id !== sessionId));
      save();
    }
    const { made, undone } = this.history.value;
    this.#save({ ...this.history.value, made: made.slice(0, -1), undone: [edit, ...undone] });
    this.#parts.onChanged(edit.parts.map(({ session_id }) => session_id));
  }
  /** The number of steps that are left. */
  async #reset({ label }: Edit, sessionId: string, edit_count: number): Promise<number> {
    const { client } = this.#parts;
    if (!label) {
      await client.resetEdits(sessionId, { edit_count });
      return edit_count;
    }
    return (await client.resetLabelEdits(sessionId, { slug: label.slug, edit_count })).label_edit_count;
  }

  /** Sends the parts that are not made yet. `isAgain`: whether the first of them is made is not known. */
  async #send(start: Pending, isAgain: boolean): Promise<void> {
    const { edit, undone } = start;
    let { steps } = start;
    const record = () => {
      this.#save({ made: [...this.history.value.made, { edit, steps }], undone, pending: null });
      this.#parts.onChanged(Object.keys(steps));
    };
    try {
      for (let next = start.next; next < edit.parts.length; next += 1) {
        const part = edit.parts[next] as EditPart;
        const key = keyOf(edit, part.session_id);
        const known = this.#counts.get(key) ?? 0;
        const isUnsure = isAgain && next === start.next;
        const before = isUnsure ? start.steps_before : known;
        this.#save({ ...this.history.value, pending: { edit, steps, next, steps_before: before, undone } });
        const after = isUnsure && known > before ? known : await this.#sendPart(edit, part, before);
        this.#counts.set(key, after);
        if (after > before || !edit.label) steps = { ...steps, [part.session_id]: null };
      }
    } catch (error) {
      if (!isLost(error) && Object.keys(steps).length > 0) record(); // the clouds before the one that refused
      throw error;
    }
    record();
  }
  /** The number of steps afterwards. */
  async #sendPart({ id, label }: Edit, { session_id, region, limit_box }: EditPart, before: number): Promise<number> {
    const { client } = this.#parts;
    if (!label) {
      await client.deleteRegion(session_id, { region });
      return Math.min(before + 1, DEFAULT_MAX_DELETED_HISTORY); // the oldest can no longer be undone
    }
    const stroke = { stroke_id: id, region, limit_box, to_class: label.to_class };
    return (await client.labelRegion(session_id, { slug: label.slug, strokes: [stroke] })).label_edit_count;
  }

  /** One edit at a time. A refused edit is dropped, one without an answer stays pending. */
  #then(work: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(work).catch((error: unknown) => {
      if (isLost(error)) this.#parts.onPending();
      else this.#save({ ...this.history.value, pending: null });
      this.#parts.onFailure(error);
    });
    return this.#queue;
  }
  #save(history: History): void {
    this.#parts.memory.write(KEY, history);
    this.history.set(history);
  }
}

const isOf =
  (open: ReadonlySet<string>) =>
  ({ edit }: { readonly edit: Edit }): boolean =>
    edit.parts.every(({ session_id }) => open.has(session_id));

const keyOf = ({ label }: Edit, sessionId: string): string => (label ? `${sessionId}/${label.slug}` : sessionId);
