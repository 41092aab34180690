import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Archive } from "../../backend/services/projects/archive-read.ts";
import { type NewMember, writeArchive } from "../../backend/services/projects/archive-write.ts";
import { folderOfTest } from "../support/run/folders.ts";

/** More than the 65,535 that the counters of a ZIP file without ZIP64 hold. */
const COUNT = 70_000;
const PYTHON = ["/usr/bin/python3", "/usr/local/bin/python3"].find(existsSync);
const nameOf = (i: number) => `sessions/0000000a/history/del${i}.pz`;

test(`an archive of ${COUNT} members`, { timeout: 1_200_000 }, async () => {
  const path = join(folderOfTest("members-"), "many.proj");
  const members = Array.from(
    { length: COUNT },
    (_, i): NewMember => ({
      name: nameOf(i),
      deflated: i % 7 === 0,
      content: async function* () {
        yield Buffer.from(`member ${i}`);
      },
    }),
  );
  const started = process.cpuUsage();
  const bytes = await writeArchive(path, members, new AbortController().signal);
  const written = process.cpuUsage(started).user / 1e6;
  const archive = await Archive.open(path);
  expect(archive.names()).toEqual(members.map(({ name }) => name));
  for (const i of [0, 1, 65_534, 65_535, 65_536, COUNT - 1]) {
    const chunks: Buffer[] = [];
    for await (const chunk of archive.chunks(nameOf(i))) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(`member ${i}`);
  }
  archive.close();
  const read = process.cpuUsage(started).user / 1e6 - written;
  console.log(`${COUNT} members, ${bytes} bytes: written in ${written.toFixed(1)} CPU-s, listed in ${read.toFixed(1)}`);
  if (PYTHON) {
    const program = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(len(z.namelist()), z.testzip())";
    expect(execFileSync(PYTHON, ["-c", program, path], { encoding: "utf8" }).trim()).toBe(`${COUNT} None`);
  }
  const unzip = spawnSync("unzip", ["-tq", path], { encoding: "utf8" });
  if (!unzip.error) expect([unzip.status, unzip.stdout]).toEqual([0, expect.stringContaining("No errors")]);
});
