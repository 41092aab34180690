import { readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Journal } from "../../backend/sessions/journal.ts";
import { decodeJournal } from "../../backend/sessions/journal-codec.ts";
import { folderOfTest } from "../support/run/folders.ts";

/** What every open file does. */
async function fileMethods(path: string): Promise<FileHandle> {
  const file = await open(path, "w");
  await file.close();
  return Object.getPrototypeOf(file) as FileHandle;
}
const fullDisk = () => Promise.reject(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));

test("a half-written record that cannot be cut off stops the journal until it can, and is never read", async () => {
  const folder = folderOfTest("journal-");
  const methods = await fileMethods(join(folder, "any"));
  onTestFinished(() => void vi.restoreAllMocks());
  const path = join(folder, "journal.log");
  const journal = await Journal.create(path);
  await journal.append({ type: "confirmed" });
  vi.spyOn(methods, "datasync").mockImplementationOnce(fullDisk);
  vi.spyOn(methods, "truncate").mockImplementationOnce(fullDisk).mockImplementationOnce(fullDisk);
  await expect(journal.append({ type: "synced", files: ["half"] })).rejects.toMatchObject({ code: "ENOSPC" });
  expect(journal.broken).toMatchObject({ code: "ENOSPC" });
  await expect(journal.append({ type: "synced", files: ["no"] })).rejects.toMatchObject({ code: "io" });
  await journal.append({ type: "synced", files: ["yes"] });
  expect(journal.broken).toBeUndefined();
  await journal.close();
  expect(decodeJournal(readFileSync(path)).records).toEqual([
    { type: "confirmed" },
    { type: "synced", files: ["yes"] },
  ]);
});
