import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { create } from "../support/app/app.ts";
import { type LiveRun, openRun } from "../support/app/live-run.ts";
import { atMoment, type NativeMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch, type Times, within } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";

const CREATE = "/api/cloud/session/create";
const EXPORT = "/api/pointcloud/export";
/** A cancel takes 250 ms at most, each time, what the machine adds left out. */
const CANCEL_MS = 250;
/** Cancels inside an op that are measured, and runs in which the op may be over before it is seen inside. */
const MEASURED = 3;
const TRIES = 10;
/** A client that hangs up is noticed, and its run has ended. */
const HANG_UP_MS = 500;
const POINTS = 2_000_000;
const made = sessionTest({ listening: true });
let big: string;
beforeAll(() => {
  vi.stubEnv("TMPDIR", made.folder); // inline exports are written there
  big = made.file("big.las", bigLasBytes(POINTS));
});
afterAll(() => void vi.unstubAllEnvs());

const listed = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== ".leases")
    .sort();
/** Everything a run could leave: files in the three places, memory, sessions, the run itself. */
const traces = () => ({
  data: listed(made.sessions),
  octrees: listed(made.octrees),
  folder: listed(made.folder),
  bytes: addon.bulkBytesInUse(),
  sessions: made.deps.sessions.list().length,
  runs: made.deps.jobs.size,
});
let before: ReturnType<typeof traces>;
/** The traces of a canceled run are gone when its stream has ended, or a moment later when the client did not wait. */
const leftNothing = () => within(1000, () => expect(traces()).toEqual(before));
const memoryBack = () => within(1000, () => expect(addon.bulkBytesInUse()).toBe(before.bytes));
const noRuns = () => within(HANG_UP_MS, () => expect(made.deps.jobs.size).toBe(0));

/**
 * Cancels runs inside a native op and checks of each how it ends, how soon, and what is left. Where the op was over before
 * it was seen inside, `undo` removes what the run made, and another takes its place.
 */
async function canceledAt(
  moment: NativeMoment,
  path: string,
  body: object,
  undo: () => void | Promise<void>,
): Promise<void> {
  const measured: Times[] = [];
  for (let attempt = 0; attempt < TRIES && measured.length < MEASURED; attempt += 1) {
    let run: LiveRun | undefined;
    let stop: (() => Times) | undefined;
    const cancel = () => {
      stop = stopwatch();
      made.deps.jobs.cancelAll(); // there is one
    };
    const { value } = await atMoment(moment, cancel, async () => {
      run = await openRun(made.base, path, body);
      return run.outcome;
    });
    const times = stop?.();
    expect(value.kind).toBe(times ? "canceled" : "json");
    if (times) {
      measured.push(times);
      expect(run?.markers.at(-1)).toEqual({ progress: null, message: "Canceled", canceled: true });
    } else {
      await undo();
    }
    await leftNothing();
  }
  expect(measured).not.toEqual([]);
  expect(measured.filter(({ own_ms }) => own_ms >= CANCEL_MS)).toEqual([]);
}

/** Removes all sessions and octrees: without it the next run has nothing to build. */
async function forgetClouds(): Promise<void> {
  for (const { id } of made.deps.sessions.list()) await made.deps.sessions.delete(id);
  for (const id of listed(made.octrees)) rmSync(join(made.octrees, id), { recursive: true });
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(0));
}

