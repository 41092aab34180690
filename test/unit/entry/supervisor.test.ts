import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { restartDelayMs } from "../../../backend/entry/supervisor-contract.ts";
import { FAKE_PORT } from "../../support/process/fake-backend-process.ts";
import { running, supervise } from "../../support/process/supervised.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("start", () => {
  test("passes port 0, folders, instance and a random token to the process", () => {
    const { supervisor, at } = supervise();
    void supervisor.start();
    expect(at(0).env).toEqual({
      PATH: "/bin",
      APP_AUTH_TOKEN: supervisor.token,
      APP_BACKEND_PORT: "0",
      APP_DATA_DIR: "/data",
      APP_OCTREE_CACHE_ROOT: "/cache",
      APP_INSTANCE_ID: "window-1",
    });
    expect(supervisor.token).toMatch(/^[0-9a-f]{64}$/);
    expect(supervise().supervisor.token).not.toBe(supervisor.token);
  });

  test("resolves with the address when ready and acknowledges every repeat", async () => {
    const { supervisor, at, states } = supervise();
    const started = supervisor.start();
    expect(supervisor.address).toBeUndefined();
    at(0).ready();
    at(0).ready();
    const address = { url: `http://127.0.0.1:${FAKE_PORT}`, port: FAKE_PORT, pid: 100 };
    await expect(started).resolves.toEqual(address);
    expect(supervisor.address).toEqual(address);
    expect(at(0).posted).toEqual([{ type: "ready-ack" }, { type: "ready-ack" }]);
    expect(states()).toEqual(["starting", "ready"]);
  });

  test.each([
    ["another version", { version: "1.2.4" }, /version is 1\.2\.4, not 1\.2\.3/],
    ["a foreign address", { url: "http://10.0.0.1:4711" }, /unusable address/],
    ["a port that is none", { port: Number.NaN, url: "http://127.0.0.1:NaN" }, /unusable address/],
  ])("refuses and kills a process with %s", async (_, message, reason) => {
    const { supervisor, at, states } = supervise();
    const started = supervisor.start();
    at(0).ready(message);
    await expect(started).rejects.toMatchObject({ code: "internal", message: expect.stringMatching(reason) });
    expect(at(0)).toMatchObject({ killed: true, posted: [] });
    expect(states()).toEqual(["starting", "stopped"]);
  });

  test("rejects with the failure in the log if the process ends", async () => {
    const { supervisor, at, lines } = supervise();
    const started = supervisor.start();
    at(0).log('{"level":60,"msg":"the addon is missing"}');
    at(0).log('{"level":30,"msg":"something usual"}');
    at(0).exit(1);
    await expect(started).rejects.toMatchObject({
      message: "the backend did not start: it ended with exit code 1; it said: the addon is missing",
      details: { reason: expect.stringContaining("exit code 1") },
    });
    expect(lines).toHaveLength(2);
  });

  test("kills a process that is silent for 120 s", async () => {
    const { supervisor, at } = supervise();
    const started = supervisor.start();
    const refused = expect(started).rejects.toMatchObject({ code: "internal", message: /not ready within 120 s/ });
    await vi.advanceTimersByTimeAsync(119_999);
    expect(at(0).killed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(at(0).killed).toBe(true);
    await refused;
  });

  test("rejects if the process cannot be created", async () => {
    const { supervisor, states } = supervise({
      startProcess: () => {
        throw new Error("no such file");
      },
    });
    await expect(supervisor.start()).rejects.toMatchObject({ message: /could not be started: no such file/ });
    expect(states()).toEqual(["starting", "stopped"]);
  });

  test("is refused while the backend runs and possible again after a stop", async () => {
    const { supervisor, at } = await running();
    await expect(supervisor.start()).rejects.toMatchObject({ code: "conflict" });
    at(0).onPost = () => at(0).exit(0);
    await supervisor.stop();
    const again = supervisor.start();
    at(1).ready();
    await expect(again).resolves.toMatchObject({ port: FAKE_PORT, pid: 101 });
  });

  test("invalid messages change nothing", async () => {
    const { supervisor, at } = supervise();
    const started = supervisor.start();
    for (const junk of [null, undefined, 7, "ready", {}, { type: "other" }]) at(0).say(junk);
    expect(supervisor.state).toBe("starting");
    at(0).ready();
    await started;
  });
});

describe("restart", () => {
  test("uses the same port, token and folders", async () => {
    const { supervisor, at, changes } = await running();
    at(0).exit(9);
    expect(supervisor.address).toBeUndefined();
    expect(changes.at(-1)).toEqual({
      state: "restarting",
      reason: "it ended with exit code 9",
      delay_ms: 100,
      attempt: 1,
    });
    await vi.advanceTimersByTimeAsync(100);
    expect(at(1).env).toEqual({ ...at(0).env, APP_BACKEND_PORT: String(FAKE_PORT) });
    at(1).ready();
    expect(changes.at(-1)).toMatchObject({ state: "ready", address: { port: FAKE_PORT, pid: 101 } });
  });

  test("waits longer each time, never above the cap, and never gives up", async () => {
    const { at, changes, processes } = await running();
    at(0).exit(1);
    for (let i = 1; i <= 40; i += 1) {
      await vi.advanceTimersByTimeAsync(10_000);
      at(i).exit(1);
    }
    const delays = changes.flatMap(({ delay_ms }) => delay_ms ?? []);
    expect(delays.slice(0, 9)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    expect(new Set(delays.slice(8))).toEqual(new Set([10_000]));
    expect(processes).toHaveLength(41);
    expect(restartDelayMs(1e9)).toBe(10_000);
  });

  test("is quick again after a healthy process, not after one that ended early", async () => {
    const { at, changes } = await running();
    at(0).exit(1);
    await vi.advanceTimersByTimeAsync(100);
    at(1).ready();
    await vi.advanceTimersByTimeAsync(29_999);
    at(1).exit(1);
    expect(changes.at(-1)?.delay_ms).toBe(200);
    await vi.advanceTimersByTimeAsync(200);
    at(2).ready();
    await vi.advanceTimersByTimeAsync(30_000);
    at(2).exit(1);
    expect(changes.at(-1)?.delay_ms).toBe(100);
  });

  test("continues after a wrong port, another version and a hang", async () => {
    const { supervisor, at, changes } = await running();
    at(0).exit(1);
    await vi.advanceTimersByTimeAsync(100);
    at(1).ready({ port: FAKE_PORT + 1 });
    expect(changes.at(-1)?.reason).toBe(`it listens on port ${FAKE_PORT + 1}, not ${FAKE_PORT}`);
    await vi.advanceTimersByTimeAsync(200);
    at(2).ready({ version: "9.9.9" });
    expect(changes.at(-1)?.reason).toMatch(/version is 9\.9\.9/);
    await vi.advanceTimersByTimeAsync(400);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(changes.at(-1)?.reason).toMatch(/not ready within 120 s/);
    await vi.advanceTimersByTimeAsync(800);
    at(4).ready();
    expect(supervisor.state).toBe("ready");
    expect([1, 2, 3, 4].map((i) => at(i).killed)).toEqual([true, true, true, false]);
  });

  test("ignores messages of a process that is being killed", async () => {
    const { supervisor, at } = supervise();
    void supervisor.start().catch(() => undefined);
    at(0).reluctant = true;
    at(0).ready({ version: "9.9.9" });
    at(0).ready();
    expect(supervisor.state).toBe("starting");
    expect(at(0).posted).toEqual([]);
  });
});
