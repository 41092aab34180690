import type { Client } from "../../../shared/client/index.ts";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { SessionSummary } from "../../../shared/contract/cloud-session/sessions.ts";
import type { Point } from "../../../shared/contract/geometry.ts";
import type { OctreeBlock } from "../../../shared/contract/octree.ts";
import type { CloudInput, CloudView } from "../view/cloud-view.ts";
import type { Jobs } from "./jobs.ts";
import type { TabMemory } from "./memory.ts";
import { Signal } from "./signal.ts";

/** A cloud session as the page knows it. */
export interface Cloud {
  readonly session_id: string;
  readonly name: string;
  readonly summary: SessionSummary | null;
  /** The octree that is shown; null = not shown yet. */
  readonly octree: CloudInput["octree"] | null;
  readonly world_shift: Point | null;
  readonly is_visible: boolean;
  /** Position of the scanner, true world, if a response told it. */
  readonly scan_origin: Point | null;
}

interface Remembered extends Pick<Cloud, "session_id" | "name" | "is_visible" | "scan_origin"> {}
const isRemembered = (value: unknown): value is Remembered[] =>
  Array.isArray(value) && value.every((item) => typeof item?.session_id === "string" && typeof item.name === "string");

const MEMORY_KEY = "clouds";
const RESTORE_AGAIN_MS = 30_000;

export interface CloudsParts {
  readonly client: Client;
  readonly view: CloudView;
  readonly jobs: Jobs;
  readonly memory: TabMemory;
  readonly texts: { readonly unnamed: string; readonly drawing: (name: string) => string };
  /** The service could not tell what it knows of its sessions. */
  readonly onFailure: (error: unknown) => void;
}

/** The clouds of the service, those shown in the view, and the one that operations work on. */
export class Clouds {
  readonly list = new Signal<readonly Cloud[]>([]);
  readonly selected = new Signal<string | null>(null);
  /** The session that was closed last. */
  readonly closed = new Signal<string | null>(null);
  readonly #parts: CloudsParts;
  /** Sessions whose picture is being renewed; true: once more afterwards. */
  readonly #renewing = new Map<string, boolean>();
  /** Requests for the list of sessions that were sent, and the newest of them whose answer was used. */
  #asked = 0;
  #used = 0;

  /** When octrees of sessions were built again because the service had lost them. */
  readonly #restored = new Map<string, number>();

  constructor(parts: CloudsParts) {
    this.#parts = parts;
  }
  find(sessionId: string | null): Cloud | undefined {
    return this.list.value.find(({ session_id }) => session_id === sessionId);
  }

  /** Asks the service for its sessions: new ones are listed, closed ones go. Shows again what this tab showed. */
  async refresh(): Promise<void> {
    let sessions: readonly SessionSummary[] | undefined;
    while (!sessions) sessions = await this.#sessions();
    const remembered = this.#parts.memory.read(MEMORY_KEY, isRemembered) ?? [];
    const before = new Map(this.list.value.map((cloud) => [cloud.session_id, cloud]));
    const list = sessions.map((summary): Cloud => {
      const known = before.get(summary.session_id);
      const memory = remembered.find(({ session_id }) => session_id === summary.session_id);
      const shift = summary.world_shift ?? null;
      if (known) return { ...known, summary };
      return {
        session_id: summary.session_id,
        name: memory?.name ?? summary.source_name ?? this.#parts.texts.unnamed,
        summary,
        octree: null,
        world_shift: shift,
        is_visible: memory?.is_visible ?? true,
        scan_origin: memory?.scan_origin ?? null,
      };
    });
    for (const { session_id, octree } of before.values()) {
      if (octree && !list.some((cloud) => cloud.session_id === session_id)) this.#parts.view.removeCloud(session_id);
    }
    this.#publish(list);
    for (const cloud of list) {
      const wasShown = remembered.some(({ session_id }) => session_id === cloud.session_id);
      if (wasShown && !cloud.octree && cloud.summary?.is_open) void this.show(cloud.session_id);
    }
  }

