import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { decodeJournal } from "../../backend/sessions/journal-codec.ts";
import { SessionsResponse } from "../../shared/contract/cloud-session/sessions.ts";
import { appOfTest, create, exported, makeApp, type TestApp } from "../support/app/app.ts";
import { type SmallDisk, smallDisk } from "../support/run/small-disk.ts";
import { DEAD } from "../support/session/dead-session.ts";
import { slab } from "../support/session/session-edits.ts";

const MIB = 1 << 20;
const probe = smallDisk(MIB);
probe?.unmount();
const DELETED = 30;
const ROWS = Array.from({ length: 100 }, (_, i) => `${i} 0 0`).join("\n");

function diskOfTest(): SmallDisk {
  const disk = smallDisk(4 * MIB) as SmallDisk;
  onTestFinished(() => disk.unmount());
  return disk;
}

/** A disk with the sessions of a dead process, its first points deleted, one edit per point. */
async function deadSessions(count: number) {
  const disk = diskOfTest();
  const made = await makeApp({ dataDir: disk.folder });
  vi.spyOn(made.deps.sessions, "spill").mockResolvedValue(undefined); // a compaction would leave one record
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push((await create(made, made.file(`line${i}.txt`, ROWS))).session_id);
  for (const id of ids) {
    for (let i = 0; i < DELETED; i += 1) expect((await edit(made, id, i)).statusCode).toBe(200);
  }
  const before = await exported(made, ids[0] ?? "", "las");
  await made.close();
  for (const id of ids) writeFileSync(join(disk.folder, "sessions", id, "owner.json"), DEAD);
  return { disk, ids, before, folder: (id: string) => join(disk.folder, "sessions", id) };
}

const edit = (made: TestApp, id: string, x: number) =>
  made.app.inject({ method: "POST", url: `/api/cloud/session/${id}/delete_region`, payload: { region: slab(x, x) } });
