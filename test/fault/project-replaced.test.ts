import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Job } from "../../backend/jobs/job.ts";
import { addon } from "../../backend/native/core/addon.ts";
import { openProject } from "../../backend/services/projects/open.ts";
import type { OpenProjectTail } from "../../shared/contract/project.ts";
import { opened, saved } from "../support/project/project.ts";
import { failed, lineCloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const project = async (values: readonly number[], name: string) => {
  const { session_id } = await lineCloud(made, values);
  const path = join(made.folder, name);
  await saved(made, path, [session_id]);
  return { path, session_id };
};

/** Calls `act` before the first column of a project is read from its file. */
async function atTheFirstColumn<T>(act: () => void, body: () => Promise<T>): Promise<T> {
  const original = addon.unpackArray;
  let first = true;
  addon.unpackArray = (...args) => {
    if (first) act();
    first = false;
    return original.apply(addon, args);
  };
  try {
    return await body();
  } finally {
    addon.unpackArray = original;
  }
}

test("a save waits until the project is read, and replaces it then", async () => {
  const { path } = await project([1, 2, 3], "live.proj");
  const { session_id: other } = await lineCloud(made, [4]);
  const order: string[] = [];
  let saving: Promise<unknown> = Promise.resolve();
  const save = () => {
    saving = saved(made, path, [other], { overwrite: true }).then(() => order.push("saved"));
  };
  const read = async () => {
    const tail = await opened(made, path);
    order.push("opened");
    return tail;
  };
  const first = await atTheFirstColumn(save, read);
  await saving;
  expect(order).toEqual(["opened", "saved"]);
  expect(await countsOf(first)).toEqual([3]);
  expect(await countsOf(await opened(made, path))).toEqual([1]);
});

const countsOf = async ({ session_map }: OpenProjectTail) =>
  Promise.all(
    Object.values(session_map ?? {}).map(
      async (id) => (await made.deps.sessions.get(id)).state.columns.get("positions")?.length,
    ),
  );

test("a project that another program replaces meanwhile is not called damaged", async () => {
  const { path } = await project([1, 2, 3], "mine.proj");
  const before = readdirSync(made.sessions).sort();
  const replace = () => {
    writeFileSync(`${path}.new`, "shorter");
    renameSync(`${path}.new`, path);
  };
  const { tail } = await atTheFirstColumn(replace, () => failed(made, "/api/project/open", { path }));
  expect(tail).toMatchObject({
    success: false,
    code: "conflict",
    error: expect.stringMatching(/mine\.proj" was replaced while it was read\. Open it again/),
  });
  expect(readdirSync(made.sessions).sort()).toEqual(before);
});

test("a cancel while the sessions are published leaves none", async () => {
  const { path } = await project([1, 2, 3], "late.proj");
  const before = made.deps.sessions.list().map(({ id }) => id);
  const job = new Job();
  const { sessions } = made.deps;
  const register = sessions.registerRestored;
  sessions.registerRestored = async (restored) => {
    const out = await register(restored);
    job.cancel();
    return out;
  };
  try {
    await expect(openProject({ path, warnings: [] }, made.deps, job)).rejects.toMatchObject({ code: "canceled" });
  } finally {
    sessions.registerRestored = register;
  }
  expect(sessions.list().map(({ id }) => id)).toEqual(before);
});
