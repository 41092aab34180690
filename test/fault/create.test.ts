import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { create, createError, exportTail, type RunAnswer, refused, run } from "../support/app/app.ts";
import { heldUntil } from "../support/native/native-failure.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";

const CREATE = "/api/cloud/session/create";
/** Of the file that is cut. */
const [HEADER_BYTES, RECORD_BYTES] = [227, 20];
const TRIES = 10;
const made = sessionTest();
let source: string;
let before: object;
const listed = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== ".leases")
    .sort();
const traces = () => ({
  data: listed(made.sessions),
  octrees: listed(made.octrees),
  bytes: addon.bulkBytesInUse(),
  sessions: made.deps.sessions.list().length,
  runs: made.deps.jobs.size,
});
beforeAll(async () => {
  source = made.file(
    "cloud.txt",
    "x y z time ox oy oz class is_miss\n0 0 0 1 0 0 1 2 0\n1 0 0 2 0 0 1 3 0\n0 1 0 3 0 0 1 4 1\n",
  );
  const { session_id, cache_id, miss_octree_cache_id } = await create(made, source);
  await made.deps.sessions.delete(session_id);
  for (const id of [cache_id, miss_octree_cache_id ?? ""]) rmSync(join(made.octrees, id), { recursive: true });
  before = traces();
});

type Op = keyof typeof addon;
/** Runs `body` with the addon's function failing at its nth call, at once or after a moment; tells how often it was called. */
async function failing(name: Op, nth: number, late: boolean, body: () => Promise<void>): Promise<number> {
  const original = addon[name] as (...args: unknown[]) => unknown;
  let calls = 0;
  const broken = (...args: unknown[]) => {
    calls += 1;
    if (calls !== nth) return original(...args);
    const error = Object.assign(new Error(`${name} is broken`), { code: "io" });
    if (!late) throw error;
    const promise = new Promise((_, reject) => setTimeout(() => reject(error), 20));
    return { promise, progress: () => ({ phase: "", done: 0, total: 0 }), cancel: () => undefined };
  };
  Object.assign(addon, { [name]: broken });
  try {
    await body();
    return calls;
  } finally {
    Object.assign(addon, { [name]: original });
  }
}

describe("a native function that fails", () => {
  test.each<[Op, number]>([
    ["sampleText", 1],
    ["readText", 1],
    ["columnStats", 1],
    ["columnStats", 2],
    ["interleaveTriple", 1],
    ["detectMisses", 1],
    ["hitMask", 1],
    ["cloudStats", 1],
    ["pointSpacing", 1],
    ["octreeContentHash", 1],
    ["octreeBuild", 1],
    ["beamTrajectory", 1],
    ["writeColumnFiles", 1],
    ["mapColumnFile", 1],
    ["mapColumnFile", 2],
  ])("%s, call %s: the create fails with its message and leaves nothing", async (name, nth) => {
    for (const late of name === "mapColumnFile" ? [false] : [false, true]) {
      const calls = await failing(name, nth, late, async () => {
        expect(await createError(made, source)).toBe(`${name} is broken`);
      });
      expect(calls).toBeGreaterThanOrEqual(nth);
      for (const id of listed(made.octrees)) rmSync(join(made.octrees, id), { recursive: true }); // whole ones may stay
      await eventually(() => expect(traces()).toEqual(before)); // a job's thread lets go a moment later
    }
  });

  test("a failing flush after the answer: the session exists, and the next start verifies its checksums", async () => {
    const calls = await failing("syncColumnFile", 1, true, async () => {
      const { session_id } = await create(made, source);
      const said = () => made.log.some(({ msg, session }) => session === session_id && /not flushed/.test(msg ?? ""));
      await eventually(() => expect(said()).toBe(true));
      await made.deps.sessions.delete(session_id);
    });
    expect(calls).toBeGreaterThan(0);
  });

  test("a failing lease of the octree cache: the session exists nevertheless", async () => {
    const leases = join(made.octrees, ".leases");
    rmSync(leases, { recursive: true, force: true });
    made.deps.octreeCache.pinnedBy(() => ["f".repeat(40)]);
    symlinkSync("/dev/null", leases); // no folder: nothing can be written below it
    try {
      const { session_id } = await create(made, source);
      expect(made.log.some(({ msg }) => /octree pins not written/.test(msg ?? ""))).toBe(true);
      expect(await made.deps.sessions.delete(session_id)).toBe(true);
    } finally {
      rmSync(leases);
      made.deps.octreeCache.pinnedBy(() => made.deps.sessions.octreeIds());
    }
  });
});

