import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";

const RAM = "/dev/shm";
/** Where a folder is quick: in memory where the system has such a place. */
export const QUICK = existsSync(RAM) ? RAM : tmpdir();

/** A fresh folder that is removed after the test, also when it fails. Called in a test or its beforeEach. */
export function folderOfTest(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder that is there from the file's first beforeAll on and removed after its last test. Called outside of tests. */
export function folderOfFile(prefix: string, parent = tmpdir()): string {
  const folder = join(parent, prefix + randomUUID());
  beforeAll(() => void mkdirSync(folder));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
