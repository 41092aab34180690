import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { ColumnRef } from "../../backend/sessions/column-ref.ts";
import { decodeJournal, encodeRecord } from "../../backend/sessions/journal-codec.ts";
import type { Birth, JournalRecord } from "../../backend/sessions/journal-records.ts";
import { appOfTest, create, exported, makeApp, type TestApp } from "../support/app/app.ts";
import { folderOfTest } from "../support/run/folders.ts";
import {
  DEAD,
  deadCopy,
  readSessionFolder,
  rebuildStatus,
  restartWith,
  untouched,
} from "../support/session/dead-session.ts";

let template: string;
let id: string;
let las: Buffer;
let shortColumn: Buffer; // a whole column file, but of one row
/** Stages of the session's meta, after each record that changes it. */
let poses: (readonly number[] | null)[];
beforeAll(async () => {
  const made = await makeApp();
  const tail = await create(made, made.file("a.txt", "x y z class\n1 2 3 4\n2 3 4.5 7\n9 9 9 1\n"), {
    world_shift: [1, 1, 1],
  });
  id = tail.session_id;
  const session = await made.deps.sessions.get(id);
  poses = [null];
  const deleted = new ColumnRef(new addon.Column("u8", Uint8Array.of(0, 1, 0)));
  await session.commit(session.state, { columns: new Map([["deleted", deleted]]), meta: { octree_pose: [1] } });
  deleted.release();
  poses.push([1]);
  await session.commit(session.state, { meta: { octree_pose: [2, 2] } });
  poses.push([2, 2]);
  las = await exported(made, id, "las");
  const short = join(made.folder, "short.col");
  const one = new addon.Column("u8", Uint8Array.of(1));
  await addon.writeColumnFiles([one], [short]).promise;
  one.release();
  shortColumn = readFileSync(short);
  template = await deadCopy(made, id);
  await made.close();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

const restart = (changes: Record<string, (folder: string) => void>) => restartWith(template, changes);
const log = pino({ level: "silent" });
const never = (): never => {
  throw new Error("no session");
};
/** The journal without its last records of that type. */
const without = (type: JournalRecord["type"]) => (folder: string) => {
  const path = join(folder, "journal.log");
  const kept = decodeJournal(readFileSync(path)).records.filter((record) => record.type !== type);
  writeFileSync(path, Buffer.concat(kept.map(encodeRecord)));
};
const flip = (name: string, at: number) => (folder: string) => {
  const bytes = readFileSync(join(folder, name));
  const place = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(place) ^ 0x40, place);
  writeFileSync(join(folder, name), bytes);
};
const columnFile = () => readdirSync(template).find((name) => name.endsWith(".col")) ?? "";

test("a restart recovers the session under its id with every edit, and it can be edited again", async () => {
  const made = await restart({ [id]: untouched });
  expect(await exported(made, id, "las")).toEqual(las);
  const session = await made.deps.sessions.get(id);
  expect(session.state.meta.octree_pose).toEqual([2, 2]);
  expect(session.state.columns.get("positions")?.native.fileBacked).toBe(true);
  expect(await rebuildStatus(made, id)).toBe(200);
  expect(session.state.meta.octree_pose).toBeNull();
});

test.each([
  ["that may not have been acknowledged: no loss", false],
  ["whose end the mark counts: the loss is reported, and the cut journal kept", true],
])("a journal cut at any byte recovers up to its last complete record, %s", async (_name, marked) => {
  const whole = readFileSync(join(template, "journal.log"));
  const ends = [0];
  for (let at = 0; at < whole.length; at += 8 + whole.readUInt32LE(at)) ends.push(at + 8 + whole.readUInt32LE(at));
  expect(ends.at(-1)).toBe(whole.length);
  const { records } = decodeJournal(whole);
  const folder = folderOfTest("cut-");
  cpSync(template, folder, { recursive: true });
  const path = join(folder, "journal.log");
  const mark = readFileSync(join(folder, "journal.mark"));
  for (let length = 0; length <= whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length));
    rmSync(join(folder, "journal.mark"), { force: true });
    if (marked) writeFileSync(join(folder, "journal.mark"), mark);
    const kept = ends.filter((end) => end <= length).length - 1;
    if (kept === 0) {
      await expect(readSessionFolder(folder, log)).rejects.toMatchObject({ code: "invalid_file" });
      continue;
    }
    const { disk, state, loss } = (await readSessionFolder(folder, log)) ?? never();
    const commits = records.slice(0, kept).filter(({ type }) => type === "commit").length;
    expect([length, state.meta.octree_pose, state.columns.has("deleted")]).toEqual([
      length,
      poses[commits],
      commits > 0,
    ]);
    const lost = marked && length < whole.length;
    expect([length, loss !== undefined, state.meta.recovery_losses?.length]).toEqual([
      length,
      lost,
      lost ? 1 : undefined,
    ]);
    const now = decodeJournal(readFileSync(path));
    expect(now.length).toBe(statSync(path).size); // the torn tail is gone, so that the next record is found
    expect(now.ends.slice(0, kept)).toEqual(ends.slice(1, kept + 1));
    const aside = readdirSync(folder).filter((name) => name.endsWith(".damaged"));
    expect(aside.length).toBe(lost ? 1 : 0);
    for (const name of aside) {
      expect(readFileSync(join(folder, name, "journal.log"))).toEqual(whole.subarray(0, length));
      rmSync(join(folder, name), { recursive: true });
    }
    await disk.close();
    for (const column of state.columns.values()) column.release();
  }
});

