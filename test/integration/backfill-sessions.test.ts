import { readdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeJournal } from "../../backend/sessions/journal-codec.ts";
import { LadSuccess } from "../../shared/contract/lad-compute.ts";
import { LAD_URL, ladRequest } from "../support/lad/calls.ts";
import { contentsOf, opened, saved } from "../support/project/project.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { backfilled, missesOf } from "../support/session/backfill.ts";
import { deadCopy, restartWith, untouched } from "../support/session/dead-session.ts";
import { cloud, stateOf, tail } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const COUNT = 40;
const STEP = 0.02;

/** A fan of 40 x 40 pulses towards +x from (-3, 0, 0); every third one returns from x = 0, the others from x = 3 or not at all. */
const pulses = Array.from({ length: COUNT * COUNT }, (_, i) => {
  const [row, column] = [i % COUNT, Math.floor(i / COUNT)];
  const [theta, phi] = [Math.PI / 2 + STEP * (row - 19.5), Math.PI / 2 + STEP * (column - 19.5)];
  const d = [Math.sin(theta) * Math.sin(phi), Math.sin(theta) * Math.cos(phi), Math.cos(theta)] as const;
  const to = (x: number) => [x, (d[1] / d[0]) * (x + 3), (d[2] / d[0]) * (x + 3)];
  return { row, column, near: to(0), far: to(3), is: i % 3 };
});
const gone = pulses.filter(({ is }) => is === 2).length;

const session = async (): Promise<string> => {
  const rows = pulses
    .filter(({ is }) => is < 2)
    .map(({ row, column, is, near, far }) => `${(is === 0 ? near : far).join(" ")} ${row} ${column}`);
  return (await cloud(made, ["x y z row_index column_index", ...rows])).session_id;
};
const backfill = async (id: string) => (await backfilled(made, id, { origin: [-3, 0, 0] })).tail;

test("leaf area density counts recovered misses as transmitted beams", async () => {
  const known = {
    origin: [-3, 0, 0],
    points: pulses.map(({ near, far, is }) => (is === 0 ? near : far)),
    scalar_columns: { is_miss: pulses.map(({ is }) => (is === 2 ? 1 : 0)) },
  };
  const id = await session();
  await backfill(id);
  const scan = { session_id: id, origin: [-3, 0, 0] };
  const [wanted, found] = [
    await tail(made, LadSuccess, LAD_URL, ladRequest({ scans: [known] })),
    await tail(made, LadSuccess, LAD_URL, ladRequest({ scans: [scan] })),
  ];
  const { beam_count, hit_count, lad, path_length_total } = wanted.cells[0] ?? {};
  expect(beam_count).toBeGreaterThan(100);
  expect(found.cells[0]).toMatchObject({ beam_count, hit_count });
  expect(found.cells[0]?.lad).toBeCloseTo(lad ?? Number.NaN, 8);
  expect(found.cells[0]?.path_length_total).toBeCloseTo(path_length_total ?? Number.NaN, 5);
  const region = { kind: "box", min: [2, -9, -9], max: [4, 9, 9] };
  await made.post(id, "delete_region", { region });
  const stale = await tail(made, LadSuccess, LAD_URL, ladRequest({ scans: [scan] }));
  expect(stale.warnings.join()).toMatch(/restored before its points were edited/);
  expect(stale.cells[0]?.lad).toBeCloseTo(lad ?? Number.NaN, 8);
});

test("a restart and a journal compaction bring the buffer back; a second backfill replaces it", async () => {
  const id = await session();
  await backfill(id);
  const wanted = await missesOf(made, id);
  expect(wanted).toHaveLength(gone);
  const template = await deadCopy(made, id);
  const restarted = await restartWith(template, { "0000aaaa": untouched });
  expect(await missesOf(restarted, "0000aaaa")).toEqual(wanted);
  expect(contentsOf(await stateOf(restarted, "0000aaaa"))).toEqual(contentsOf(await stateOf(made, id)));
  rmSync(template, { recursive: true, force: true });

  await made.post(id, "transform", { matrix: [1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] });
  const journal = join(made.sessions, id, "journal.log");
  await eventually(() => expect(decodeJournal(readFileSync(journal)).records[0]).toHaveProperty("misses"));
  const compacted = await deadCopy(made, id, false);
  const again = await restartWith(compacted, { "0000bbbb": untouched });
  expect(contentsOf(await stateOf(again, "0000bbbb"))).toEqual(contentsOf(await stateOf(made, id)));
  expect((await missesOf(again, "0000bbbb"))[0]?.at[0]).toBeCloseTo((wanted[0]?.at[0] ?? 0) + 5, 9);
  rmSync(compacted, { recursive: true, force: true });

  await backfilled(made, id, { origin: [2, 0, 0] });
  expect(await missesOf(made, id)).toHaveLength(gone);
});

test("a damaged file of the buffer ends the replay before it", async () => {
  const id = await session();
  const files = () => readdirSync(join(made.sessions, id)).filter((name) => name.endsWith(".col"));
  const before = new Set(files());
  await backfill(id);
  const [added = ""] = files().filter((name) => !before.has(name));
  const template = await deadCopy(made, id);
  const restarted = await restartWith(template, {
    "0000cccc": (folder) => truncateSync(join(folder, added), 100),
  });
  const state = await stateOf(restarted, "0000cccc");
  expect(state.misses.size).toBe(0);
  expect(state.meta.recovery_losses?.join()).toMatch(/.+/);
  rmSync(template, { recursive: true, force: true });
});

test("a project keeps the buffer", async () => {
  const id = await session();
  await backfill(id);
  const path = join(made.folder, "misses.proj");
  await saved(made, path, [id]);
  const { session_map, warnings } = await opened(made, path);
  expect(warnings).toEqual([]);
  expect(contentsOf(await stateOf(made, session_map[id] ?? ""))).toEqual(contentsOf(await stateOf(made, id)));
});

test("hits that were dropped before a backfill stay told: by the leaf area, after another backfill, in a project and in copies", async () => {
  const id = await session();
  await made.post(id, "delete_region", { region: { kind: "box", min: [2, -9, -9], max: [4, 9, 9] } });
  await made.post(id, "bake", {});
  const { unrestorable_hit_count: dropped } = (await stateOf(made, id)).meta;
  expect(dropped).toBeGreaterThan(100);
  const warned = async (session_id: string) =>
    (await tail(made, LadSuccess, LAD_URL, ladRequest({ scans: [{ session_id, origin: [-3, 0, 0] }] }))).warnings;
  const told = expect.stringMatching(
    new RegExp(`^Scan 1 has recovered misses of ${dropped} pulses whose hits were dropped by a bake`),
  );
  for (let round = 0; round < 2; round += 1) {
    expect((await backfill(id)).warnings).toContainEqual(
      expect.stringMatching(`^${dropped} hits of the scan were dropped`),
    );
    expect(await warned(id)).toContainEqual(told);
    expect((await warned(id)).join()).not.toMatch(/has lost/);
  }
  const path = join(made.folder, "dropped.proj");
  await saved(made, path, [id]);
  const { session_map } = await opened(made, path);
  expect(await warned(session_map[id] ?? "")).toContainEqual(told);

  const copy = (await made.post(id, "duplicate", {})).json().duplicate.session_id;
  const { meta } = await stateOf(made, copy);
  expect([meta.unrestorable_hit_count, meta.misses_of_lost_hits]).toEqual([dropped, undefined]); // a copy has no recovered misses
});
