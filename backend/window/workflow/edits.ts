import type { Client } from "../../../shared/client/index.ts";
import type { SessionSummary } from "../../../shared/contract/cloud-session/sessions.ts";
import {
  type Edit,
  type EditPart,
  EMPTY,
  type History,
  historyWithin,
  isHistory,
  type Made,
  type Pending,
} from "./edit-history.ts";
import { isLost } from "./jobs.ts";
import type { TabMemory } from "./memory.ts";
import { Signal } from "./signal.ts";

/*
 * Deletions and labels with undo and redo. The service keeps the edits and can undo them; the page keeps what it needs to
 * send them again, in the storage of its tab. An edit whose answer never came is kept as pending and is sent again when
 * the service is back, which makes an edit of one name once. Edits that are drawn meanwhile wait for that, in their order.
 */

const KEY = "edits";

export type { Edit } from "./edit-history.ts";

export interface EditsParts {
  readonly client: Client;
  readonly memory: TabMemory;
  /** Sessions that an edit has changed. */
  readonly onChanged: (sessionIds: readonly string[]) => void;
  readonly onFailure: (error: unknown) => void;
  readonly onPending: () => void;
  /** Edits of a cloud cannot be undone here: it was changed elsewhere, or they are older than what the service keeps. */
  readonly onNoUndo: (why: "elsewhere" | "too old") => void;
}

/** The edits of all clouds, one after another. */
export class Edits {
  readonly history: Signal<History>;
  readonly #parts: EditsParts;
  /** Steps that the service can undo: of deletions under the session id, of labels under `id/slug`. */
  readonly #counts = new Map<string, number>();
  /** Deleted rows of sessions when this page looked last: others may edit them, too. */
  readonly #deleted = new Map<string, number | null>();
  #queue: Promise<void> = Promise.resolve();
  /** A request had no answer: the counts hold again after resume(). */
  #isUnsure = false;

  constructor(parts: EditsParts) {
    this.#parts = parts;
    this.history = new Signal({ ...EMPTY, ...parts.memory.read(KEY, isHistory) });
  }