test("files that a dead process was writing are removed: a lease, a journal", async () => {
  const unfinished = ["owner.json.4711-0badcafe.tmp", "journal.log.new"];
  const made = await restart({
    [id]: (folder) => {
      for (const name of unfinished) writeFileSync(join(folder, name), "half");
    },
  });
  const names = readdirSync(join(made.sessions, id));
  expect(names.filter((name) => unfinished.includes(name))).toEqual([]);
  expect(await exported(made, id, "las")).toEqual(las);
});

test("garbage at the end of the journal is cut off, and the next edit is found again", async () => {
  const garbage = Buffer.alloc(100, 0xa5);
  const made = await restart({ [id]: (folder) => writeFileSync(join(folder, "journal.log"), garbage, { flag: "a" }) });
  const session = await made.deps.sessions.get(id);
  await session.commit(session.state, { meta: { octree_pose: [3] } });
  const { records } = decodeJournal(readFileSync(join(made.sessions, id, "journal.log")));
  expect(records.at(-1)).toMatchObject({ type: "commit", meta: { octree_pose: [3] } });
});

describe("damage", () => {
  test.each<[string, (folder: string) => void]>([
    [
      "a column file cut short",
      (folder) => truncateSync(join(folder, columnFile()), statSync(join(folder, columnFile())).size - 1),
    ],
    ["an empty column file", (folder) => truncateSync(join(folder, columnFile()), 0)],
    ["a column file that is missing", (folder) => rmSync(join(folder, columnFile()))],
    ["a header byte of a column file flipped", (folder) => flip(columnFile(), 3)(folder)],
    [
      "a value flipped in a column that was never flushed",
      (folder) => {
        without("synced")(folder);
        flip(columnFile(), -1)(folder);
      },
    ],
    ["a column of another cloud", (folder) => writeFileSync(join(folder, columnFile()), shortColumn)],
    ["an empty journal", (folder) => truncateSync(join(folder, "journal.log"), 0)],
    ["no journal", (folder) => rmSync(join(folder, "journal.log"))],
    ["the first record flipped", flip("journal.log", 12)],
    ["a journal without its first record", without("create")],
  ])("%s: the folder is set aside with a log line and a 404; the other session is intact", async (_name, change) => {
    const original = folderOfTest("original-");
    cpSync(template, original, { recursive: true });
    const made = await restart({ "0000aaaa": change, [id]: untouched, ffffffff: untouched });
    expect(await rebuildStatus(made, "0000aaaa")).toBe(404);
    expect(await exported(made, id, "las")).toEqual(las);
    expect(await exported(made, "ffffffff", "las")).toEqual(las);
    const line = made.log.find(({ session, level }) => session === "0000aaaa" && level >= 50);
    expect(line?.msg).toMatch(/could not be recovered; its folder is kept as \.damaged/);
    const kept = readdirSync(made.sessions).filter((name) => name.startsWith("0000aaaa"));
    expect(kept).toEqual([expect.stringMatching(/^0000aaaa\.\d+\.damaged$/)]);
    // Whoever looks at it finds what was there.
    const damaged = join(made.sessions, kept[0] ?? "");
    change(original);
    expect(readdirSync(damaged).sort()).toEqual([...readdirSync(original), "owner.json.lock"].sort()); // the claim's lock
    for (const name of readdirSync(original)) {
      if (name !== "owner.json")
        expect(readFileSync(join(damaged, name)).equals(readFileSync(join(original, name))), name).toBe(true);
    }
  });

  test("an error not caused by the folder leaves it for the next request", async () => {
    const mapColumnFile = addon.mapColumnFile;
    addon.mapColumnFile = () => {
      throw Object.assign(new Error("too many mappings"), { code: "out_of_memory" });
    };
    let made: TestApp;
    try {
      made = await restart({ [id]: untouched });
      const answer = await made.app.inject({ url: `/api/cloud/session/${id}/label_summary` });
      expect([answer.statusCode, answer.json()]).toMatchObject([
        404,
        {
          code: "not_found",
          detail: expect.stringMatching(/is not available. It could not be read .*too many mappings/),
        },
      ]);
    } finally {
      addon.mapColumnFile = mapColumnFile;
    }
    expect(existsSync(join(made.sessions, id, "journal.log"))).toBe(true);
    expect(await rebuildStatus(made, id)).toBe(200);
  });
});

