import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { SessionsResponse } from "../../shared/contract/cloud-session/sessions.ts";
import type { OpenProjectTail } from "../../shared/contract/project.ts";
import { type LiveRun, openRun, tailOf } from "../support/app/live-run.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { folderOfFile, QUICK } from "../support/run/folders.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";

/** Kills during a save, and as many during an open. */
const KILLS = Number(process.env.APP_TEST_SAVE_KILLS ?? 2);
const POINTS = 100_000;
const CLOUDS = 3;
const folder = folderOfFile("project-kill-", QUICK);
const path = join(folder, "plot.proj");
let running: BackendProcess | undefined;
afterAll(() => running?.kill());

const scene = async ({ url }: BackendProcess): Promise<string> => {
  const headers = { "content-type": "application/octet-stream" };
  const answer = await fetch(`${url}/api/project/scene`, { method: "POST", headers, body: "PSC1 kill" });
  return ((await answer.json()) as { token: string }).token;
};
const save = async (backend: BackendProcess, session_ids: readonly string[]) =>
  openRun(backend.url, "/api/project/save", { path, scene_token: await scene(backend), session_ids });
const open = ({ url }: BackendProcess) => openRun(url, "/api/project/open", { path });
const listed = async ({ url }: BackendProcess) =>
  SessionsResponse.parse(await (await fetch(`${url}/api/cloud/sessions`)).json()).sessions.map(
    ({ session_id }) => session_id,
  );
const remove = async ({ url }: BackendProcess, ids: readonly string[]) => {
  for (const id of ids) expect((await fetch(`${url}/api/cloud/session/${id}`, { method: "DELETE" })).status).toBe(200);
};

/** Kills the service at even moments of a run, starts it again and calls `check`; how many kills cut the run off. */
async function killed(data: string, begin: (backend: BackendProcess) => Promise<LiveRun>, check: () => Promise<void>) {
  const run = await begin(running as BackendProcess);
  const began = performance.now();
  expect((await run.outcome).kind).toBe("json");
  const took = performance.now() - began;
  await check();
  let cut = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const backend = running as BackendProcess;
    const { outcome } = await begin(backend); // it has begun
    const ending = outcome.then(
      () => false,
      () => true,
    );
    await new Promise((resolve) => setTimeout(resolve, (took * kill) / KILLS));
    await backend.kill();
    cut += (await ending) ? 1 : 0;
    running = await startProcess(data);
    await check();
  }
  return cut;
}

test(
  `${KILLS} times kill -9 during a save and an open: the project opens, whole or not at all, and nothing half is left`,
  async () => {
    const data = join(folder, "data");
    mkdirSync(data);
    const source_path = join(folder, "big.las");
    writeFileSync(source_path, bigLasBytes(POINTS));
    running = await startProcess(data);
    const create = () =>
      tailOf<CreateSessionTail>((running as BackendProcess).url, "/api/cloud/session/create", { source_path });
    const ids: string[] = [];
    for (let i = 0; i < CLOUDS; i += 1) ids.push((await create()).session_id);

    const saves = await killed(
      data,
      (backend) => save(backend, ids),
      async () => {
        const backend = running as BackendProcess;
        await eventually(() => expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]));
        const { session_map } = await tailOf<OpenProjectTail>(backend.url, "/api/project/open", { path });
        expect(Object.keys(session_map).sort()).toEqual([...ids].sort());
        await remove(backend, Object.values(session_map));
      },
    );
    await remove(running as BackendProcess, ids);

    const sessions = join(data, "sessions");
    const opens = await killed(data, open, async () => {
      const backend = running as BackendProcess;
      const found = await listed(backend);
      expect([0, CLOUDS]).toContain(found.length);
      await remove(backend, found);
      // A kill between a folder and its owner's name leaves it empty; a start a minute later removes it.
      const isEmpty = (name: string) => !existsSync(join(sessions, name, "owner.json"));
      await eventually(() => expect(readdirSync(sessions).filter((name) => !isEmpty(name))).toEqual([]));
    });
    console.log(`projects: ${KILLS} kills, ${saves} during a save; ${KILLS} kills, ${opens} during an open`);
    expect(saves).toBeGreaterThan(0);
    expect(opens).toBeGreaterThan(0);
  },
  60_000 + KILLS * 60_000,
);
