import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { appOfTest, run, type TestApp } from "../support/app/app.ts";
import { contentsOf, opened, saved } from "../support/project/project.ts";
import { worldOf } from "../support/project/world.ts";
import { DEAD } from "../support/session/dead-session.ts";
import { lineCloud, stateOf } from "../support/session/session-edits.ts";

/** Called before and after each rename and removal of the service; throws to make one fail. */
const moves = vi.hoisted(() => ({ watch: undefined as ((when: string, path: string) => void) | undefined }));
vi.mock("../../backend/file-moves.ts", async (original) => {
  const real = await original<typeof import("../../backend/file-moves.ts")>();
  const watched = async (what: string, path: string, act: () => Promise<void>) => {
    moves.watch?.(`before ${what}`, path);
    await act();
    moves.watch?.(`after ${what}`, path);
  };
  return {
    ...real,
    rename: (from: string, to: string) => watched("rename", to, () => real.rename(from, to)),
    remove: (path: string) => watched("remove", path, () => real.remove(path)),
  };
});

const COUNT = 3;
let source: TestApp;
let path: string;
let ids: string[];
beforeEach(async () => {
  moves.watch = undefined;
  source = await appOfTest();
  path = join(source.folder, "three.proj");
  ids = [];
  for (let i = 0; i < COUNT; i += 1) ids.push((await lineCloud(source, [1, 2, 3 + i])).session_id);
  await saved(source, path, ids);
});

/** A copy of the data as a process that died at this moment leaves it. */
function deadCopyOf(made: TestApp): string {
  const folder = mkdtempSync(join(tmpdir(), "together-"));
  const root = join(folder, "data", "sessions");
  cpSync(made.sessions, root, { recursive: true });
  for (const name of readdirSync(root)) {
    const owner = join(root, name, "owner.json");
    if (existsSync(owner)) writeFileSync(owner, DEAD);
    if (name.endsWith(".note")) renameSync(join(root, name), join(root, name.replace(`${process.pid}`, `${2 ** 30}`)));
    if (!/\.(placing|undoing)$/.test(name)) continue;
    const note = JSON.parse(readFileSync(join(root, name), "utf8")) as object;
    writeFileSync(join(root, name), JSON.stringify({ ...note, owner: JSON.parse(DEAD) as object }));
  }
  return folder;
}

/** Contents of the sessions that a restart over the folder finds. Everything else must be gone. */
async function restarted(folder: string, at: string): Promise<Contents[]> {
  const made = await appOfTest({}, folder);
  await made.deps.sessions.recovered();
  const found = made.deps.sessions.list().map(({ id }) => id);
  await expect.poll(() => readdirSync(made.sessions).sort(), { message: at }).toEqual([...found].sort());
  const contents = found.map((id) =>
    contentsOf(made.deps.sessions.list().find((one) => one.id === id)?.state as never),
  );
  await made.close();
  return contents;
}

type Contents = ReturnType<typeof contentsOf>;

/** In the order of their sources. */
const ordered = (all: readonly Contents[]) =>
  [...all].sort((a, b) => `${a.meta.source_path}`.localeCompare(`${b.meta.source_path}`));

/** Opens the project and keeps the data of every moment at which a folder or a note moves. */
async function openedWatched(made: TestApp, fail: (when: string, path: string) => void = () => undefined) {
  const moments: { readonly at: string; readonly folder: string }[] = [];
  moves.watch = (when, moved) => {
    if (!moved.startsWith(made.sessions) || moved.slice(made.sessions.length + 1).includes("/")) return;
    moments.push({ at: `${when} ${basename(moved)}`, folder: deadCopyOf(made) });
    fail(when, moved);
  };
  const { outcome } = await run(made, "/api/project/open", { path });
  moves.watch = undefined;
  return { outcome, moments };
}

test("a crash at any moment of an open leaves all of its sessions or none", async () => {
  const wanted: Contents[] = [];
  for (const id of ids) wanted.push(contentsOf(await stateOf(source, id)));
  const made = await appOfTest();
  const { outcome, moments } = await openedWatched(made);
  expect(outcome.kind).toBe("json");
  const counts: number[] = [];
  for (const { at, folder } of moments) {
    const back = await restarted(folder, at);
    if (back.length > 0) expect(ordered(back), at).toEqual(ordered(wanted));
    counts.push(back.length);
  }
  // None until the note is there, then all: three folders are placed, the note is removed.
  expect(counts).toEqual([0, ...Array.from({ length: 2 * COUNT + 3 }, () => COUNT)]);
  expect(worldOf(made).folders).toHaveLength(COUNT);
});

test("an open whose folders cannot be placed leaves none, also after a crash in the middle of the removal", async () => {
  const made = await appOfTest();
  mkdirSync(made.octrees, { recursive: true });
  const before = [worldOf(made), addon.bulkBytesInUse()];
  let placed = 0;
  const { outcome, moments } = await openedWatched(made, (when, moved) => {
    if (when !== "before rename" || !/\/[0-9a-f]{8}$/.test(moved)) return;
    placed += 1;
    if (placed === 2) throw Object.assign(new Error("input/output error"), { code: "EIO", syscall: "rename" });
  });
  expect(outcome).toMatchObject({ kind: "failed" });
  expect([worldOf(made), addon.bulkBytesInUse()]).toEqual(before);
  let undoing = false;
  for (const { at, folder } of moments) {
    undoing ||= at.startsWith("after rename") && at.endsWith(".undoing");
    const { length } = await restarted(folder, at);
    expect(undoing ? [0] : [0, COUNT], at).toContain(length);
  }
  expect(undoing).toBe(true);
  await opened(made, path);
  expect(made.deps.sessions.list()).toHaveLength(COUNT);
});
