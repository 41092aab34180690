import { expect, test } from "vitest";
import { DesktopWindows, isQuit, type WindowBackend } from "../../../backend/entry/desktop-windows.ts";
import type { StateChange } from "../../../backend/entry/supervisor-contract.ts";
import { AppError } from "../../../shared/errors.ts";

class FakeBackend implements WindowBackend {
  state: WindowBackend["state"] = "stopped";
  stops = 0;
  keeps: boolean | undefined;
  constructor(
    readonly instance: string,
    readonly tell: (change: StateChange) => void,
    readonly failure: Error | undefined,
  ) {}
  async start() {
    if (this.failure) throw this.failure;
    this.state = "ready";
    this.tell({ state: "ready" });
    return { url: "http://127.0.0.1:1", port: 1, pid: 1 };
  }
  async stop({ removeSessions }: { readonly removeSessions: boolean }) {
    this.stops += 1;
    this.keeps ??= !removeSessions;
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.state = "stopped";
    return { exit_code: 0, killed: false };
  }
}

function make() {
  const backends: FakeBackend[] = [];
  const opened: { instance: string; files: readonly string[]; closed: (keepsSessions: boolean) => void }[] = [];
  const told: string[] = [];
  const next: { failure?: Error; window?: Error } = {};
  const windows = new DesktopWindows<FakeBackend>({
    makeBackend: (instance, tell) => {
      const backend = new FakeBackend(instance, tell, next.failure);
      backends.push(backend);
      return backend;
    },
    openWindow: async ({ instance }, files, closed) => {
      if (next.window) throw next.window;
      opened.push({ instance, files, closed });
    },
    onState: ({ instance, state }) => told.push(`${instance} ${state}`),
  });
  return { windows, backends, opened, told, next };
}

test("each window has a backend and an instance of its own, also for the same file", async () => {
  const { windows, backends, opened, told } = make();
  expect(windows.idle).toBe(true);
  await Promise.all([windows.open(["/a.las"]), windows.open(["/a.las"])]);
  expect(backends.map(({ instance }) => instance)).toEqual(["window-1", "window-2"]);
  expect(opened.map(({ files }) => files)).toEqual([["/a.las"], ["/a.las"]]);
  expect(told).toEqual(["window-1 ready", "window-2 ready"]);
  expect(windows.idle).toBe(false);
});

test("a closed window ends its backend alone, and the next window has its number", async () => {
  const { windows, backends, opened } = make();
  await windows.open([]);
  await windows.open([]);
  opened[0]?.closed(false);
  await expect.poll(() => backends[0]?.state).toBe("stopped");
  expect(backends[1]?.state).toBe("ready");
  await windows.open([]);
  expect(backends.map(({ instance }) => instance)).toEqual(["window-1", "window-2", "window-1"]);
});

test("a number is free only when its backend has stopped", async () => {
  const { windows, backends, opened } = make();
  await windows.open([]);
  opened[0]?.closed(false);
  await windows.open([]); // the first is still stopping
  expect(backends[1]?.instance).toBe("window-2");
});

test("a closed window removes or keeps its sessions as it says", async () => {
  const { windows, backends, opened } = make();
  await Promise.all([windows.open([]), windows.open([])]);
  opened[0]?.closed(false);
  opened[1]?.closed(true);
  await windows.stopAll();
  expect(backends.map(({ keeps }) => keeps)).toEqual([false, true]);
});

test("kept sessions are opened by a window of their number", async () => {
  const { windows, backends } = make();
  await Promise.all([windows.open(["/a.las"], "window-3"), windows.open([]), windows.open([], "window-3")]);
  expect(backends.map(({ instance }) => instance)).toEqual(["window-3", "window-1", "window-2"]);
});

test("a backend that does not start leaves nothing behind", async () => {
  const { windows, backends, next } = make();
  next.failure = new AppError("internal", "no port");
  await expect(windows.open([])).rejects.toThrow("no port");
  expect(windows.idle).toBe(true);
  expect(backends[0]?.stops).toBe(1);
});

test("a window that does not open ends its backend", async () => {
  const { windows, backends, next } = make();
  next.window = new Error("no display");
  await expect(windows.open([])).rejects.toThrow("no display");
  expect(backends[0]).toMatchObject({ state: "stopped", keeps: true });
  expect(windows.idle).toBe(true);
});

test("stopAll ends all of them", async () => {
  const { windows, backends } = make();
  await windows.open([]);
  await windows.open([]);
  await windows.stopAll();
  expect(backends.map(({ state }) => state)).toEqual(["stopped", "stopped"]);
  expect(backends.map(({ keeps }) => keeps)).toEqual([true, true]);
  expect(windows.idle).toBe(true);
});

test("a start that the app's end cut off is no failure", () => {
  expect(isQuit(new AppError("canceled", "stopped"))).toBe(true);
  expect(isQuit(new AppError("internal", "died"))).toBe(false);
  expect(isQuit(new Error("canceled"))).toBe(false);
});