describe("the file", () => {
  const POINTS = 1_500_000;
  const KEPT_BYTES = 1_000_000;
  /** A whole file; each cut of it is counted. */
  function shrinking() {
    const path = made.file("shrinking.las", bigLasBytes(POINTS));
    const cut = vi.fn(() => truncateSync(path, KEPT_BYTES));
    return { path, cut };
  }
  /** Points and warnings of a create that succeeds; its session is gone again. */
  async function opened({ outcome }: RunAnswer): Promise<{ points: number; warnings: string }> {
    if (outcome.kind !== "json") throw new Error(JSON.stringify(outcome));
    const { total_count, warnings = [], session_id } = CreateSessionTail.parse(outcome.value);
    await made.deps.sessions.delete(session_id);
    return { points: total_count, warnings: warnings.join(" ") };
  }

  test.each([
    ["before it is read: the points that are left, with a warning", "readLas", KEPT_BYTES],
    ["when it was read: all points", "cloudStats", null],
  ] as const)("cut %s", async (_name, op, kept) => {
    const { path, cut } = shrinking();
    const answer = await heldUntil(
      op,
      async () => cut(),
      () => run(made, CREATE, { source_path: path }),
    );
    expect(cut).toHaveBeenCalledOnce();
    const { points, warnings } = await opened(answer);
    if (kept === null) {
      expect([points, warnings]).toEqual([POINTS, ""]);
    } else {
      expect(points).toBe(Math.floor((kept - HEADER_BYTES) / RECORD_BYTES));
      expect(warnings).toMatch(`the header declares ${POINTS}`);
    }
  });

  // The reader works on while the event loop is late: a cut that came behind the end of the read is made again.
  test.each([0, 0.25, 0.5])("cut while it is read, behind a share of %s: a sentence that says so", async (fraction) => {
    let struck = false;
    for (let attempt = 0; attempt < TRIES && !struck; attempt += 1) {
      const { path, cut } = shrinking();
      const create = () => run(made, CREATE, { source_path: path });
      const { reached, value } = await atMoment({ op: "readLas", fraction }, cut, create);
      expect(cut).toHaveBeenCalledTimes(reached ? 1 : 0);
      struck = value.outcome.kind === "failed";
      if (value.outcome.kind === "failed")
        expect(value.outcome.error).toMatch(/shrinking\.las: the file became shorter while it was read/);
      else expect(await opened(value)).toEqual({ points: POINTS, warnings: "" });
    }
    expect(struck).toBe(true);
  });

  test("a loop of links, a dangling link, a link to a device", async () => {
    const link = (name: string, target: string) => {
      symlinkSync(target, join(made.folder, name));
      return join(made.folder, name);
    };
    const loop = link("loop.las", "loop.las");
    expect(await refused(made, CREATE, { source_path: loop })).toMatchObject({
      status: 400,
      code: "invalid_argument",
      detail: expect.stringContaining("loop.las"),
    });
    expect(await refused(made, CREATE, { source_path: link("nothing.las", "gone.las") })).toMatchObject({
      status: 404,
    });
    expect(await refused(made, CREATE, { source_path: link("zero.las", "/dev/zero") })).toMatchObject({ status: 400 });
    expect(await createError(made, link("proc.txt", "/proc/self/mem"))).toContain("proc.txt");
  });

  const root = process.geteuid?.() === 0;
  if (!root) console.log("unreadable files as another user: skipped, needs root");
  test.skipIf(!root)("an unreadable file, an unwritable folder", async () => {
    chmodSync(made.folder, 0o755);
    const secret = made.file("secret.xyz", "1 2 3\n");
    chmodSync(secret, 0o600);
    const folder = join(made.folder, "read-only");
    mkdirSync(folder);
    process.seteuid?.(65534);
    try {
      expect(await createError(made, secret)).toMatch(/secret\.xyz.*(ermission|denied|EACCES)/);
      const points = { points: [[1, 2, 3]], format: "las", dest_path: join(folder, "out.las") };
      expect(await exportTail(made, points)).toMatchObject({
        success: false,
        code: "io",
        error: expect.stringMatching(/^Export failed: .*read-only/),
      });
    } finally {
      process.seteuid?.(0);
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});
