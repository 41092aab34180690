import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import type { ExportTail } from "../../shared/contract/pointcloud.ts";
import { ask, openRun, tailOf } from "../support/app/live-run.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";

const CREATE = "/api/cloud/session/create";
const EXPORT = "/api/pointcloud/export";
let folder: string;
const started: BackendProcess[] = [];
beforeEach(() => {
  folder = folderOfTest("sessions-");
});
afterEach(async () => {
  for (const backend of started.splice(0)) await backend.kill();
});
const start = async (env: NodeJS.ProcessEnv = {}) => {
  const backend = await startProcess(folder, env);
  started.push(backend);
  return backend;
};
const write = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const create = ({ url }: BackendProcess, source_path: string, more: object = {}) =>
  tailOf<CreateSessionTail>(url, CREATE, { source_path, ...more });
const octreeStagings = () => readdirSync(join(folder, "octrees")).filter((name) => name.endsWith(".staging"));
/** A process that was killed while it made a folder left it empty, without its name: a start a minute later removes it. */
const isEmpty = (name: string) => name.endsWith(".new") && !existsSync(join(folder, "sessions", name, "owner.json"));
const sessionFolders = () =>
  readdirSync(join(folder, "sessions"))
    .filter((name) => !isEmpty(name))
    .sort();
/** What a session is for its user: its points in every column. */
async function contents({ url }: BackendProcess, session_id: string) {
  const request = (format: string) => ({ source: { session_id, want_colors: true }, format });
  const las = await tailOf<ExportTail>(url, EXPORT, request("las"));
  const xyz = await tailOf<ExportTail>(url, EXPORT, request("xyz"));
  return { points: las.point_count, las: las.data, xyz: xyz.data };
}
const stagings = (names: readonly string[]) => names.filter((name) => !/^[0-9a-f]{8}$/.test(name));

/** Enough that each stage of its import takes a while. */
const BIG = bigLasBytes(1_500_000);
const TEXT =
  "x y z intensity class time is_miss\n0 0 0 1 2 350000000.5 0\n1 2 3.25 2 3 350000000.25 0\n900 0 0 3 4 350000000.75 1\n";

test("create, rebuild, export, delete in a real process; a kill -9 between them loses nothing that was answered", async () => {
  let backend = await start();
  const made = await create(backend, write("cloud.txt", TEXT), { world_shift: [0, 0, 1] });
  const before = await contents(backend, made.session_id);
  expect(before.points).toBe(3);
  await backend.kill();

  backend = await start();
  expect(await contents(backend, made.session_id)).toEqual(before);
  const rebuilt = await ask<CreateSessionTail>(
    backend.url,
    "POST",
    `/api/cloud/session/${made.session_id}/rebuild_octree`,
  );
  expect(rebuilt.body).toMatchObject({
    cache_id: made.cache_id,
    miss_octree_cache_id: made.miss_octree_cache_id,
    point_count: 2,
    total_count: 3,
  });
  const dest = join(mkdtempSync(join(tmpdir(), "out-")), "out.las");
  expect(
    await tailOf<ExportTail>(backend.url, EXPORT, {
      source: { session_id: made.session_id },
      format: "las",
      dest_path: dest,
    }),
  ).toMatchObject({ success: true, point_count: 3 });
  expect(readFileSync(dest).toString("base64")).toBe(before.las);
  await backend.kill();

  backend = await start();
  expect(await contents(backend, made.session_id)).toEqual(before);
  expect((await ask(backend.url, "DELETE", `/api/cloud/session/${made.session_id}`)).body).toEqual({
    session_id: made.session_id,
    deleted: true,
  });
  await backend.kill();

  backend = await start();
  expect((await ask(backend.url, "POST", `/api/cloud/session/${made.session_id}/rebuild_octree`)).status).toBe(404);
  expect(sessionFolders()).toEqual([]);
});

