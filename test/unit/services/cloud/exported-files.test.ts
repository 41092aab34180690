import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Job } from "../../../../backend/jobs/job.ts";
import { ExportedFiles } from "../../../../backend/services/cloud/export/scans/files.ts";
import { destination } from "../../../../backend/services/files/destination.ts";
import { newFolder } from "../../../support/scans/scan-export.ts";
import { sessionTest } from "../../../support/session/session-test.ts";

const made = sessionTest();
const NAMES = ["a.xyz", "b.xyz", "c.xyz"];

/** Three new files for a folder, and what a user has there. */
async function newFiles(old: Readonly<Record<string, string>>) {
  const folder = newFolder(made);
  for (const [name, text] of Object.entries(old)) await writeFile(join(folder, name), text);
  const wish = { overwrite: true, format: "xyz", extensions: [".xyz"] };
  const places = await Promise.all(
    NAMES.map(
      async (name) => [name, await destination({ ...wish, dest_path: join(folder, name) }, made.deps)] as const,
    ),
  );
  const files = new ExportedFiles(new Map(places));
  for (const name of NAMES) await files.writeText(name, `new ${name}`);
  const contents = async () => {
    const names = (await readdir(folder)).sort();
    const texts = names.map(async (name) => [name, await readFile(join(folder, name), "utf8").catch(() => "folder")]);
    return Object.fromEntries(await Promise.all(texts));
  };
  return { files, folder, contents };
}

test("all files are new, or all are what they were", async () => {
  const old = { "a.xyz": "old a", "b.xyz": "old b" };
  const good = await newFiles(old);
  await good.files.deliver(NAMES, new Job(), () => undefined);
  await good.files.discard();
  expect(await good.contents()).toEqual({ "a.xyz": "new a.xyz", "b.xyz": "new b.xyz", "c.xyz": "new c.xyz" });

  const bad = await newFiles(old);
  await mkdir(join(bad.folder, "c.xyz")); // after the checks of the request
  await expect(bad.files.deliver(NAMES, new Job(), () => undefined)).rejects.toThrow(/c\.xyz/);
  await bad.files.discard();
  expect(await bad.contents()).toEqual({ ...old, "c.xyz": "folder" });
});

test("a cancel between two files brings the old ones back, and leaves none where there was none", async () => {
  const { files, contents } = await newFiles({ "a.xyz": "old a" });
  const stop = (name: string) => {
    if (name === "c.xyz") throw new Error("canceled");
  };
  await expect(files.deliver(NAMES, new Job(), stop)).rejects.toThrow("canceled");
  await files.discard();
  expect(await contents()).toEqual({ "a.xyz": "old a" });
});
