import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NodeLoader, type Wanted } from "../../../backend/window/view/octree/node-loader.ts";

const wanted = (name: string): Wanted => ({
  cache_id: "c",
  node: { name, level: 0, byte_offset: 100, byte_size: 10, point_count: 1, bounds: {} as never, children: [] },
});

interface Request {
  readonly range: { start: number; end: number } | undefined;
  readonly signal: AbortSignal | undefined;
  answer(bytes: Uint8Array): void;
  fail(): void;
}
let requests: Request[] = [];
let loaded: string[] = [];
let failed: string[] = [];
const make = () =>
  new NodeLoader(
    (_, __, range, options) =>
      new Promise((resolve, reject) => {
        options?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
        requests.push({ range, signal: options?.signal, answer: resolve, fail: () => reject(new Error("lost")) });
      }),
    { loaded: ({ node }) => loaded.push(node.name), failed: ({ node }) => failed.push(node.name) },
  );

beforeEach(() => {
  vi.useFakeTimers();
  [requests, loaded, failed] = [[], [], []];
});
afterEach(() => vi.useRealTimers());
const settle = () => vi.advanceTimersByTimeAsync(0);

test("fetches the range of a node, five at a time, in the order of the wishes", async () => {
  const loader = make();
  loader.want(["a", "b", "c", "d", "e", "f"].map(wanted));
  expect(requests).toHaveLength(5);
  expect(requests[0]?.range).toEqual({ start: 100, end: 109 });
  expect(loader.pending).toBe(6);
  requests[2]?.answer(new Uint8Array(10));
  await settle();
  expect(loaded).toEqual(["c"]);
  expect(requests).toHaveLength(6);
  loader.dispose();
});

test("aborts what is no longer wanted, and does not ask twice for what is on its way", async () => {
  const loader = make();
  loader.want(["a", "b"].map(wanted));
  loader.want(["b"].map(wanted));
  await settle();
  expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
  expect(failed).toEqual([]);
  loader.dispose();
  expect(requests[1]?.signal?.aborted).toBe(true);
});

test("tries a failed node again after a second, then after two", async () => {
  const loader = make();
  loader.want([wanted("a")]);
  requests[0]?.fail();
  await settle();
  expect([failed, requests.length]).toEqual([["a"], 1]);
  await vi.advanceTimersByTimeAsync(1100);
  expect(requests).toHaveLength(2);
  requests[1]?.fail();
  await vi.advanceTimersByTimeAsync(1100);
  expect(requests).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1100);
  expect(requests).toHaveLength(3);
  requests[2]?.answer(new Uint8Array(10));
  await settle();
  expect(loaded).toEqual(["a"]);
  loader.dispose();
});