  /** Learns what the service knows of the listed sessions after they changed. */
  async learn(): Promise<void> {
    try {
      const summaries = new Map((await this.#sessions())?.map((summary) => [summary.session_id, summary]));
      if (summaries.size === 0) return;
      this.#publish(
        this.list.value.map((cloud) => ({ ...cloud, summary: summaries.get(cloud.session_id) ?? cloud.summary })),
      );
    } catch (error) {
      this.#parts.onFailure(error);
    }
  }

  /** Adds a session that a response has just made, and shows it. */
  async add({ session_id, world_shift, scan_origin, ...octree }: CreateSessionTail, name: string): Promise<void> {
    const cloud = {
      session_id,
      name,
      summary: null,
      octree,
      world_shift,
      is_visible: true,
      scan_origin: scan_origin ?? null,
    };
    this.#publish([cloud, ...this.list.value.filter((other) => other.session_id !== session_id)]);
    this.selected.set(session_id);
    await this.#parts.view.addCloud({ session_id, name, octree, world_shift });
  }
  /** Draws a session that is only listed so far. */
  async show(sessionId: string): Promise<void> {
    await this.renew(sessionId);
    this.setVisible(sessionId, true);
  }
  /** Shows the octree of a response. */
  async draw(sessionId: string, octree: CloudInput["octree"]): Promise<void> {
    const cloud = this.find(sessionId);
    if (!cloud) return;
    this.#change(sessionId, { octree });
    const input: CloudInput = { session_id: sessionId, name: cloud.name, octree, world_shift: cloud.world_shift };
    await (cloud.octree ? this.#parts.view.updateCloud(input) : this.#parts.view.addCloud(input));
    if (!cloud.is_visible) this.#parts.view.setVisible(sessionId, false);
    if (this.selected.value === null) this.selected.set(sessionId);
    void this.learn();
  }
  /** Builds the octree of the session as it is now, and draws it. Requests that come meanwhile share one more build. */
  async renew(sessionId: string): Promise<void> {
    if (this.#renewing.has(sessionId)) {
      this.#renewing.set(sessionId, true);
      return;
    }
    const cloud = this.find(sessionId);
    if (!cloud) return;
    this.#renewing.set(sessionId, false);
    const { jobs, client, texts } = this.#parts;
    await jobs.run(texts.drawing(cloud.name), async ({ signal }) => {
      const octree: OctreeBlock = await client.rebuildOctree(sessionId, { signal });
      await this.draw(sessionId, octree);
    });
    const again = this.#renewing.get(sessionId);
    this.#renewing.delete(sessionId);
    if (again) await this.renew(sessionId);
  }
  /** Builds an octree again that the service has lost; not all the time where its cache is too small to keep it. */
  async restore(sessionId: string): Promise<void> {
    const now = performance.now();
    if (now < (this.#restored.get(sessionId) ?? Number.NEGATIVE_INFINITY) + RESTORE_AGAIN_MS) return;
    this.#restored.set(sessionId, now);
    await this.renew(sessionId);
  }
  setVisible(sessionId: string, is_visible: boolean): void {
    this.#change(sessionId, { is_visible });
    if (this.find(sessionId)?.octree) this.#parts.view.setVisible(sessionId, is_visible);
  }
  change(sessionId: string, change: Partial<Pick<Cloud, "name" | "scan_origin">>): void {
    this.#change(sessionId, change);
  }
  /** Closes the session: the service frees it, and it cannot come back. */
  async close(sessionId: string): Promise<void> {
    await this.#parts.client.closeSession(sessionId);
    this.#parts.view.removeCloud(sessionId);
    this.#publish(this.list.value.filter(({ session_id }) => session_id !== sessionId));
    this.closed.set(sessionId);
  }

  /** The sessions of the service; undefined if a later request was answered earlier. */
  async #sessions(): Promise<readonly SessionSummary[] | undefined> {
    this.#asked += 1;
    const mine = this.#asked;
    const { sessions } = await this.#parts.client.listSessions();
    if (mine < this.#used) return undefined;
    this.#used = mine;
    return sessions;
  }
  #change(sessionId: string, change: Partial<Cloud>): void {
    this.#publish(this.list.value.map((cloud) => (cloud.session_id === sessionId ? { ...cloud, ...change } : cloud)));
  }
  #publish(list: readonly Cloud[]): void {
    this.list.set(list);
    const shown = list.filter(({ octree }) => octree !== null);
    if (!list.some(({ session_id }) => session_id === this.selected.value)) {
      this.selected.set(shown[0]?.session_id ?? null);
    }
    const remembered: Remembered[] = shown.map(({ session_id, name, is_visible, scan_origin }) => ({
      session_id,
      name,
      is_visible,
      scan_origin,
    }));
    // A refresh first lists sessions without their pictures: what this tab showed before stays remembered.
    const earlier = this.#parts.memory.read(MEMORY_KEY, isRemembered) ?? [];
    const pending = earlier.filter((item) =>
      list.some(({ session_id, octree }) => session_id === item.session_id && octree === null),
    );
    this.#parts.memory.write(MEMORY_KEY, [...remembered, ...pending]);
  }
}
