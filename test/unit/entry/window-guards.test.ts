import { expect, test } from "vitest";
import { guardContents, isOwnPage } from "../../../backend/entry/window-guards.ts";

const ORIGIN = "http://127.0.0.1:4321";

function guarded() {
  const listeners = new Map<string, (event: { url: string; preventDefault(): void }) => void>();
  const handlers: Record<string, (...args: never[]) => unknown> = {};
  const keep = (name: string) => (handler: unknown) => {
    handlers[name] = handler as (...args: never[]) => unknown;
  };
  const contents = {
    on: (name: string, listener: (event: { url: string; preventDefault(): void }) => void) => {
      listeners.set(name, listener);
    },
    setWindowOpenHandler: keep("open"),
    session: { setPermissionRequestHandler: keep("request"), setPermissionCheckHandler: keep("check") },
  };
  guardContents(contents as unknown as Parameters<typeof guardContents>[0], ORIGIN);
  const stopped = (event: string, url: string) => {
    let isStopped = false;
    listeners.get(event)?.({
      url,
      preventDefault: () => {
        isStopped = true;
      },
    });
    return isStopped;
  };
  return { stopped, handlers };
}

test.each(["will-navigate", "will-redirect", "will-frame-navigate"])("%s stays at the backend", (event) => {
  const { stopped } = guarded();
  expect(stopped(event, `${ORIGIN}/app#x`)).toBe(false);
  for (const other of [
    "http://127.0.0.1:4322/app",
    "https://127.0.0.1:4321/",
    "file:///etc/passwd",
    "data:text/html,x",
    "?",
  ])
    expect(stopped(event, other), other).toBe(true);
});

test("no views, no windows, no permissions", () => {
  const { stopped, handlers } = guarded();
  expect(stopped("will-attach-webview", ORIGIN)).toBe(true);
  expect(handlers.open?.()).toEqual({ action: "deny" });
  let granted: boolean | undefined;
  handlers.request?.(
    ...([
      {},
      "media",
      (yes: boolean) => {
        granted = yes;
      },
    ] as never[]),
  );
  expect(granted).toBe(false);
  expect(handlers.check?.()).toBe(false);
});

test("a page of another origin only looks like one's own", () => {
  expect(isOwnPage(`${ORIGIN}@evil.example/`, ORIGIN)).toBe(false);
  expect(isOwnPage("blob:http://127.0.0.1:4321/x", ORIGIN)).toBe(true);
});
