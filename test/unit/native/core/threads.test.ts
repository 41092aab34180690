import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { addon } from "../../../../backend/native/core/addon.ts";
import { addonPath } from "../../../../backend/native/core/load.ts";
import { folderOfFile } from "../../../support/run/folders.ts";
import { eventually } from "../../../support/run/stopwatch.ts";

const folder = folderOfFile("threads-");
const path = join(folder, "a.col");
beforeAll(async () => {
  await addon.writeColumnFiles([new addon.Column("u8", Uint8Array.of(1, 2, 3))], [path]).promise;
});

const threads = () => readdirSync("/proc/self/task");

test.runIf(process.platform === "linux")(
  "consecutive jobs share a thread, which ends when no job follows",
  async () => {
    await addon.damagedColumnFiles([path]).promise;
    const before = new Set(threads());
    const seen = new Set<string>();
    let most = 0;
    for (let i = 0; i < 100; i += 1) {
      const { promise } = addon.damagedColumnFiles([path]);
      const now = threads(); // the job's thread is one of them, also if the machine stops for a while
      most = Math.max(most, now.length);
      for (const thread of now) if (!before.has(thread)) seen.add(thread);
      expect(await promise).toEqual([]);
    }
    expect(seen.size).toBeLessThan(10); // a job may begin before the thread of the last one waits again
    await eventually(() => expect(threads().length).toBeLessThan(most));
  },
);

test("concurrent jobs all run, however many threads wait", async () => {
  for (let round = 0; round < 3; round += 1) {
    const jobs = Array.from({ length: 200 }, () => addon.damagedColumnFiles([path]).promise);
    expect(await Promise.all(jobs)).toEqual(jobs.map(() => []));
  }
});

/** Most threads of a process of its own while it scales a column of 32 MiB. */
async function threadsOfScaling(threads: number): Promise<number> {
  const script = `
    const { readdirSync } = require("node:fs");
    const addon = require(${JSON.stringify(addonPath())});
    const tasks = () => readdirSync("/proc/self/task").length;
    addon.setThreadsOfJobs(${threads});
    const column = new addon.Column("f32", new Float32Array(8 << 20));
    const before = tasks();
    const { promise } = addon.scaleColumn(column, 2);
    addon.setThreadsOfJobs(0);
    promise.then(() => console.log(tasks() - before)); // they wait for the next job
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", script]);
  return Number(stdout);
}

test.runIf(process.platform === "linux" && availableParallelism() > 1)(
  "a job has the number of threads set at its start",
  async () => {
    expect(await threadsOfScaling(1)).toBe(1);
    expect(await threadsOfScaling(2)).toBe(2);
  },
);

test("the number of threads must be a whole number up to 4096", () => {
  for (const threads of [-1, 0.5, Number.NaN, "1", 4097])
    expect(() => addon.setThreadsOfJobs(threads as number)).toThrow(/threads/);
  expect(addon.setThreadsOfJobs(0)).toBe(0);
});

test("every column file needs a path", () => {
  const column = new addon.Column("u8", Uint8Array.of(1));
  expect(() => addon.writeColumnFiles([column], [])).toThrow(/as many/);
  expect(() => addon.writeColumnFiles([column], [7 as unknown as string])).toThrow(/paths/);
  expect(() => addon.writeColumnFiles("a" as unknown as [], [])).toThrow(/columns/);
});

test("a column file that cannot be written ends the job with the system's reason; later files are not begun", async () => {
  const column = new addon.Column("u8", Uint8Array.of(1));
  const paths = [join(folder, "one.col"), join(folder, "none", "two.col"), join(folder, "three.col")];
  await expect(addon.writeColumnFiles([column, column, column], paths).promise).rejects.toMatchObject({
    message: expect.stringContaining("two.col"),
    code: expect.stringMatching(/io|not_found/),
  });
  expect(paths.map((path) => existsSync(path))).toEqual([true, false, false]);
});

test("the pages to keep must be a whole number of bytes, and may be released twice", () => {
  for (const bytes of [-1, 0.5, Number.NaN, "1"]) expect(() => addon.reusePages(bytes as number)).toThrow(/bytes/);
  const release = addon.reusePages(1 << 20);
  release();
  release();
});
