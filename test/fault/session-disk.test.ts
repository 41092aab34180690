import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { create, exported, makeApp, run, type TestApp } from "../support/app/app.ts";
import { type SmallDisk, smallDisk } from "../support/run/small-disk.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";

const MIB = 1 << 20;
const BLOCK = 4096;
const POINTS = 200_000; // 4.8 MB of coordinates
const probe = smallDisk(MIB);
probe?.unmount();
let disk: SmallDisk;
let made: TestApp;
beforeAll(() => {
  const mounted = probe && smallDisk(24 * MIB);
  if (mounted) disk = mounted;
});
afterEach(async () => {
  await made.deps.sessions.deleteAll(); // the disk is the next test's
  await made.close();
  disk.empty();
});
afterAll(() => disk?.unmount());

/** A session whose folder is on the small disk and whose octrees are not. */
async function open(points: number): Promise<string> {
  made = await makeApp({ dataDir: disk.folder });
  const { session_id } = await create(made, made.file("big.las", bigLasBytes(points)));
  await (await made.deps.sessions.get(session_id)).settled();
  return session_id;
}
const post = async (id: string, path: string, payload: object) => {
  const answer = await made.app.inject({ method: "POST", url: `/api/cloud/session/${id}/${path}`, payload });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
};
const tail = async (id: string, path: string, payload: object = {}) =>
  (await run(made, `/api/cloud/session/${id}/${path}`, payload)).outcome;
const stateOf = async (id: string) => (await made.deps.sessions.get(id)).state;
const files = () => readdirSync(made.sessions, { recursive: true }).map(String).sort();
const LEFT = { kind: "box", min: [0, 0, -9], max: [4.5, 99, 99] };
const STROKE = { stroke_id: "a", region: LEFT, to_class: 7 };
const NO_SPACE = { status: 507, body: { code: "no_space", detail: expect.stringMatching(/space/i) } };
const NO_SPACE_IN_BAND = { kind: "failed", code: "no_space", error: expect.stringMatching(/space/i) };

/** Small records until the next one needs a block of the disk of its own, which a full disk has not. */
async function fillLastBlock(id: string): Promise<void> {
  const room = () => BLOCK - (statSync(join(made.sessions, id, "journal.log")).size % BLOCK);
  for (let turn = 0; room() > 200 && turn < 1000; turn += 1) {
    const session = await made.deps.sessions.get(id);
    await session.commit(session.state, { meta: {} });
  }
}

/** What must be as it was when an edit found no room. */
const world = async (id: string) => ({
  state: (await stateOf(id)).version,
  files: files(),
  sessions: made.deps.sessions.list().length,
  bytes: addon.bulkBytesInUse(),
});

describe.skipIf(!probe)("a full disk in the session store", () => {
  test.each<[string, string, object, number]>([
    ["delete_region", "delete_region", { region: LEFT }, 0],
    ["label_region", "label_region", { slug: "mine", strokes: [STROKE] }, 0],
    ["split", "split", { region: LEFT }, MIB],
    ["extract", "extract", { region: LEFT }, MIB],
    ["duplicate", "duplicate", {}, MIB],
  ])("%s: 507, nothing changes, and it succeeds when there is space again", async (_name, path, payload, left) => {
    const id = await open(POINTS);
    disk.fill(left);
    const before = await world(id);
    expect(await post(id, path, payload)).toMatchObject(NO_SPACE);
    await eventually(async () => expect(await world(id)).toEqual(before));
    expect((await made.app.inject({ url: `/api/cloud/session/${id}/label_summary` })).statusCode).toBe(200);
    disk.empty();
    expect(await post(id, path, payload)).toMatchObject({ status: 200, body: { session_id: id } });
  });

  test.each<[string, string, object, number]>([
    ["bake", "bake", {}, 0], // writes a journal record and nothing else
    ["filter", "filter", { region: LEFT }, 0],
    ["filter without octree", "filter", { region: LEFT, rebuild: false }, 0],
    ["extract_by_column", "extract_by_column", { slug: "mine" }, MIB],
  ])(
    "%s: the error in its answer, nothing changes, and it succeeds when there is space again",
    async (_name, path, payload, left) => {
      const id = await open(POINTS);
      await post(id, "label_region", { slug: "mine", strokes: [STROKE] });
      await post(id, "delete_region", { region: { ...LEFT, max: [1, 99, 99] } });
      await made.deps.sessions.spill(await made.deps.sessions.get(id));
      await fillLastBlock(id);
      disk.fill(left);
      const before = await world(id);
      const plain = path === "filter";
      const ask = plain ? post : tail;
      expect(await ask(id, path, payload)).toMatchObject(plain ? NO_SPACE : NO_SPACE_IN_BAND);
      await eventually(async () => expect(await world(id)).toEqual(before));
      disk.empty();
      const done = plain ? { status: 200, body: { session_id: id } } : { kind: "json", value: { session_id: id } };
      expect(await ask(id, path, payload)).toMatchObject(done);
    },
  );

  test("spilling: the session stays in memory, can be edited, and is spilled when there is space again", async () => {
    const id = await open(POINTS);
    await post(id, "label_region", { slug: "mine", strokes: [STROKE] });
    await post(id, "delete_region", { region: { ...LEFT, max: [1, 99, 99] } });
    const session = await made.deps.sessions.get(id);
    const held = () => [...session.state.columns.values()].filter(({ native }) => !native.fileBacked).length;
    const las = await exported(made, id, "las");
    const before = files();
    expect(held()).toBe(2); // the mask and the labels
    disk.fill();
    await made.deps.sessions.spill(session);
    expect([held(), files()]).toEqual([2, before]);
    expect(made.log.some(({ msg }) => /not compacted/.test(msg ?? ""))).toBe(true);
    expect((await exported(made, id, "las")).equals(las)).toBe(true);
    disk.empty();
    await made.deps.sessions.spill(session);
    expect(held()).toBe(0);
    expect((await exported(made, id, "las")).equals(las)).toBe(true);
    expect(await post(id, "reset_edits", {})).toMatchObject({ status: 200, body: { deleted_count: 0 } });
    expect(await post(id, "reset_label_edits", { slug: "mine" })).toMatchObject({
      body: { class_counts: { 0: POINTS } },
    });
  });
});
