import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import * as columnFiles from "../../backend/native/core/column-files.ts";
import { ColumnRef } from "../../backend/sessions/column-ref.ts";
import { decodeJournal, encodeRecord } from "../../backend/sessions/journal-codec.ts";
import type { JournalRecord } from "../../backend/sessions/journal-records.ts";
import { writeLease } from "../../backend/sessions/process-lease.ts";
import { type ReadSession, releaseSession } from "../../backend/sessions/session-recovery.ts";
import { create, makeApp, type TestApp } from "../support/app/app.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { deadCopy, readSessionFolder, restartWith } from "../support/session/dead-session.ts";
import { numbersOf, slab } from "../support/session/session-edits.ts";
import { random } from "../support/session-model/source.ts";

const POINTS = 100;
const DELETES = 10;
const TRIALS = Number(process.env.APP_TEST_CORRUPTIONS ?? 120);
/** Sessions per restart: each holds two open files. */
const BATCH = 100;
const SEED = Number(process.env.APP_TEST_SEED ?? 14);
const log = pino({ level: "silent" });
const DEAD = { pid: 2 ** 22 + 1, start_time: "1", instance: "default" }; // above the largest process id of Linux

let template: string;
let id: string;
let records: readonly JournalRecord[];
let ends: readonly number[];
/** Where the record of the nth deletion begins, and of the column that is added after the last. */
let places: number[];
let lateFile: string;
const late = Array.from({ length: POINTS }, (_, i) => (i * 7) % 251);

beforeAll(async () => {
  const made = await makeApp();
  vi.spyOn(made.deps.sessions, "spill").mockResolvedValue(undefined); // a compaction would leave one record
  const rows = Array.from({ length: POINTS }, (_, i) => `${i} 0 0`);
  const { session_id } = await create(made, made.file("line.txt", rows.join("\n")));
  id = session_id;
  const post = async (action: string, payload: object) => {
    const url = `/api/cloud/session/${id}/${action}`;
    expect((await made.app.inject({ method: "POST", url, payload })).statusCode).toBe(200);
  };
  for (let i = 0; i < DELETES; i += 1) await post("delete_region", { region: slab(i, i) });
  const session = await made.deps.sessions.get(id);
  const column = new ColumnRef(new addon.Column("u8", Uint8Array.from(late)));
  await session.commit(session.state, { columns: new Map([["extra/late", column]]) });
  column.release();
  await post("delete_region", { region: slab(20, 29) });
  await post("label_region", { strokes: [{ stroke_id: "a", region: slab(30, 39), to_class: 5 }] });
  template = await deadCopy(made, id);
  await writeLease(join(template, "owner.json"), DEAD);
  await made.close();
  ({ records, ends } = decodeJournal(readFileSync(join(template, "journal.log"))));
  const begins = [0, ...ends];
  places = records.flatMap((record, i) => (record.type === "commit" ? [begins[i] ?? 0] : []));
  const added = records.find((record) => record.type === "commit" && record.columns["extra/late"]);
  lateFile = (added as { columns: Record<string, string> }).columns["extra/late"] ?? "";
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

const change = (folder: string, name: string, edit: (bytes: Buffer) => unknown) => {
  const bytes = readFileSync(join(folder, name));
  edit(bytes);
  writeFileSync(join(folder, name), bytes);
};
const flip =
  (at: number, bit = 6) =>
  (bytes: Buffer) =>
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
const call = async (made: TestApp, method: "GET" | "POST", action: string, payload?: object) => {
  const url = `/api/cloud/session/${id}/${action}`;
  const answer = await made.app.inject({ method, url, ...(payload ? { payload } : {}) });
  expect(answer.statusCode).toBe(200);
  return answer.json() as { deleted_count: number; warnings?: string[] };
};
const asideIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".damaged"));
const deletedOf = async (made: TestApp) =>
  numbersOf(((await made.deps.sessions.get(id)).state.columns.get("deleted") as ColumnRef).native);

