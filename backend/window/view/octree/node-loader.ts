import type { FetchOctreeFile } from "../cloud-view.ts";
import type { IndexedNode } from "./octree-file.ts";

/** A node to fetch; `cloud` tells apart nodes of different octrees. */
export interface Wanted {
  readonly cache_id: string;
  readonly node: IndexedNode;
}

export interface LoaderHandlers {
  readonly loaded: (wanted: Wanted, bytes: Uint8Array) => void;
  readonly failed: (wanted: Wanted, error: unknown) => void;
}

/** Requests at a time: browsers open six connections to one server, and one stays free for other calls. */
const PARALLEL = 5;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

const keyOf = ({ cache_id, node }: Wanted) => `${cache_id}/${node.name}`;

/**
 * Fetches nodes, the most wanted first. Each call of want() replaces what is waiting; a request in flight that is not
 * wanted any more is aborted. A node that fails is tried again after a second, then two, four, up to thirty.
 */
export class NodeLoader {
  readonly #fetch: FetchOctreeFile;
  readonly #handlers: LoaderHandlers;
  readonly #flying = new Map<string, AbortController>();
  readonly #failures = new Map<string, { readonly count: number; readonly until: number }>();
  #waiting: Wanted[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(fetchFile: FetchOctreeFile, handlers: LoaderHandlers) {
    this.#fetch = fetchFile;
    this.#handlers = handlers;
  }

  /** Requests that are waiting or in flight. */
  get pending(): number {
    return this.#waiting.length + this.#flying.size;
  }

  want(list: readonly Wanted[]): void {
    const keys = new Set(list.map(keyOf));
    for (const [key, abort] of this.#flying) if (!keys.has(key)) abort.abort();
    this.#waiting = list.filter((wanted) => !this.#flying.has(keyOf(wanted)));
    this.#start();
  }

  /** Tries nodes that failed again at once. */
  retry(): void {
    this.#failures.clear();
    this.#start();
  }

  dispose(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#waiting = [];
    for (const abort of this.#flying.values()) abort.abort();
  }

  #start(): void {
    if (this.#isOver) return;
    const now = performance.now();
    const late: Wanted[] = [];
    while (this.#flying.size < PARALLEL) {
      const next = this.#waiting.shift();
      if (!next) break;
      if ((this.#failures.get(keyOf(next))?.until ?? 0) > now) late.push(next);
      else void this.#load(next);
    }
    this.#waiting.unshift(...late);
    clearTimeout(this.#timer);
    if (late.length > 0) this.#timer = setTimeout(() => this.#start(), FIRST_RETRY_MS);
  }

  async #load(wanted: Wanted): Promise<void> {
    const key = keyOf(wanted);
    const abort = new AbortController();
    this.#flying.set(key, abort);
    const { byte_offset, byte_size } = wanted.node;
    const range = { start: byte_offset, end: byte_offset + byte_size - 1 };
    try {
      const bytes =
        byte_size === 0
          ? new Uint8Array()
          : await this.#fetch(wanted.cache_id, "octree.bin", range, { signal: abort.signal });
      this.#failures.delete(key);
      if (!abort.signal.aborted && !this.#isOver) this.#handlers.loaded(wanted, bytes);
    } catch (error) {
      if (!abort.signal.aborted) this.#fail(wanted, error);
    } finally {
      this.#flying.delete(key);
      this.#start();
    }
  }

  #fail(wanted: Wanted, error: unknown): void {
    const key = keyOf(wanted);
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1));
    this.#failures.set(key, { count, until: performance.now() + wait });
    this.#waiting.push(wanted);
    this.#handlers.failed(wanted, error);
  }
}