  /** Makes a new edit. What was undone before cannot be redone any more. */
  make(edit: Edit): Promise<void> {
    return this.#then(async () => {
      if (!this.#isBehind) return this.#send(first(edit, []), false);
      const { waiting } = this.history.value;
      this.#save({ ...this.history.value, waiting: [...waiting, edit] });
      this.#parts.onPending();
    });
  }
  /** Nothing while an edit is pending. */
  undo(): Promise<void> {
    return this.#then(async () => {
      if (!this.#isBehind) await this.#undo();
    });
  }
  /** Nothing while an edit is pending. */
  redo(): Promise<void> {
    return this.#then(async () => {
      const [edit, ...undone] = this.history.value.undone;
      if (edit && !this.#isBehind) await this.#send(first(edit, undone), false);
    });
  }
  /** After the service was found: learns what it can undo, forgets closed sessions, completes pending edits. */
  resume(sessions: readonly SessionSummary[]): Promise<void> {
    return this.#then(async () => {
      this.#counts.clear();
      this.#deleted.clear();
      for (const session of sessions) this.#learn(session);
      this.#isUnsure = false;
      const open = new Set(sessions.filter(({ is_open }) => is_open).map(({ session_id }) => session_id));
      const before = this.history.value.pending;
      this.#save(historyWithin(this.history.value, (id) => open.has(id)));
      const { pending } = this.history.value;
      const unsure = before?.edit.parts[before.next]?.session_id;
      if (pending) await this.#sendOrDrop(pending, unsure !== undefined && open.has(unsure));
      for (;;) {
        const [edit, ...waiting] = this.history.value.waiting;
        if (!edit) return;
        this.#save({ ...this.history.value, waiting });
        await this.#sendOrDrop(first(edit, []), false);
      }
    });
  }
  /** A session was closed: its parts of the edits are gone. */
  forget(sessionId: string): Promise<void> {
    return this.#then(async () => {
      if (!this.#isBehind) this.#save(historyWithin(this.history.value, (id) => id !== sessionId));
    });
  }

  get #isBehind(): boolean {
    const { pending, waiting } = this.history.value;
    return this.#isUnsure || pending !== null || waiting.length > 0;
  }
  async #undo(): Promise<void> {
    const newest = this.history.value.made.at(-1);
    if (!newest) return;
    const { edit } = newest;
    let { steps } = newest;
    if (!(await this.#canUndo(edit, steps))) return;
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
  /** Forgets the edits of clouds where the newest step is not this edit's. */
  async #canUndo(edit: Edit, steps: Made["steps"]): Promise<boolean> {
    const { sessions } = await this.#parts.client.listSessions();
    let why: "elsewhere" | "too old" | null = null;
    for (const [id] of Object.entries(steps).filter(([, begun]) => begun === null)) {
      const summary = sessions.find(({ session_id, is_open }) => session_id === id && is_open);
      const count = edit.label ? summary?.undo.label_strokes[edit.label.slug] : summary?.undo.deletions;
      const isSame = edit.label
        ? count === this.#counts.get(keyOf(edit, id))
        : summary?.deleted_count === this.#deleted.get(id);
      if (summary) this.#learn(summary);
      if (isSame && count) continue;
      why = isSame ? "too old" : "elsewhere";
      this.#save(historyWithin(this.history.value, (one) => one !== id));
    }
    if (why) this.#parts.onNoUndo(why);
    return why === null;
  }
  #learn({ session_id, undo, deleted_count }: SessionSummary): void {
    this.#deleted.set(session_id, deleted_count);
    this.#counts.set(session_id, undo.deletions);
    for (const [slug, count] of Object.entries(undo.label_strokes)) this.#counts.set(`${session_id}/${slug}`, count);
  }
  /** The number of steps that are left. */
  async #reset({ label }: Edit, sessionId: string, edit_count: number): Promise<number> {
    const { client } = this.#parts;
    if (!label) {
      const { deleted_count } = await client.resetEdits(sessionId, { edit_count });
      this.#deleted.set(sessionId, deleted_count);
      return edit_count;
    }
    return (await client.resetLabelEdits(sessionId, { slug: label.slug, edit_count })).label_edit_count;
  }

  /** Sends the parts that are not made yet. `isAgain`: whether the first of them is made is not known. */
  async #send(start: Pending, isAgain: boolean): Promise<void> {
    const { edit, undone } = start;
    let { steps } = start;
    const record = () => {
      const { made, waiting } = this.history.value;
      this.#save({ made: [...made, { edit, steps }], undone, pending: null, waiting });
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
        const after = await this.#sendPart(edit, part);
        this.#counts.set(key, after);
        if (after > before || !edit.label) steps = { ...steps, [part.session_id]: null };
      }
    } catch (error) {
      if (!isLost(error) && Object.keys(steps).length > 0) record(); // the clouds before the one that refused
      throw error;
    }
    record();
  }
  /** The number of steps afterwards. The same stroke or deletion again changes nothing. */
  async #sendPart({ id, label }: Edit, { session_id, region, limit_box }: EditPart): Promise<number> {
    const { client } = this.#parts;
    if (!label) {
      const { deleted_count, edit_count } = await client.deleteRegion(session_id, { region, edit_id: id });
      this.#deleted.set(session_id, deleted_count);
      return edit_count;
    }
    const stroke = { stroke_id: id, region, limit_box, to_class: label.to_class };
    return (await client.labelRegion(session_id, { slug: label.slug, strokes: [stroke] })).label_edit_count;
  }

  /** One piece of work at a time. A refused edit is dropped, one without an answer stays pending. */
  #then(work: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(work).catch((error: unknown) => {
      if (isLost(error)) {
        this.#isUnsure = true;
        this.#parts.onPending();
        this.#parts.onFailure(error);
      } else this.#drop(error);
    });
    return this.#queue;
  }
  async #sendOrDrop(pending: Pending, isAgain: boolean): Promise<void> {
    try {
      await this.#send(pending, isAgain);
    } catch (error) {
      if (isLost(error)) throw error;
      this.#drop(error);
    }
  }
  #drop(error: unknown): void {
    this.#save({ ...this.history.value, pending: null });
    this.#parts.onFailure(error);
  }
  #save(history: History): void {
    this.#parts.memory.write(KEY, history);
    this.history.set(history);
  }
}

const first = (edit: Edit, undone: readonly Edit[]): Pending => ({ edit, steps: {}, next: 0, steps_before: 0, undone });

const keyOf = ({ label }: Edit, sessionId: string): string => (label ? `${sessionId}/${label.slug}` : sessionId);