test("kill -9 at any moment of a create: answered sessions are recovered completely, the unanswered one leaves nothing", async () => {
  const big = write("big.las", BIG);
  const answered = new Map<string, Awaited<ReturnType<typeof contents>>>();
  const moments = [
    "Reading source file",
    "Computing bounds",
    "Writing octree source",
    "Building octree",
    "Building miss overlay",
  ];
  for (const [round, moment] of moments.entries()) {
    const backend = await start();
    const { session_id } = await create(backend, write(`small-${round}.xyz`, `${round} 0 0\n0 ${round} 1\n`));
    answered.set(session_id, await contents(backend, session_id));
    const run = await openRun(backend.url, CREATE, { source_path: big });
    expect(await run.until(moment)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, (37 * round) % 90)); // somewhere inside the stage
    await backend.kill();

    const next = await start();
    const wanted = [...answered.keys()].sort();
    await eventually(() => expect(stagings(sessionFolders())).toEqual([]));
    // A create in its last stage may have been registered before its answer got out: then it is there, whole.
    const unanswered = sessionFolders().filter((id) => !answered.has(id));
    expect(sessionFolders()).toEqual(expect.arrayContaining(wanted));
    if (moment !== "Building miss overlay") expect(unanswered).toEqual([]);
    for (const id of unanswered) answered.set(id, await contents(next, id));
    for (const [id, expected] of answered) expect(await contents(next, id)).toEqual(expected);
    await eventually(() => expect(octreeStagings()).toEqual([]));
    await next.kill();
  }
});

test("two backends on one data folder: neither takes live sessions of the other, a restart takes those of the dead one", async () => {
  const first = await start();
  const { session_id } = await create(first, write("a.txt", TEXT));
  const before = await contents(first, session_id);
  const second = await start();
  const url = `/api/cloud/session/${session_id}`;
  expect((await ask(second.url, "POST", `${url}/rebuild_octree`)).status).toBe(404);
  expect((await ask(second.url, "DELETE", url)).body).toEqual({ session_id, deleted: false });
  const own = await create(second, write("b.txt", TEXT));
  expect(own.cache_id).toMatch(/^[0-9a-f]{40}$/);
  expect(await contents(first, session_id)).toEqual(before);
  await first.kill();

  const other = await start({ APP_INSTANCE_ID: "another-window" });
  expect((await ask(other.url, "POST", `${url}/rebuild_octree`)).status).toBe(404);
  const heir = await start();
  expect(await contents(heir, session_id)).toEqual(before);
  expect((await ask(heir.url, "POST", `/api/cloud/session/${own.session_id}/rebuild_octree`)).status).toBe(404);
  expect((await contents(second, own.session_id)).points).toBe(3);
});

test("SIGTERM during a run exits 0 within a second; the existing session is recovered", async () => {
  const big = write("big.las", BIG);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const backend = await start();
    const { session_id } = await create(backend, write("a.txt", TEXT));
    const before = await contents(backend, session_id);
    const run = await openRun(backend.url, CREATE, { source_path: big });
    expect(await run.until("Building octree")).toBe(true);
    const end = await backend.terminate();
    expect([end.code, end.signal]).toEqual([0, null]);
    expect(end.own_ms, JSON.stringify(end)).toBeLessThan(1000);
    const next = await start();
    expect(await contents(next, session_id)).toEqual(before);
    expect(sessionFolders()).toEqual([session_id]);
    expect((await ask(next.url, "DELETE", `/api/cloud/session/${session_id}`)).status).toBe(200);
    expect((await next.terminate()).code).toBe(0);
  }
});

test("the journal can be turned off: nothing is written, a restart recovers nothing", async () => {
  const backend = await start({ APP_SESSION_JOURNAL: "off" });
  const { session_id } = await create(backend, write("a.txt", TEXT));
  expect((await contents(backend, session_id)).points).toBe(3);
  expect(existsSync(join(folder, "sessions"))).toBe(false);
});
