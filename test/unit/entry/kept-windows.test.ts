import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keptWindows } from "../../../backend/entry/kept-windows.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "kept-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function session(name: string, owner: string): Promise<void> {
  await mkdir(join(folder, "sessions", name), { recursive: true });
  await writeFile(join(folder, "sessions", name, "owner.json"), owner);
}

test("windows whose sessions are left, each once, in the order of their numbers", async () => {
  const owners = ["window-10", "window-2", "window-2", "headless", "window-0", "window-1x", "../window-3"];
  for (const [i, instance] of owners.entries()) await session(`s${i}`, JSON.stringify({ pid: 1, instance }));
  await session("torn", '{"pid": 1, "inst');
  await session("other", '{"instance": 5}');
  await session("nothing", "null");
  await mkdir(join(folder, "sessions", "empty"));
  expect(await keptWindows(folder, 8)).toEqual(["window-2", "window-10"]);
  expect(await keptWindows(folder, 1)).toEqual(["window-2"]);
});

test("no folder of sessions: none", async () => {
  expect(await keptWindows(folder, 8)).toEqual([]);
});
