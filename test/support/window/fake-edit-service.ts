import { ApiError, type Client } from "../../../shared/client/index.ts";
import type { SessionSummary } from "../../../shared/contract/cloud-session/sessions.ts";

/** How the next request ends: answered, lost before the service had it, or made without its answer arriving. */
export type Fate = "answered" | "lost before" | "lost after" | "refused";

const lost = () => new ApiError(0, "network", "the connection to the service failed", undefined);

/** The edits of sessions as the service keeps them: deletions, and strokes by column. */
export class FakeEditService {
  readonly deletions = new Map<string, unknown[]>();
  readonly strokes = new Map<string, { stroke_id: string; to_class: number }[]>();
  readonly fates: Fate[] = [];
  requests = 0;
  /** Deletions that can be undone. */
  kept = 50;
  /** Of the deletions. */
  readonly #names = new Map<string, string[]>();
  readonly #made = new Map<string, number>();
  readonly #restored = new Map<string, number>();

  readonly #ids: readonly string[];
  constructor(ids: readonly string[]) {
    this.#ids = ids;
    for (const id of ids) this.deletions.set(id, []);
  }

  /** The part of the client that edits use. */
  readonly client = {
    listSessions: async () => ({ sessions: this.summaries() }),
    deleteRegion: async (id: string, { region, edit_id }: { region: unknown; edit_id: string }) =>
      this.#answer(() => {
        const list = this.deletions.get(id) ?? [];
        const names = this.#names.get(id) ?? [];
        if (!names.includes(edit_id)) {
          list.push(region);
          names.push(edit_id);
          this.#names.set(id, names);
          this.#made.set(id, (this.#made.get(id) ?? 0) + 1);
          for (const kept of [list, names]) kept.splice(0, kept.length - this.kept);
        }
        return { deleted_count: this.#deletedCount(id), edit_count: list.length };
      }),
    resetEdits: async (id: string, { edit_count }: { edit_count: number }) =>
      this.#answer(() => {
        const undone = this.deletions.get(id)?.splice(edit_count) ?? [];
        this.#names.get(id)?.splice(edit_count);
        this.#restored.set(id, (this.#restored.get(id) ?? 0) + undone.length);
        return { deleted_count: this.#deletedCount(id) };
      }),
    labelRegion: async (
      id: string,
      { slug, strokes }: { slug: string; strokes: { stroke_id: string; to_class: number }[] },
    ) =>
      this.#answer(() => {
        const list = this.#strokesOf(id, slug);
        for (const { stroke_id, to_class } of strokes) {
          // The same stroke again changes no point and is not recorded.
          if (list.at(-1)?.stroke_id !== stroke_id) list.push({ stroke_id, to_class });
        }
        return { label_edit_count: list.length };
      }),
    resetLabelEdits: async (id: string, { slug, edit_count }: { slug: string; edit_count: number }) =>
      this.#answer(() => {
        const list = this.#strokesOf(id, slug);
        list.splice(edit_count);
        return { label_edit_count: list.length };
      }),
  } as unknown as Client;

  /** As GET /api/cloud/sessions tells them. */
  summaries(): SessionSummary[] {
    return this.#ids.map(
      (session_id) =>
        ({
          session_id,
          is_open: true,
          deleted_count: this.#deletedCount(session_id),
          undo: {
            deletions: this.deletions.get(session_id)?.length ?? 0,
            label_strokes: Object.fromEntries(
              [...this.strokes]
                .filter(([key, list]) => key.startsWith(`${session_id}/`) && list.length > 0)
                .map(([key, list]) => [key.slice(session_id.length + 1), list.length]),
            ),
          },
        }) as unknown as SessionSummary,
    );
  }

  /** Each deletion deletes one row. */
  #deletedCount(id: string): number {
    return (this.#made.get(id) ?? 0) - (this.#restored.get(id) ?? 0);
  }
  #strokesOf(id: string, slug: string) {
    const key = `${id}/${slug}`;
    const list = this.strokes.get(key) ?? [];
    this.strokes.set(key, list);
    return list;
  }
  async #answer<T>(make: () => T): Promise<T> {
    this.requests += 1;
    const fate = this.fates.shift() ?? "answered";
    if (fate === "lost before") throw lost();
    if (fate === "refused") throw new ApiError(400, "invalid_argument", "refused", undefined);
    const value = make();
    if (fate === "lost after") throw lost();
    return value;
  }
}