describe("create", () => {
  beforeAll(async () => {
    const { session_id } = await create(made, made.file("first.xyz", "1 2 3\n")); // folders exist from here on
    await made.deps.sessions.delete(session_id);
  });
  beforeEach(async () => {
    await forgetClouds();
    before = traces();
  });

  test.each<NativeMoment>([
    { op: "readLas" },
    { op: "readLas", fraction: 0.5 },
    { op: "columnStats", fraction: 0.3 },
    { op: "cloudStats", fraction: 0.5 },
    { op: "pointSpacing" },
    { op: "octreeBuild", phase: "Counting points" },
    { op: "octreeBuild", phase: "Sorting points", fraction: 0.5 },
    { op: "octreeBuild", phase: "Sampling octree", fraction: 0.5 },
    { op: "octreeBuild", phase: "Writing octree", fraction: 0.5 },
  ])("canceled inside $op $phase $fraction: the marker arrives within 250 ms, nothing is left", async (moment) => {
    await canceledAt(moment, CREATE, { source_path: big }, forgetClouds);
  });

  test.each(["Reading source file", "Computing bounds", "Building octree"])(
    "a client that hangs up while %s",
    async (stage) => {
      const run = await openRun(made.base, CREATE, { source_path: big });
      expect(await run.until(stage)).toBe(true);
      run.hangUp();
      await noRuns();
      await leftNothing();
    },
  );

  test("a cancel does not affect a concurrent run, even one that waits for the same octree", async () => {
    const [one, two] = await Promise.all([
      openRun(made.base, CREATE, { source_path: big }),
      openRun(made.base, CREATE, { source_path: big }),
    ]);
    expect(await one.until("Building octree")).toBe(true);
    expect(await two.until("Building octree")).toBe(true);
    const { own_ms, outcome } = await one.cancel();
    expect(outcome.kind).toBe("canceled");
    expect(own_ms).toBeLessThan(CANCEL_MS);
    const other = await two.outcome;
    expect(other.kind === "json" && (other.value as { point_count: number }).point_count).toBe(POINTS);
    for (const session of made.deps.sessions.list()) await made.deps.sessions.delete(session.id);
    await memoryBack();
    for (const name of listed(made.octrees)) expect(name).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("export", () => {
  let session_id: string;
  let rastered: string;
  beforeAll(async () => {
    session_id = (await create(made, big)).session_id;
    const head = "1000\n2000\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n";
    const cells = Array.from({ length: 1000 }, (_, i) => `${i}.125 1.5 2.25 0.5\n`.repeat(2000));
    rastered = (await create(made, made.file("raster.ptx", head + cells.join("")))).session_id;
  });
  beforeEach(() => {
    before = traces();
  });

  test.each<[string, NativeMoment, boolean]>([
    ["las", { op: "writeLas" }, true],
    ["las", { op: "writeLas", phase: "Writing points", fraction: 0.1 }, true],
    ["csv", { op: "writeText" }, true],
    ["csv", { op: "writeText", fraction: 0.5 }, true],
    ["ply", { op: "writeText", fraction: 0.1 }, false],
    ["pts", { op: "writePts", phase: "Formatting points", fraction: 0.3 }, true],
    ["pcd", { op: "writePcd", phase: "Writing points", fraction: 0.1 }, true],
    ["ptx", { op: "writePtx", phase: "Formatting points", fraction: 0.5 }, true],
    ["ptx", { op: "writePtx" }, false],
  ])(
    "%s canceled inside %s, dest_path %s: the marker arrives within 250 ms, no file is left",
    async (format, moment, toFile) => {
      const dest_path = toFile ? join(made.folder, `out.${format}`) : null;
      const undo = () => {
        if (dest_path) rmSync(dest_path);
      };
      const source = { session_id: format === "ptx" ? rastered : session_id };
      await canceledAt(moment, EXPORT, { source, format, dest_path }, undo);
    },
  );

  test("a client that hangs up", async () => {
    const dest_path = join(made.folder, "gone.csv");
    const opened = { run: undefined as Promise<LiveRun> | undefined };
    const leave = () => void opened.run?.then((run) => run.hangUp());
    const { reached } = await atMoment({ op: "writeText", fraction: 0.2 }, leave, async () => {
      opened.run = openRun(made.base, EXPORT, { source: { session_id }, format: "csv", dest_path });
      await (await opened.run).outcome.catch(() => undefined);
    });
    expect(reached).toBe(true);
    await noRuns();
    await leftNothing();
  });

  test("deleting the session during its export does not disturb the file", async () => {
    const copy = await create(made, big);
    const run = await openRun(made.base, EXPORT, {
      source: { session_id: copy.session_id },
      format: "xyz",
      dest_path: join(made.folder, "kept.xyz"),
    });
    expect(await run.until("Writing points")).toBe(true);
    expect(await made.deps.sessions.delete(copy.session_id)).toBe(true);
    const outcome = await run.outcome;
    expect(outcome.kind === "json" && outcome.value).toMatchObject({ success: true, point_count: POINTS });
    await memoryBack();
  });
});

test("plain JSON answers: a rebuild whose client hangs up ends, and the session is unchanged", async () => {
  const { session_id } = await create(made, big);
  const session = await made.deps.sessions.get(session_id);
  const { state } = session;
  rmSync(join(made.octrees, state.meta.octree_cache_id ?? "none"), { recursive: true });
  const connection = new AbortController();
  const answer = fetch(`${made.base}/api/cloud/session/${session_id}/rebuild_octree`, {
    method: "POST",
    signal: connection.signal,
  });
  answer.catch(() => undefined);
  await eventually(() => expect(listed(made.octrees).some((name) => name.endsWith(".staging"))).toBe(true));
  connection.abort();
  await noRuns();
  expect(session.state).toBe(state);
  expect(listed(made.octrees).filter((name) => !/^[0-9a-f]{40}$/.test(name))).toEqual([]);
});