describe("damage inside the journal", () => {
  test.each([
    [3, "with its mark"],
    [7, "without a mark"],
  ])("deletion %d of 10, %s: the state before it, a warning in every answer, and nothing is cut", async (n, mark) => {
    const at = (places[n] ?? 0) + 20;
    const made = await restartWith(template, {
      [id]: (folder) => {
        change(folder, "journal.log", flip(at));
        if (mark === "without a mark") rmSync(join(folder, "journal.mark"));
      },
    });
    const damaged = readFileSync(join(template, "journal.log"));
    flip(at)(damaged);
    const folder = join(made.sessions, id);
    expect((await deletedOf(made)).filter(Boolean)).toHaveLength(n);
    const aside = asideIn(folder);
    expect(aside).toHaveLength(1);
    expect(readFileSync(join(folder, aside[0] ?? "", "journal.log"))).toEqual(damaged);
    const warnings = [
      expect.stringMatching(/journal .* damaged .* edits made after that are missing \(\d+ later changes/),
    ];
    expect(await call(made, "GET", "label_summary")).toMatchObject({ warnings });
    expect(await call(made, "POST", "delete_region", { region: slab(90, 94) })).toMatchObject({
      deleted_count: n + 5,
      warnings,
    });
    expect(await call(made, "POST", "rebuild_octree")).toMatchObject({ warnings });
    expect(made.log.find(({ session, level }) => session === id && level >= 50)?.msg).toMatch(
      /without its last changes/,
    );
    // The next restart has the edits since, and still says what is missing.
    const again = await restartAgain(folder);
    expect(await call(again, "POST", "delete_region", { region: slab(95, 95) })).toMatchObject({
      deleted_count: n + 6,
      warnings,
    });
    expect(asideIn(join(again.sessions, id))).toEqual(aside);
  });

  test("the last record, which the mark counts: reported; without the mark it counts as torn", async () => {
    const last = (folder: string) => change(folder, "journal.log", (bytes) => flip(bytes.length - 1)(bytes));
    const made = await restartWith(template, { [id]: last });
    expect(await call(made, "GET", "label_summary")).toMatchObject({ warnings: [expect.stringMatching(/damaged/)] });
    const torn = await restartWith(template, {
      [id]: (folder) => {
        last(folder);
        rmSync(join(folder, "journal.mark"));
      },
    });
    expect(await call(torn, "GET", "label_summary")).not.toHaveProperty("warnings");
  });
});

async function restartAgain(folder: string): Promise<TestApp> {
  const copy = folderOfTest("again-");
  cpSync(folder, join(copy, "t"), { recursive: true });
  await writeLease(join(copy, "t", "owner.json"), DEAD);
  return restartWith(join(copy, "t"), { [id]: () => undefined });
}

test("a child whose parent's journal is damaged is kept: its confirmation may be what is missing", async () => {
  const birth = { parent: "00000001", token: "lost" };
  const at = (places[3] ?? 0) + 20;
  const made = await restartWith(template, {
    [birth.parent]: (folder) => change(folder, "journal.log", flip(at)),
    "00000002": (folder) => {
      const [first, ...rest] = records;
      writeFileSync(
        join(folder, "journal.log"),
        Buffer.concat([{ ...first, birth } as JournalRecord, ...rest].map(encodeRecord)),
      );
    },
  });
  expect(made.deps.sessions.list().map((session) => session.id)).toEqual([birth.parent, "00000002"]);
});

describe("a damaged column file of a late change", () => {
  test.each<[string, (folder: string) => void]>([
    ["a flipped header", (folder) => change(folder, lateFile, flip(3))],
    ["cut short", (folder) => truncateSync(join(folder, lateFile), 50)],
    ["missing", (folder) => rmSync(join(folder, lateFile))],
  ])("%s: the ten deletions before it are there, the rest is named and kept", async (_name, damage) => {
    const made = await restartWith(template, { [id]: damage });
    expect((await deletedOf(made)).filter(Boolean)).toHaveLength(DELETES);
    const session = await made.deps.sessions.get(id);
    expect(session.state.columns.has("extra/late")).toBe(false);
    const { warnings } = await call(made, "GET", "label_summary");
    expect(warnings).toEqual([expect.stringMatching(/column file .* damaged .*\(3 later changes/)]);
    const folder = join(made.sessions, id);
    const aside = join(folder, asideIn(folder)[0] ?? "");
    expect(readFileSync(join(aside, "journal.log"))).toEqual(readFileSync(join(template, "journal.log")));
    expect(existsSync(join(aside, lateFile))).toBe(_name !== "missing");
    expect(existsSync(join(folder, lateFile))).toBe(false);
    expect(await call(made, "POST", "delete_region", { region: slab(95, 95) })).toMatchObject({ deleted_count: 11 });
  });

  test("a flipped value: the first request that needs it is refused, the next has what came before", async () => {
    const made = await restartWith(template, { [id]: (folder) => change(folder, lateFile, flip(90)) });
    expect(await made.deps.sessions.summaries()).toMatchObject([{ session_id: id, state: "ready" }]); // not read yet
    const refused = await made.app.inject({ method: "GET", url: `/api/cloud/session/${id}/label_summary` });
    expect(refused.statusCode).toBe(409);
    expect(refused.json().detail).toMatch(/damaged on the disk.*last undamaged state/);
    const { warnings } = await call(made, "GET", "label_summary");
    expect(warnings).toEqual([expect.stringMatching(/column file .* damaged .*\(3 later changes/)]);
    expect((await deletedOf(made)).filter(Boolean)).toHaveLength(DELETES);
    expect(await made.deps.sessions.summaries()).toMatchObject([{ session_id: id, state: "damaged", is_open: true }]);
    expect(await call(made, "POST", "delete_region", { region: slab(95, 95) })).toMatchObject({ deleted_count: 11 });
  });

  test("a flipped coordinate: an edit is refused, the cloud is listed as damaged and can be removed", async () => {
    const [first] = records;
    const file = (first?.type === "create" && first.columns.positions) || "";
    const made = await restartWith(template, { [id]: (folder) => change(folder, file, flip(200)) });
    const url = `/api/cloud/session/${id}`;
    const edit = () =>
      made.app.inject({ method: "POST", url: `${url}/delete_region`, payload: { region: slab(50, 50) } });
    expect((await edit()).statusCode).toBe(409);
    const gone = await edit();
    expect(gone.statusCode).toBe(404);
    expect(gone.json().detail).toMatch(/is damaged/);
    expect(await made.deps.sessions.summaries()).toMatchObject([{ session_id: id, state: "damaged", is_open: false }]);
    expect((await made.app.inject({ method: "DELETE", url })).statusCode).toBe(200);
    expect(readdirSync(made.sessions)).toEqual([]);
  });
});

test("a cloud removed while its files are compared: the run that waits gets 404, not a damage that is none", async () => {
  const made = await restartWith(template, { [id]: () => undefined });
  const compare = columnFiles.damagedColumnFiles;
  let go: () => void = () => undefined;
  const removed = new Promise<void>((resolve) => {
    go = resolve;
  });
  const late = async (paths: readonly string[]) => removed.then(() => compare(paths).promise);
  vi.spyOn(columnFiles, "damagedColumnFiles").mockImplementationOnce((paths) => ({ promise: late(paths) }) as never);
  const url = `/api/cloud/session/${id}`;
  const waiting = made.app.inject({ method: "GET", url: `${url}/label_summary` });
  await vi.waitFor(() => expect(columnFiles.damagedColumnFiles).toHaveBeenCalled());
  expect((await made.app.inject({ method: "DELETE", url })).statusCode).toBe(200);
  go();
  expect((await waiting).json()).toEqual({ detail: `Cloud session not found: ${id}`, code: "not_found" });
  expect(made.log.filter(({ level }) => level >= 50)).toEqual([]);
});

/** Everything that a session holds, as text. */
const textOf = ({ state: { columns, undo, meta } }: Pick<ReadSession, "state">) => {
  const { recovery_losses: _, ...rest } = meta;
  const values = [...columns].map(([key, { native }]) => [key, native.dtype, ...numbersOf(native)]).sort();
  const strokes = [...undo.labels].map(([slug, list]) => [
    slug,
    list.map(({ stroke_id, to_class }) => [stroke_id, to_class]),
  ]);
  return JSON.stringify([values, undo.deletes.map(({ count }) => count), undo.base?.count, strokes, rest]);
};

/** The states that the session had, as text: one per record. */
async function statesOfTemplate(): Promise<string[]> {
  const folder = join(folderOfTest("states-"), id);
  const states: string[] = [];
  for (const end of ends) {
    rmSync(folder, { recursive: true, force: true });
    cpSync(template, folder, { recursive: true });
    rmSync(join(folder, "journal.mark"));
    truncateSync(join(folder, "journal.log"), end);
    const { disk, state } = (await readSessionFolder(folder, log)) ?? never();
    states.push(textOf({ state }));
    await disk.close();
    releaseSession({ state });
  }
  return states;
}
const NOT_LISTED = { state: "missing", is_open: false, problems: [] as readonly string[] };
const never = (): never => {
  throw new Error("removed as never born");
};

/** The state as a run sees it; undefined if it is refused as damaged. */
async function stateRead(made: TestApp, session: string): Promise<string | undefined> {
  try {
    const found = await made.deps.sessions.get(session);
    return await found.read(null, async (state) => textOf({ state }));
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    expect(["conflict", "not_found"]).toContain(code);
    expect(message).toContain("damaged");
    return undefined;
  }
}

test(`${TRIALS} random corruptions of all files of a session: exact, or refused and listed as damaged`, async () => {
  const next = random(SEED);
  const below = (n: number) => Math.floor(next() * n);
  const states = await statesOfTemplate();
  const outcomes = { exact: 0, reported: 0, lost: 0, refused: 0 };
  const columns = readdirSync(template).filter((name) => name.endsWith(".col"));
  for (let begin = 0; begin < TRIALS; begin += BATCH) {
    const what = new Map<string, string>();
    const corrupt = (session: string) => (folder: string) => {
      const files = ["journal.log", "journal.log", "journal.mark", "owner.json"];
      const name = (below(2) === 1 ? files[below(4)] : columns[below(columns.length)]) ?? "";
      const zeroed = below(2) === 1;
      change(folder, name, (bytes) => {
        const at = below(bytes.length);
        const size = 1 + below(Math.min(400, bytes.length - at));
        what.set(session, `${session}: ${name} of ${bytes.length}, ${zeroed ? `${size} zeros` : "a bit"} at ${at}`);
        if (zeroed) bytes.fill(0, at, at + size);
        else flip(at, below(8))(bytes);
      });
    };
    const ids = Array.from({ length: Math.min(BATCH, TRIALS - begin) }, (_, i) =>
      (begin + i).toString(16).padStart(8, "0"),
    );
    const made = await restartWith(template, Object.fromEntries(ids.map((session) => [session, corrupt(session)])));
    const list = async () => new Map((await made.deps.sessions.summaries()).map((entry) => [entry.session_id, entry]));
    const before = await list();
    const values = new Map<string, string | undefined>();
    for (const session of ids) values.set(session, await stateRead(made, session));
    const after = await list();
    for (const session of ids) {
      const read = values.get(session);
      const { state, is_open, problems } = after.get(session) ?? NOT_LISTED;
      const told = [what.get(session), state, problems.length > 0];
      if (state === "ready") {
        expect([...told, read]).toEqual([told[0], "ready", false, states.at(-1)]);
        outcomes.exact += 1;
        continue;
      }
      expect(told).toEqual([told[0], "damaged", true]);
      if (read === undefined && before.get(session)?.state === "ready") outcomes.refused += 1;
      if (is_open) {
        const now = read ?? (await stateRead(made, session)) ?? "nothing";
        expect([told[0], states.includes(now)]).toEqual([told[0], true]);
      } else {
        expect(told[0]).toMatch(/journal.log|.col/); // its first record, or a file of it
      }
      outcomes[is_open ? "reported" : "lost"] += 1;
    }
    await made.close();
  }
  console.log(`corruptions: ${JSON.stringify(outcomes)}`);
  expect(Math.min(outcomes.exact, outcomes.reported, outcomes.lost, outcomes.refused)).toBeGreaterThan(0);
}, 120_000);
