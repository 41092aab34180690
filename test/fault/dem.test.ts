import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { run } from "../support/app/app.ts";
import { openRun } from "../support/app/live-run.ts";
import { readRun } from "../support/app/run-body.ts";
import { withoutMemoryAt } from "../support/native/native-failure.ts";
import { smallDisk } from "../support/run/small-disk.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { gridPoints } from "../support/session/dem.ts";
import { canceledAmid, cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });

const BODY = { cell_size: 1, bbox: [0, 0, 6, 5], add_height_column: true };
const forest = (top = 9) =>
  cloud(made, [
    "x y z ground_class",
    ...gridPoints(6, 5, (x) => x / 2).map((p) => `${p.join(" ")} 1`),
    `2.5 2.5 ${top} 2`,
  ]);
const traces = () => ({
  versions: made.deps.sessions.list().map(({ state }) => state.version),
  staging: readdirSync(made.octrees, { recursive: true }).filter((name) => String(name).includes("staging")),
  bytes: addon.bulkBytesInUse(),
  runs: made.deps.jobs.size,
});

test.each(["dtm", "chm"])(
  "an allocation that fails anywhere leaves the session unchanged (%s)",
  async (surface_type) => {
    const { session_id } = await forest();
    await made.deps.sessions.spill(await made.deps.sessions.get(session_id));
    const before = traces();
    for (let nth = 1; ; nth += 1) {
      expect(nth).toBeLessThan(80);
      const { value, failed } = await withoutMemoryAt(nth, async () => {
        const url = `/api/cloud/session/${session_id}/dem`;
        const answer = await made.app.inject({ method: "POST", url, payload: { ...BODY, surface_type } });
        return readRun(answer.rawPayload).outcome;
      });
      if (!failed || value.kind === "frame") break; // what comes behind the answer is not asked for here
      expect([nth, failed, value.kind, value.kind === "failed" ? value.code : ""]).toEqual([
        nth,
        failed,
        "failed",
        "out_of_memory",
      ]);
      await eventually(() => expect({ nth, ...traces() }).toEqual({ nth, ...before }));
    }
    await made.deps.sessions.delete(session_id);
  },
);

test("a cancel while the display is rebuilt ends the run and changes nothing", async () => {
  const { session_id } = await forest(11); // no octree of it is in the cache
  const session = await made.deps.sessions.get(session_id);
  const before = session.state;
  const { outcome } = await canceledAmid(made, "octreeBuild", () =>
    run(made, `/api/cloud/session/${session_id}/dem`, BODY),
  );
  expect(outcome.kind).toBe("canceled");
  expect(session.state).toBe(before);
  await made.deps.sessions.delete(session_id);
});

test.each(["Gridding terrain (DTM)", "Computing layers"])(
  "a cancel in %s ends the run at once and changes nothing",
  async (label) => {
    const n = 400_000;
    const rows = Array.from({ length: n }, (_, i) => {
      const x = (i * 0.754877666) % 1;
      const y = (i * 0.569840291) % 1;
      return `${(400 * x).toFixed(3)} ${(400 * y).toFixed(3)} ${Math.sin(9 * x).toFixed(3)} 1`;
    });
    const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
    const session = await made.deps.sessions.get(session_id);
    const before = session.state;
    const opened = await openRun(made.base, `/api/cloud/session/${session_id}/dem`, {
      cell_size: 0.25,
      method: "idw",
      add_height_column: true,
    });
    expect(await opened.until(label)).toBe(true);
    const { own_ms, canceled, outcome } = await opened.cancel();
    expect([canceled, outcome.kind]).toEqual([true, "canceled"]);
    expect(own_ms).toBeLessThan(500);
    expect(session.state.version).toBe(before.version);
    expect(session.state.columns.has("extra/height_above_ground")).toBe(false);
    await made.deps.sessions.delete(session_id);
  },
);

const GRID = { grid_z: [1, 2, 3, 4], nx: 2, ny: 2, cell_size: 1, origin: [0, 0] };
const write = async (dest_path: string) =>
  (await made.app.inject({ method: "POST", url: "/api/dem/export-raster", payload: { ...GRID, dest_path } })).json();

const disk = smallDisk(256 * 1024);
afterAll(() => disk?.unmount());

test.runIf(disk)("a full disk keeps the existing raster and leaves no partial file", async () => {
  const folder = join(disk?.folder ?? "", "rasters");
  mkdirSync(folder);
  const path = join(folder, "dem.tif");
  writeFileSync(path, "II*\0old");
  disk?.fill(16 * 1024);
  const grid_z = Array.from({ length: 40_000 }, (_, i) => i);
  const payload = { ...GRID, format: "tif", grid_z, nx: 200, ny: 200, dest_path: path };
  const post = () => made.app.inject({ method: "POST", url: "/api/dem/export-raster", payload });
  const answer = await post();
  expect([answer.statusCode, answer.json().code]).toEqual([507, "no_space"]);
  expect(readFileSync(path, "utf8")).toBe("II*\0old");
  expect(readdirSync(folder)).toEqual(["dem.tif"]);
  disk?.empty();
  expect((await post()).statusCode).toBe(200);
  expect(readFileSync(path).length).toBeGreaterThan(160_000);
});

test.runIf(disk)("a read-only folder is an error that names it, and no file is left", async () => {
  const folder = join(disk?.folder ?? "", "read-only");
  mkdirSync(folder);
  execFileSync("mount", ["-o", "remount,ro", disk?.folder ?? ""]);
  try {
    const answer = await write(join(folder, "dem.asc"));
    expect(answer).toMatchObject({ code: "io", detail: expect.stringContaining(folder) });
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    execFileSync("mount", ["-o", "remount,rw", disk?.folder ?? ""]);
  }
});

test("a folder that accepts no files leaves no partial file", async () => {
  const folder = join(made.folder, "blocked");
  mkdirSync(folder);
  const answer = await write(join(folder, "x".repeat(300)));
  expect(answer.code).not.toBe("internal");
  expect(readdirSync(folder)).toEqual([]);
});
