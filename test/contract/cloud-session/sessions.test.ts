import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SessionsResponse } from "../../../shared/contract/cloud-session/sessions.ts";
import { appOfTest, create, makeApp, type TestApp } from "../../support/app/app.ts";
import { eventually } from "../../support/run/stopwatch.ts";
import { deadCopy, restartWith, untouched } from "../../support/session/dead-session.ts";
import { checked, slab } from "../../support/session/session-edits.ts";

const list = async (made: TestApp) => {
  const answer = await made.app.inject({ url: "/api/cloud/sessions" });
  expect(answer.statusCode).toBe(200);
  return checked(SessionsResponse, answer.json()).sessions;
};
const close = async (made: TestApp, id: string) => {
  const answer = await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` });
  return [answer.statusCode, (answer.json() as { deleted?: boolean }).deleted];
};
const used = async (made: TestApp, id: string) =>
  (await made.app.inject({ url: `/api/cloud/session/${id}/label_summary` })).statusCode;
const bytesIn = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

let template: string;
beforeAll(async () => {
  const made = await makeApp();
  const { session_id } = await create(made, made.file("oak.xyz", "1 2 3\n4 5 6\n7 8 9\n"));
  template = await deadCopy(made, session_id);
  await made.close();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

test("lists what is open, the last used first, and what it takes", async () => {
  const made = await appOfTest();
  expect(await list(made)).toEqual([]);
  const start = Date.now();
  const oak = await create(made, made.file("oak.xyz", "1 2 3\n4 5 6\n"));
  const elm = await create(made, made.file("elm.xyz", "1 2 3\n4 5 6\n7 8 9\n"));
  await made.app.inject({
    method: "POST",
    url: `/api/cloud/session/${oak.session_id}/delete_region`,
    payload: { region: slab(1, 1) },
  });
  const ids = async () => (await list(made)).map(({ session_id }) => session_id);
  expect(await ids()).toEqual([oak.session_id, elm.session_id]);
  await used(made, elm.session_id);
  expect(await ids()).toEqual([elm.session_id, oak.session_id]);
  const [first, second] = await list(made);
  expect([first, second]).toMatchObject([
    { source_name: "elm.xyz", state: "ready", is_open: true, problems: [], total_count: 3, memory_bytes: 0 },
    { source_name: "oak.xyz", state: "ready", is_open: true, problems: [], total_count: 2, memory_bytes: 2 }, // the mask
  ]);
  expect(first?.disk_bytes).toBe(bytesIn(join(made.sessions, elm.session_id)));
  for (const { last_used } of [first, second].filter((entry) => entry !== undefined)) {
    expect(Date.parse(last_used)).toBeGreaterThan(start - 5);
    expect(Date.parse(last_used)).toBeLessThan(Date.now() + 5);
  }
  const merged = { session_ids: [oak.session_id, elm.session_id] };
  expect((await made.app.inject({ method: "POST", url: "/api/cloud/session/merge", payload: merged })).statusCode).toBe(
    200,
  );
  expect(await list(made)).toMatchObject([{ source_name: null, total_count: 5 }, {}, {}]);
});

test("tells the shift and what can be undone, for clients that did not make the session", async () => {
  const made = await appOfTest();
  const post = (path: string, payload: object) =>
    made.app.inject({ method: "POST", url: `/api/cloud/session/${path}`, payload });
  const created = await post("create", { source_path: made.file("oak.xyz", "1 2 3\n4 5 6\n"), world_shift: [1, 2, 0] });
  expect(created.statusCode).toBe(200);
  const [fresh] = await list(made);
  expect(fresh).toMatchObject({ world_shift: [1, 2, 0], undo: { deletions: 0, label_strokes: {} } });
  const id = fresh?.session_id ?? "";
  const region = slab(0, 0);
  await post(`${id}/delete_region`, { region: slab(3, 3) });
  await post(`${id}/delete_region`, { region: slab(50, 51) }); // counts, although nothing is there
  await post(`${id}/label_region`, { strokes: [{ stroke_id: "a", region, to_class: 2 }] });
  await post(`${id}/label_region`, { strokes: [{ stroke_id: "b", region, to_class: 3 }], slug: "species" });
  await post(`${id}/reset_label_edits`, { slug: "species" });
  expect(await list(made)).toMatchObject([{ undo: { deletions: 2, label_strokes: { manual_class: 1 } } }]);
});

test("without a journal sessions have no files", async () => {
  const made = await appOfTest({ sessionJournal: false });
  await create(made, made.file("oak.xyz", "1 2 3\n4 5 6\n"));
  expect(await list(made)).toMatchObject([{ state: "ready", source_name: "oak.xyz", disk_bytes: 0, memory_bytes: 48 }]);
});

test("a session whose answer never reached its client is found", async () => {
  const made = await appOfTest();
  await made.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = made.app.server.address() as { port: number };
  const abort = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}/api/cloud/session/create`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source_path: made.file("lost.xyz", "1 2 3\n") }),
    signal: abort.signal,
  });
  await eventually(async () => expect(await list(made)).toHaveLength(1)).catch(async (error: unknown) => {
    const text = await Promise.race([answer.text(), new Promise((done) => setTimeout(done, 1000, "unfinished"))]);
    throw new Error(`${String(error)}; the answer: ${answer.status} ${String(text)}`);
  });
  abort.abort(); // nothing of the body was read
  const [session] = await list(made);
  expect(session).toMatchObject({ source_name: "lost.xyz", state: "ready" });
  expect(await used(made, session?.session_id ?? "")).toBe(200);
});

