import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient } from "../../../../shared/client/index.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A service that answers after this time. */
const answering = (after_ms: number, answer: object) =>
  createClient({
    baseUrl: "http://127.0.0.1:1",
    fetch: (_url, init) =>
      new Promise((resolve, reject) => {
        setTimeout(() => resolve(Response.json(answer)), after_ms);
        init?.signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      }),
  });

test("a session whose files take long to remove is closed without an error", async () => {
  const closed = answering(60_000, { session_id: "0123abcd", deleted: true }).closeSession("0123abcd");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await closed).toEqual({ session_id: "0123abcd", deleted: true });
});

test("other short requests are given up after ten seconds", async () => {
  const health = answering(60_000, {})
    .health()
    .catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await health).toMatch("no answer from /health within 10 s");
});
