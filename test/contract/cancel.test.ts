import { beforeEach, expect, test } from "vitest";
import { baseAppOfTest, type MadeApp } from "../support/app/base-app.ts";
import { FakeNative } from "../support/native/fake-native.ts";

let made: MadeApp;
beforeEach(async () => {
  made = await baseAppOfTest();
});
const cancel = async (id: string) =>
  (await made.app.inject({ method: "POST", url: `/api/cancel/${id}` })).json() as unknown;

test("cancel is idempotent during the run, and false before and after it", async () => {
  const native = new FakeNative<never>();
  let run_id = "";
  let unwound: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    unwound = resolve;
  });
  const run = made.jobs.run((job) => job.track(() => native).finally(() => gate), {
    onStart: (job) => {
      run_id = job.id;
    },
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(await cancel("0".repeat(32))).toEqual({ canceled: false, cancelled: false, run_id: "0".repeat(32) });
  expect(await cancel(run_id)).toEqual({ canceled: true, cancelled: true, run_id });
  expect(await cancel(run_id)).toEqual({ canceled: true, cancelled: true, run_id });
  expect(native.cancelCount).toBe(1);
  unwound();
  await expect(run).rejects.toMatchObject({ code: "canceled" });
  expect(await cancel(run_id)).toEqual({ canceled: false, cancelled: false, run_id });
});

test("any text is accepted as id, and an empty body under any content type", async () => {
  expect(await cancel("%2e%2e%2fx")).toEqual({ canceled: false, cancelled: false, run_id: "../x" });
  const headers = { "content-type": "application/json" };
  const answer = await made.app.inject({ method: "POST", url: "/api/cancel/a", headers });
  expect([answer.statusCode, answer.json()]).toEqual([200, { canceled: false, cancelled: false, run_id: "a" }]);
});
