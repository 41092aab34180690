import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { addon } from "../../../backend/native/addon.ts";

let folder: string;
let path: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "threads-"));
  path = join(folder, "a.col");
  await addon.writeColumnFile(new addon.Column("u8", Uint8Array.of(1, 2, 3)), path).promise;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const threads = () => readdirSync("/proc/self/task");

test.runIf(process.platform === "linux")(
  "jobs one after the other share a thread, which ends when none comes",
  async () => {
    await addon.verifyColumnFile(path).promise;
    const before = new Set(threads());
    const seen = new Set<string>();
    for (let i = 0; i < 100; i += 1) {
      const { promise } = addon.verifyColumnFile(path);
      for (const thread of threads()) if (!before.has(thread)) seen.add(thread);
      expect(await promise).toBe(true);
    }
    expect(seen.size).toBeLessThan(10); // a job may begin before the thread of the last one waits again
    await vi.waitFor(() => expect(threads().length).toBeLessThan(before.size), { timeout: 5000, interval: 50 });
  },
);

test("jobs at the same time all run, however many threads wait", async () => {
  for (let round = 0; round < 3; round += 1) {
    const jobs = Array.from({ length: 200 }, () => addon.verifyColumnFile(path).promise);
    expect(await Promise.all(jobs)).toEqual(jobs.map(() => true));
  }
});

test("pages to keep are a whole number of bytes, and can be let go twice", () => {
  for (const bytes of [-1, 0.5, Number.NaN, "1"]) expect(() => addon.reusePages(bytes as number)).toThrow(/bytes/);
  const release = addon.reusePages(1 << 20);
  release();
  release();
});
