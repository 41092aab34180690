import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection } from "../../../backend/window/workflow/connection.ts";
import { ApiError, type Client } from "../../../shared/client/index.ts";

const lost = () => new ApiError(0, "network", "the connection to the service failed", undefined);
const healthy = { health: async () => ({}) } as unknown as Client;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("after a request without an answer, onOnline runs again although the service answers at once", async () => {
  let times = 0;
  const connection = new Connection(healthy, async () => {
    times += 1;
  });
  connection.check();
  await vi.advanceTimersByTimeAsync(0);
  expect([connection.state.value, times]).toEqual(["online", 1]);
  connection.noticed(lost());
  await vi.advanceTimersByTimeAsync(0);
  expect([connection.state.value, times]).toEqual(["online", 2]);
  connection.stop();
});

test("a request of onOnline without an answer is looked at again, ever more slowly", async () => {
  let times = 0;
  const connection: Connection = new Connection(healthy, async () => {
    times += 1;
    if (times <= 3) connection.noticed(lost());
  });
  connection.check();
  await vi.advanceTimersByTimeAsync(0);
  expect([connection.state.value, times]).toEqual(["lost", 1]);
  await vi.advanceTimersByTimeAsync(250 + 500);
  expect([connection.state.value, times]).toEqual(["lost", 3]);
  await vi.advanceTimersByTimeAsync(999);
  expect(times).toBe(3);
  await vi.advanceTimersByTimeAsync(1);
  expect([connection.state.value, times]).toEqual(["online", 4]);
  connection.stop();
});
