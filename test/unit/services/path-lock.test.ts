import { mkdir, mkdtemp, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Job } from "../../../backend/jobs/job.ts";
import { withPathLock } from "../../../backend/services/projects/path-lock.ts";

test("a project is one project, whatever links lead to its folder", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "path-lock-")));
  await mkdir(join(folder, "a"));
  await symlink(join(folder, "a"), join(folder, "b"));
  const waited: string[] = [];
  const job = {
    signal: new AbortController().signal,
    checkpoint: () => undefined,
    whileWaiting: async (label: string, body: () => Promise<void>) => {
      waited.push(label);
      await body();
    },
  } as unknown as Job;
  const order: string[] = [];
  const save = (path: string, name: string, ms: number) =>
    withPathLock(path, join(folder, "data"), job, async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, ms));
      order.push(`${name} ends`);
    });
  const first = save(join(folder, "a", "p.proj"), "first", 300);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await Promise.all([first, save(join(folder, "b", "p.proj"), "second", 0)]);
  expect(order).toEqual(["first begins", "first ends", "second begins", "second ends"]);
  expect(waited).toEqual(["Waiting for another save or opening of this project"]);
});