/** Makes a session one that its parent has to vouch for. */
const unconfirmed = (folder: string, birth: Birth) => {
  const path = join(folder, "journal.log");
  const [first, ...rest] = decodeJournal(readFileSync(path)).records;
  writeFileSync(path, Buffer.concat([{ ...first, birth } as JournalRecord, ...rest].map(encodeRecord)));
};

test("half of a split is not recovered, even if its parent is deleted during the recovery", async () => {
  const birth = { parent: "00000001", token: "never" };
  const folder = folderOfTest("restart-");
  for (const name of [birth.parent, "00000002", "00000003"]) {
    cpSync(template, join(folder, "data", "sessions", name), { recursive: true });
    if (name === "00000003") unconfirmed(join(folder, "data", "sessions", name), birth);
  }
  const made = await appOfTest({}, folder); // sessions are on their way back
  expect(await made.deps.sessions.delete(birth.parent)).toBe(true);
  await made.deps.sessions.recovered();
  expect(made.deps.sessions.list().map((session) => session.id)).toEqual(["00000002"]);
  expect(existsSync(join(folder, "data", "sessions", "00000003"))).toBe(false);
});

test.each([
  ["its parent's record", true],
  ["a parent that was deleted since", false],
])("a child that was answered but not confirmed is recovered for good: %s", async (_, withParent) => {
  const birth = { parent: "00000001", token: "done" };
  const folder = folderOfTest("restart-");
  const place = (name: string) => join(folder, "data", "sessions", name);
  for (const name of withParent ? [birth.parent, "00000003"] : ["00000003"])
    cpSync(template, place(name), { recursive: true });
  unconfirmed(place("00000003"), birth);
  if (withParent)
    appendFileSync(
      join(place(birth.parent), "journal.log"),
      encodeRecord({ type: "commit", columns: {}, meta: {}, births: "done" }),
    );
  const made = await appOfTest({}, folder);
  await made.deps.sessions.recovered();
  expect(made.deps.sessions.list().map((session) => session.id)).toContain("00000003");
  const { records } = decodeJournal(readFileSync(join(place("00000003"), "journal.log")));
  expect(records.at(-1)).toEqual({ type: "confirmed" });
});

test("a restart computes motions, strokes and dropped rows that are in no file, in their order", async () => {
  const free = addon.bulkBytesInUse();
  const made = await appOfTest();
  vi.spyOn(made.deps.sessions, "spill").mockResolvedValue(undefined); // as if killed before the files were written
  const rows = Array.from({ length: 50 }, (_, i) => `${i} 0 0 ${i % 3}`);
  const { session_id } = await create(made, made.file("b.txt", ["x y z class", ...rows].join("\n")));
  const post = async (action: string, payload: object) => {
    const url = `/api/cloud/session/${session_id}/${action}`;
    expect((await made.app.inject({ method: "POST", url, payload })).statusCode).toBe(200);
  };
  const slab = (from: number, to: number) => ({ kind: "box", min: [from, -99, -99], max: [to, 99, 99] });
  const stroke = (stroke_id: string, from: number, to: number, to_class: number) => ({
    strokes: [{ stroke_id, region: slab(from, to), to_class }],
  });
  const shift = (x: number) => ({ matrix: [1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] });
  await post("label_region", stroke("a", 0, 9, 1));
  await post("delete_region", { region: slab(5, 14) });
  await post("bake", {});
  await post("transform", shift(100));
  await post("label_region", stroke("b", 100, 102, 2));
  await post("delete_region", { region: slab(120, 129) });
  await post("bake", {});
  await post("label_region", stroke("c", 102, 104, 3));
  await post("reset_label_edits", { undo_after_stroke_ids: [] });
  await post("label_region", stroke("d", 148, 149, 4));
  await post("delete_region", { region: slab(140, 140) });
  await post("transform", shift(0.5));
  const before = await exported(made, session_id, "csv", { columns: ["class", "manual_class"] });
  const folder = folderOfTest("computed-");
  cpSync(join(made.sessions, session_id), join(folder, "data", "sessions", session_id), { recursive: true });
  writeFileSync(join(folder, "data", "sessions", session_id, "owner.json"), DEAD);
  await made.close();
  const again = await appOfTest({}, folder);
  await again.deps.sessions.recovered();
  expect(await exported(again, session_id, "csv", { columns: ["class", "manual_class"] })).toEqual(before);
  const lines = before.toString().split("\n");
  expect([lines.length, lines[1], lines.at(-1)]).toEqual([
    30,
    "100.500000,0.000000,0.000000,0,2",
    "149.500000,0.000000,0.000000,1,4",
  ]);
  await again.close();
  expect(addon.bulkBytesInUse()).toBe(free); // at once, without garbage collection
});
