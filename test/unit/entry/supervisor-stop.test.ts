import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { running, supervise } from "../../support/process/supervised.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("stop", () => {
  test("asks the process to end and returns its exit code", async () => {
    const { supervisor, at, states } = await running();
    at(0).onPost = () => at(0).exit(0);
    await expect(supervisor.stop()).resolves.toEqual({ exit_code: 0, killed: false });
    expect(at(0).posted.at(-1)).toEqual({ type: "stop", removeSessions: true });
    expect(states()).toEqual(["starting", "ready", "stopped"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states()).toHaveLength(3);
  });

  test("can keep the sessions", async () => {
    const { supervisor, at } = await running();
    at(0).onPost = () => at(0).exit(0);
    await supervisor.stop({ removeSessions: false });
    expect(at(0).posted.at(-1)).toEqual({ type: "stop", removeSessions: false });
  });

  test.each([false, true])(
    "kills a process that does not end and resolves within 1 s (unkillable: %s)",
    async (reluctant) => {
      const { supervisor, at, processes } = await running();
      at(0).reluctant = reluctant;
      const began = performance.now();
      const stopped = supervisor.stop().then((exit) => ({ ...exit, ms: performance.now() - began }));
      await vi.advanceTimersByTimeAsync(1_000);
      const { ms, ...exit } = await stopped;
      expect(exit).toEqual({ exit_code: null, killed: true });
      expect(ms).toBeLessThan(1_000);
      expect(at(0).killed).toBe(true);
      at(0).exit(9); // late: nobody restarts it
      await vi.advanceTimersByTimeAsync(60_000);
      expect(processes).toHaveLength(1);
    },
  );

  test("stops once when called twice", async () => {
    const { supervisor, at } = await running();
    const both = [supervisor.stop(), supervisor.stop()];
    at(0).exit(0);
    expect(await Promise.all(both)).toEqual(Array(2).fill({ exit_code: 0, killed: false }));
    expect(at(0).posted.filter(({ type }) => type === "stop")).toHaveLength(1);
  });

  test("ends a pending start", async () => {
    const { supervisor, at } = supervise();
    const refused = expect(supervisor.start()).rejects.toMatchObject({ code: "canceled" });
    at(0).onPost = () => at(0).exit(0);
    await supervisor.stop();
    await refused;
    expect(supervisor.state).toBe("stopped");
  });

  test("ends a pending restart", async () => {
    const { supervisor, at, processes } = await running();
    at(0).exit(1);
    await expect(supervisor.stop()).resolves.toEqual({ exit_code: null, killed: false });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(processes).toHaveLength(1);
    expect(supervisor.state).toBe("stopped");
  });

  test("without a process resolves", async () => {
    const { supervisor, states } = supervise();
    await expect(supervisor.stop()).resolves.toEqual({ exit_code: null, killed: false });
    expect(states()).toEqual([]);
  });
});
