import { expect, test } from "vitest";
import { guardContents, isOwnPage, reviveContents } from "../../../backend/entry/window-guards.ts";

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

test("a page that crashed is loaded again, one that crashes again and again after a question", async () => {
  let time = 0;
  let gone: (event: unknown, details: { reason: string; exitCode: number }) => void = () => undefined;
  const done: string[] = [];
  const contents = {
    on: (_name: "render-process-gone", listener: typeof gone) => {
      gone = listener;
    },
    reload: () => void done.push("reload"),
  };
  let answer = false;
  reviveContents(contents as unknown as Parameters<typeof reviveContents>[0], {
    now: () => time,
    log: () => undefined,
    ask: async (reason) => {
      done.push(reason);
      return answer;
    },
  });
  const crash = async (after: number, reason = "crashed") => {
    time += after;
    gone({}, { reason, exitCode: 5 });
    await Promise.resolve();
    await Promise.resolve();
    return done.splice(0);
  };
  expect(await crash(0, "clean-exit")).toEqual([]);
  expect([await crash(10), await crash(10)]).toEqual([["reload"], ["reload"]]);
  expect(await crash(10, "oom")).toEqual(["oom"]);
  answer = true;
  expect([await crash(10), await crash(70_000), await crash(10)]).toEqual([["reload"], ["reload"], ["reload"]]);
  expect(await crash(10)).toEqual(["crashed", "reload"]);
});
