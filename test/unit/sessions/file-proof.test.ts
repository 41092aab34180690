import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import * as columnFiles from "../../../backend/native/core/column-files.ts";
import { FileProof, PROOF_LABEL } from "../../../backend/sessions/file-proof.ts";
import type { AppError } from "../../../shared/errors.ts";
import { folderOfTest } from "../../support/run/folders.ts";

/** A folder with two column files; `damage` flips a bit of the second. */
async function twoFiles(damage: boolean) {
  const folder = folderOfTest("proof-");
  const files = ["0.col", "1.col"];
  const column = new addon.Column("u8", new Uint8Array(100));
  await columnFiles.writeColumnFiles(
    [column, column],
    files.map((file) => join(folder, file)),
  ).promise;
  column.release();
  if (damage) {
    const bytes = readFileSync(join(folder, "1.col"));
    bytes.writeUInt8(bytes.readUInt8(120) ^ 4, 120);
    writeFileSync(join(folder, "1.col"), bytes);
  }
  const found: AppError[] = [];
  const note = (error: AppError) => {
    found.push(error);
    return error;
  };
  return { folder, files, found, proof: new FileProof(folder, files, note) };
}

test("whole files are read once, in the background, and nobody waits again", async () => {
  const { proof, found } = await twoFiles(false);
  const read = vi.spyOn(columnFiles, "damagedColumnFiles");
  proof.begin();
  proof.begin();
  await proof.passed(null);
  await proof.passed(null);
  expect(read).toHaveBeenCalledTimes(1);
  expect(found).toEqual([]);
});

test("a damaged file is told once, and every request that waits is refused", async () => {
  const { proof, found, folder } = await twoFiles(true);
  const ends = await Promise.allSettled([proof.passed(null), proof.passed(null)]);
  await expect(proof.passed(null)).rejects.toMatchObject({ code: "conflict" });
  expect(ends).toMatchObject([{ reason: { code: "conflict" } }, { reason: { code: "conflict" } }]);
  expect(found).toHaveLength(1);
  expect(found[0]?.cause).toMatchObject({ message: `damaged: ${join(folder, "1.col")}` });
});

test("a run that waits shows it, holds no memory, and can be canceled", async () => {
  const { proof } = await twoFiles(false);
  let finish: (damaged: number[]) => void = () => undefined;
  const pending = new Promise<number[]>((resolve) => {
    finish = resolve;
  });
  vi.spyOn(columnFiles, "damagedColumnFiles").mockReturnValue({ promise: pending } as never);
  const controller = new AbortController();
  const whileQueued = vi.fn((_label: string, wait: () => Promise<void>) => wait());
  const waiting = proof.passed({ signal: controller.signal, whileQueued });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "canceled" });
  expect(whileQueued).toHaveBeenCalledWith(PROOF_LABEL, expect.any(Function));
  finish([]);
  await proof.passed(null);
});

test("files that cannot be read now are read again for the next request", async () => {
  const { proof, found } = await twoFiles(false);
  const failure = Object.assign(new Error("read: Input/output error"), { code: "io" });
  vi.spyOn(columnFiles, "damagedColumnFiles").mockReturnValueOnce({ promise: Promise.reject(failure) } as never);
  await expect(proof.passed(null)).rejects.toBe(failure);
  await proof.passed(null);
  expect(found).toEqual([]);
});