test("after a restart: the time of the last change, not of the restart", async () => {
  const then = new Date("2026-02-03T04:05:06.000Z");
  const made = await restartWith(template, {
    "0000aaaa": (folder) => utimesSync(join(folder, "journal.log"), then, then),
  });
  expect(await list(made)).toMatchObject([
    { session_id: "0000aaaa", source_name: "oak.xyz", state: "ready", total_count: 3, last_used: then.toISOString() },
  ]);
});

test("a damaged session is listed with the reason, a 404 says so, and DELETE frees it, now and after a restart", async () => {
  const cut = (folder: string) => writeFileSync(join(folder, "journal.log"), "no journal");
  const made = await restartWith(template, { "0000aaaa": cut, "0000bbbb": cut, "0000cccc": untouched });
  const damaged = (session_id: string) => ({
    session_id,
    source_name: null,
    state: "damaged",
    is_open: false,
    problems: [expect.stringMatching(/cannot be read \(.*does not begin with a complete create record\)/)],
    total_count: null,
    memory_bytes: 0,
  });
  const inOrder = async (app: TestApp) => (await list(app)).sort((a, b) => (a.session_id < b.session_id ? -1 : 1));
  expect(await inOrder(made)).toMatchObject([damaged("0000aaaa"), damaged("0000bbbb"), { state: "ready" }]);
  const folders = () => readdirSync(made.sessions).filter((name) => name.startsWith("0000aaaa"));
  const [folder = ""] = folders();
  const [listed] = await inOrder(made);
  expect(listed?.disk_bytes).toBe(bytesIn(join(made.sessions, folder)));
  const answer = await made.app.inject({ url: "/api/cloud/session/0000aaaa/label_summary" });
  expect([answer.statusCode, answer.json()]).toMatchObject([
    404,
    {
      code: "not_found",
      detail: expect.stringMatching(/^Cloud session 0000aaaa is damaged\. Its files cannot be read/),
    },
  ]);
  expect(await close(made, "0000aaaa")).toEqual([200, true]);
  expect([folders(), await close(made, "0000aaaa"), await used(made, "0000aaaa")]).toEqual([[], [200, false], 404]);

  await made.deps.sessions.close();
  const again = await appOfTest({ dataDir: join(made.folder, "data") });
  expect(await inOrder(again)).toMatchObject([damaged("0000bbbb"), { session_id: "0000cccc", state: "ready" }]);
  expect(await close(again, "0000bbbb")).toEqual([200, true]);
  expect(await inOrder(again)).toMatchObject([{ session_id: "0000cccc" }]);
});

test("a session that lost its last changes is open and damaged", async () => {
  const made = await appOfTest();
  const { session_id } = await create(made, made.file("line.xyz", "0 0 0\n1 0 0\n2 0 0\n"));
  for (const x of [0, 1, 2]) {
    const payload = { region: slab(x, x) };
    await made.app.inject({ method: "POST", url: `/api/cloud/session/${session_id}/delete_region`, payload });
  }
  const dead = await deadCopy(made, session_id);
  const again = await restartWith(dead, {
    [session_id]: (folder) => {
      const bytes = readFileSync(join(folder, "journal.log"));
      bytes.fill(0, bytes.length - 40);
      writeFileSync(join(folder, "journal.log"), bytes);
    },
  });
  rmSync(dead, { recursive: true });
  expect(await list(again)).toMatchObject([
    {
      state: "damaged",
      is_open: true,
      problems: [expect.stringMatching(/damaged on the disk from byte/)],
      total_count: 3,
    },
  ]);
});

test("a session of another window is listed as unavailable and can be removed; that of a living backend is not listed", async () => {
  const owner = (lease: object) => (folder: string) => writeFileSync(join(folder, "owner.json"), JSON.stringify(lease));
  const made = await restartWith(template, {
    "0000aaaa": owner({ pid: 2 ** 30, start_time: "1", instance: "other-window" }),
    "0000bbbb": owner({ pid: process.ppid, start_time: null, instance: "default" }),
  });
  expect(await list(made)).toMatchObject([
    {
      session_id: "0000aaaa",
      source_name: "oak.xyz",
      state: "unavailable",
      is_open: false,
      problems: [expect.stringMatching(/another window/)],
      total_count: 3,
    },
  ]);
  const answer = await made.app.inject({ url: "/api/cloud/session/0000aaaa/label_summary" });
  expect([answer.statusCode, answer.body]).toEqual([404, expect.stringMatching(/is not available\. .*another window/)]);
  expect(await close(made, "0000aaaa")).toEqual([200, true]);
  expect(await close(made, "0000bbbb")).toEqual([200, false]);
  expect(readdirSync(made.sessions)).toEqual(["0000bbbb"]);
});

test("a folder that an earlier start set aside is listed, even if it can be read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "taken-"));
  cpSync(template, join(folder, "data", "sessions", "0000aaaa.1.damaged"), { recursive: true });
  const made = await appOfTest({}, folder);
  const [listed] = await list(made);
  expect(listed).toMatchObject({ session_id: "0000aaaa", state: "damaged", source_name: "oak.xyz", total_count: 3 });
  expect(listed?.problems).toEqual([expect.stringMatching(/found by an earlier start/)]);
  expect(await close(made, "0000aaaa")).toEqual([200, true]);
  expect(existsSync(join(folder, "data", "sessions", "0000aaaa.1.damaged"))).toBe(false);
});