const remove = (made: TestApp, id: string) => made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` });
const listed = async (made: TestApp) => {
  const { sessions } = SessionsResponse.parse((await made.app.inject({ url: "/api/cloud/sessions" })).json());
  return sessions.map(({ session_id, state, is_open, problems }) => ({ session_id, state, is_open, problems }));
};
const statesOf = async (made: TestApp) =>
  Object.fromEntries((await listed(made)).map(({ session_id, state }) => [session_id, state]));
const deletions = (made: TestApp, id: string) =>
  made.app
    .inject({ method: "POST", url: `/api/cloud/session/${id}/reset_edits`, payload: { edit_count: 99 } })
    .then((answer) => [answer.statusCode, answer.json()] as const);

describe.skipIf(!probe)("a restart on a full disk", () => {
  test("sessions can be read and are listed as read-only; with space again they can be edited, nothing else needed", async () => {
    const { disk, ids, before } = await deadSessions(2);
    const [id = "", other = ""] = ids;
    disk.fill();
    const made = await appOfTest({ dataDir: disk.folder });
    expect(await statesOf(made)).toEqual({ [id]: "read_only", [other]: "read_only" });
    expect((await listed(made))[0]).toMatchObject({
      is_open: true,
      problems: [expect.stringMatching(/cannot be changed, because .*no space left on device/)],
    });
    expect(await exported(made, id, "las")).toEqual(before);
    const refused = await edit(made, id, 50);
    expect([refused.statusCode, refused.json()]).toMatchObject([
      507,
      { code: "no_space", detail: expect.stringMatching(/cannot be changed.*no space left/) },
    ]);
    expect(await exported(made, id, "las")).toEqual(before);
    disk.empty();
    const edited = await edit(made, id, 50);
    expect([edited.statusCode, edited.json()]).toMatchObject([200, { deleted_count: DELETED + 1 }]);
    expect(await listed(made)).toEqual([
      { session_id: id, state: "ready", is_open: true, problems: [] },
      { session_id: other, state: "ready", is_open: true, problems: [] },
    ]);
    const owner = JSON.parse(readFileSync(join(made.sessions, other, "owner.json"), "utf8")) as { pid: number };
    expect(owner.pid).toBe(process.pid);
    await made.deps.sessions.close();
    const again = await appOfTest({ dataDir: disk.folder });
    expect((await edit(again, id, 51)).json()).toMatchObject({ deleted_count: DELETED + 2 });
  });

  test("DELETE frees a read-only session, and with its space the other one can be edited", async () => {
    const { disk, ids, folder } = await deadSessions(2);
    const [id = "", other = ""] = ids;
    disk.fill();
    const made = await appOfTest({ dataDir: disk.folder });
    expect(await statesOf(made)).toEqual({ [id]: "read_only", [other]: "read_only" });
    expect((await remove(made, id)).json()).toEqual({ session_id: id, deleted: true });
    expect([existsSync(folder(id)), readdirSync(made.sessions)]).toEqual([false, [other]]);
    expect((await remove(made, id)).json()).toEqual({ session_id: id, deleted: false });
    expect((await edit(made, other, 50)).statusCode).toBe(200);
    expect(await statesOf(made)).toEqual({ [other]: "ready" });
  });

  test.each([
    ["no space at all", 0],
    ["space for the claim, none for the new journal", 4096],
  ])(
    "with a damaged journal, %s: what is readable, with the loss; kept aside once when there is space",
    async (_, left) => {
      const { disk, ids, folder } = await deadSessions(1);
      const [id = ""] = ids;
      const path = join(folder(id), "journal.log");
      const bytes = readFileSync(path);
      const { ends } = decodeJournal(bytes);
      expect(bytes.length).toBeGreaterThan(4096);
      const at = (ends.at(-3) ?? 0) + 20; // in the last record but one
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(path, bytes);
      disk.fill(left);
      const made = await appOfTest({ dataDir: disk.folder });
      const asides = () => readdirSync(folder(id)).filter((name) => name.endsWith(".damaged"));
      for (let i = 0; i < 3; i += 1) {
        expect(await listed(made)).toMatchObject([
          {
            state: "read_only",
            problems: [expect.stringMatching(/no space/), expect.stringMatching(/journal .* damaged/)],
          },
        ]);
        expect([asides(), readFileSync(path).equals(bytes)]).toEqual([[], true]);
      }
      disk.empty();
      const [state] = await listed(made);
      expect(state).toMatchObject({
        state: "damaged",
        is_open: true,
        problems: [expect.stringMatching(/journal .* damaged/)],
      });
      expect(asides()).toHaveLength(1);
      expect(readFileSync(join(folder(id), asides()[0] ?? "", "journal.log")).equals(bytes)).toBe(true);
      expect((await edit(made, id, 50)).statusCode).toBe(200);
      expect((await deletions(made, id))[1]).toMatchObject({ warnings: state?.problems });
      await made.deps.sessions.close();
      const again = await appOfTest({ dataDir: disk.folder });
      expect(await listed(again)).toEqual([state]);
      expect(asides()).toHaveLength(1);
    },
  );

  test("octrees that no session shows make room: nothing stays read-only", async () => {
    const { disk, ids } = await deadSessions(1);
    const [id = ""] = ids;
    const octrees = join(disk.folder, "octrees");
    cpSync(join(disk.folder, "sessions"), join(octrees, "0".repeat(40)), { recursive: true }); // as big as one
    disk.fill();
    const made = await appOfTest({ dataDir: disk.folder, octreeCacheRoot: octrees });
    await made.deps.sessions.recovered();
    const gone = () => expect(existsSync(join(octrees, "0".repeat(40)))).toBe(false);
    await vi.waitFor(gone, { timeout: 15_000, interval: 5 }); // at once, not at the poll after 30 s
    expect(await statesOf(made)).toEqual({ [id]: "ready" });
    expect((await edit(made, id, 50)).statusCode).toBe(200);
  });

  test("another backend that opens the session meanwhile keeps it: edits are a conflict, then it is no longer listed here", async () => {
    const { disk, ids, folder } = await deadSessions(1);
    const [id = ""] = ids;
    disk.fill();
    const made = await appOfTest({ dataDir: disk.folder });
    const tried = () => expect(made.log.map(({ msg }) => msg)).toContain("session still read-only");
    await vi.waitFor(tried, { timeout: 15_000, interval: 5 }); // the start's own attempt, which would find the other backend
    expect(await statesOf(made)).toEqual({ [id]: "read_only" });
    disk.empty();
    const living = JSON.stringify({ pid: process.ppid, start_time: null, instance: "default" });
    writeFileSync(join(folder(id), "owner.json"), living);
    expect((await edit(made, id, 50)).statusCode).toBe(409);
    expect((await remove(made, id)).statusCode).toBe(409);
    expect([await listed(made), existsSync(folder(id))]).toEqual([[], true]);
    writeFileSync(join(folder(id), "owner.json"), DEAD); // it ended
    expect(await statesOf(made)).toEqual({ [id]: "ready" });
    expect((await edit(made, id, 50)).json()).toMatchObject({ deleted_count: DELETED + 1 });
  });
});

describe.skipIf(!probe)("a restart on a read-only disk", () => {
  test("sessions can be read; edits and DELETE say why they fail; both succeed when it can be written again", async () => {
    const { disk, ids, before, folder } = await deadSessions(1);
    const [id = ""] = ids;
    disk.protect(true);
    const made = await appOfTest({ dataDir: disk.folder });
    expect(await statesOf(made)).toEqual({ [id]: "read_only" });
    expect(await exported(made, id, "las")).toEqual(before);
    const refused = await edit(made, id, 50);
    expect([refused.statusCode, refused.json()]).toMatchObject([
      500,
      { code: "io", detail: expect.stringMatching(/read-only/i) },
    ]);
    const kept = await remove(made, id);
    expect([kept.statusCode, kept.json()]).toMatchObject([
      500,
      { code: "io", detail: expect.stringMatching(/read-only/i) },
    ]);
    expect(await statesOf(made)).toEqual({ [id]: "read_only" });
    expect(await exported(made, id, "las")).toEqual(before);
    disk.protect(false);
    expect((await edit(made, id, 50)).json()).toMatchObject({ deleted_count: DELETED + 1 });
    expect(await statesOf(made)).toEqual({ [id]: "ready" });
    expect((await remove(made, id)).json()).toEqual({ session_id: id, deleted: true });
    expect(existsSync(folder(id))).toBe(false);
  });
});
