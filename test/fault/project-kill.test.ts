import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import type { OpenProjectTail, SaveProjectTail } from "../../shared/contract/project.ts";
import { tailOf } from "../support/app/live-run.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { folderOfFile, QUICK } from "../support/run/folders.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";

const KILLS = Number(process.env.APP_TEST_SAVE_KILLS ?? 3);
const POINTS = 100_000;
const folder = folderOfFile("project-kill-", QUICK);
let running: BackendProcess | undefined;
afterAll(() => running?.kill());

const scene = async ({ url }: BackendProcess): Promise<string> => {
  const headers = { "content-type": "application/octet-stream" };
  const answer = await fetch(`${url}/api/project/scene`, { method: "POST", headers, body: "PSC1 kill" });
  return ((await answer.json()) as { token: string }).token;
};

test(
  `${KILLS} times kill -9 during a save: the project opens, and no partial survives the next start`,
  async () => {
    const data = join(folder, "data");
    mkdirSync(data);
    const source = join(folder, "big.las");
    writeFileSync(source, bigLasBytes(POINTS));
    const path = join(folder, "plot.proj");
    running = await startProcess(data);
    const { session_id } = await tailOf<CreateSessionTail>(running.url, "/api/cloud/session/create", {
      source_path: source,
    });
    const save = async (backend: BackendProcess) => {
      const scene_token = await scene(backend);
      return tailOf<SaveProjectTail>(backend.url, "/api/project/save", {
        path,
        scene_token,
        session_ids: [session_id],
      });
    };
    const began = performance.now();
    await save(running);
    const took = performance.now() - began;
    let cut = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const backend = running;
      const ending = save(backend).then(
        () => false,
        () => true,
      );
      await new Promise((resolve) => setTimeout(resolve, (took * (kill + 0.5)) / KILLS));
      await backend.kill();
      cut += (await ending) ? 1 : 0;
      running = await startProcess(data);
      await eventually(() => expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]));
      const { session_map } = await tailOf<OpenProjectTail>(running.url, "/api/project/open", { path });
      const id = session_map[session_id] as string;
      expect((await fetch(`${running.url}/api/cloud/session/${id}`, { method: "DELETE" })).status).toBe(200);
    }
    console.log(`project saves: ${KILLS} kills, ${cut} during a save`);
    expect(cut).toBeGreaterThan(0);
  },
  60_000 + KILLS * 30_000,
);
