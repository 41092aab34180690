import { readFileSync } from "node:fs";
import { copyFile, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BackendAddress } from "../../backend/entry/supervisor-contract.ts";
import { createClient } from "../../shared/client/index.ts";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { makeApp } from "../support/app/app.ts";
import { jsonLine, LaunchedElectron } from "../support/electron/launched.ts";
import type { DriverCommand, DriverEvent } from "../support/electron/protocol.ts";
import { type StagedApp, stageApp } from "../support/electron/staged-app.ts";
import { modelJson, TWO_LEVEL_NETWORK, writePackage } from "../support/ml/packages.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { SPIRAL_FORMAT, testScan, writeSpiral } from "../support/scans/scans.ts";

const launcher = process.env.APP_TEST_ELECTRON;
if (!launcher) console.log("electron test: skipped, APP_TEST_ELECTRON does not name a launcher for Electron");

const START_MS = 120_000;
const STEP_MS = 60_000;
type EventOf<E extends DriverEvent["event"]> = Extract<DriverEvent, { event: E }>;
type Ready = EventOf<"state"> & { readonly address: BackendAddress };

/** Points in several crops. */
const WALL = Array.from({ length: 4000 }, (_, i): [number, number, number] => [
  0.7 * (i % 40),
  0,
  0.7 * Math.floor(i / 40),
]);
async function labelsInNode(folder: string): Promise<number[]> {
  const made = await makeApp({ mlModelsDir: join(folder, "none"), mlDevice: "cpu" });
  try {
    const send = (url: string, payload: object) => made.app.inject({ method: "POST", url, payload });
    await send("/api/ml/models/import", { path: folder });
    const answer = await send("/api/segment/wood", { points: WALL, method: "ml", model_id: "electron" });
    return (answer.json() as { labels: number[] }).labels;
  } finally {
    await made.close();
  }
}

let app: StagedApp;
beforeAll(async () => {
  if (launcher) app = await stageApp();
}, START_MS);
afterAll(async () => {
  await app?.remove();
});

/** The supervisor library in a real Electron, as a desktop app uses it. */
describe.skipIf(!launcher)("a window's backend in Electron", () => {
  let electron: LaunchedElectron;
  let scan: string;
  let format: string | null;
  let ready: Ready;
  let created: CreateSessionTail;

  const event = <E extends DriverEvent["event"]>(name: E, check: (e: EventOf<E>) => boolean = () => true) =>
    electron.until(name, STEP_MS, (line) => {
      const said = jsonLine(line) as DriverEvent | undefined;
      if (said?.event === "failed" && name !== "failed") throw new Error(said.message);
      return said?.event === name && check(said as EventOf<E>) ? (said as EventOf<E>) : undefined;
    });
  const nextReady = async () => (await event("state", ({ state }) => state === "ready")) as Ready;
  const ask = async <E extends DriverEvent["event"]>(command: DriverCommand, answer: E) => {
    const answered = event(answer);
    electron.send(command);
    return answered;
  };
  const client = () => createClient({ baseUrl: ready.address.url, token: ready.token });

  beforeAll(async () => {
    const given = testScan(join("trees_tls", "itsme_tree1.las"));
    scan = join(app.work, `scan${given ? extname(given) : ".xyz"}`);
    format = given ? null : SPIRAL_FORMAT;
    if (given) await copyFile(given, scan);
    else await writeSpiral(scan, 20_000);
    electron = new LaunchedElectron(launcher ?? "", app.driver, {
      TMPDIR: app.work, // whatever the launcher or Electron leaves goes with the folder
      TEST_ENTRY: app.backend,
      TEST_FOLDER: app.work,
    });
    ready = await nextReady();
  }, START_MS);
  afterAll(async () => {
    await electron?.kill();
  });

  test("becomes ready on a free port with a random token", async () => {
    console.log(`electron: the backend was ready ${ready.ms.toFixed(0)} ms after start()`);
    expect(ready.token).toMatch(/^[0-9a-f]{64}$/);
    const { version } = await client().version();
    expect(version).toBe(JSON.parse(readFileSync(join(app.folder, "package.json"), "utf8")).version);
  });

  test("refuses a request without the token", async () => {
    const stranger = createClient({ baseUrl: ready.address.url });
    await expect(stranger.deviceInfo()).rejects.toMatchObject({ status: 401, code: "unauthorized" });
    const guess = createClient({ baseUrl: ready.address.url, token: "f".repeat(64) });
    await expect(guess.deviceInfo()).rejects.toMatchObject({ status: 401 });
  });

  test("imports a scan with the native addon", async () => {
    created = await client().createSession({ source_path: scan, ascii_format: format });
    expect(created.point_count).toBeGreaterThan(1_000);
    expect(created.total_count).toBeGreaterThanOrEqual(created.point_count);
  });

  test("networks run in a process of their own, with the same labels as in Node", async () => {
    expect(await client().mlDevice()).toMatchObject({ device: "cpu", runtime: expect.stringMatching(/^1\./) });
    const hierarchy = { voxel: 0.5, levels: 2, k: 4 };
    const folder = writePackage(join(app.work, "package"), modelJson({ id: "electron", hierarchy }), TWO_LEVEL_NETWORK);
    expect(await client().importMlModel(folder)).toMatchObject({ id: "electron", origin: "user" });
    const { labels } = await client().segmentWood({ points: WALL, method: "ml", model_id: "electron" });
    expect(Array.from(labels)).toEqual(await labelsInNode(folder));
    expect(await client().deleteMlModel("electron")).toEqual({ success: true });
  });

  test("requests of its own window carry the token, but to no other origin", async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.setHeader("access-control-allow-origin", "*");
      response.end("other");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { url } = ready.address;
    const urls = [`${url}/api/device-info`, `http://127.0.0.1:${(other.address() as AddressInfo).port}/`];
    try {
      const stranger = await ask({ do: "fetch", attach: false, page: `${url}/health`, urls }, "fetched");
      expect(stranger.statuses).toEqual([401, 200]);
      const own = await ask({ do: "fetch", attach: true, page: `${url}/docs`, urls }, "fetched");
      expect(own.statuses).toEqual([200, 200]);
      expect(seen).toEqual([undefined, undefined]);
    } finally {
      other.close();
      other.closeAllConnections();
    }
  });

  test("restarts after kill -9 on its port, with its token and its session", async () => {
    const before = ready;
    const restarted = nextReady();
    const died = performance.now();
    process.kill(before.address.pid, "SIGKILL");
    ready = await restarted;
    console.log(`electron: ready again ${(performance.now() - died).toFixed(0)} ms after kill -9`);
    expect(ready.address).toMatchObject({ url: before.address.url, port: before.address.port });
    expect(ready.address.pid).not.toBe(before.address.pid);
    expect(ready.token).toBe(before.token);
    const rebuilt = await client().rebuildOctree(created.session_id);
    expect(rebuilt).toMatchObject({ point_count: created.point_count, total_count: created.total_count });
    const file = join(app.work, "back.xyz");
    const exported = await client().exportCloud({
      source: { session_id: created.session_id },
      format: "xyz",
      dest_path: file,
    });
    expect(exported).toMatchObject({ success: true, point_count: created.total_count });
  });

  test("closing the window during an import ends the backend within 1 s, cleanly, and removes its sessions", async () => {
    const large = join(app.work, "large.xyz");
    await writeSpiral(large, 500_000);
    const request = { source_path: large, ascii_format: SPIRAL_FORMAT };
    let importing: Promise<string> | undefined;
    await new Promise<void>((resolve) => {
      importing = client()
        .createSession(request, { onProgress: () => resolve() })
        .then(
          () => "finished",
          () => "cut off",
        );
    });
    const stopped = await ask({ do: "close-window" }, "stopped");
    console.log(`electron: stopped in ${stopped.ms.toFixed(0)} ms`);
    expect(stopped).toMatchObject({ exit_code: 0, killed: false });
    expect(stopped.ms).toBeLessThan(1_000);
    expect(await importing).toBe("cut off");
    await expectGone(ready.address.pid);
    expect(await readdir(join(app.work, "data", "sessions"))).toEqual([]);
    electron.send({ do: "quit" } satisfies DriverCommand);
    expect(await electron.exited).toBe(0);
  });
});

/** The window of the product, with a test in the place of its user's answers. */
describe.skipIf(!launcher)("the window asks before work is lost", () => {
  let electron: LaunchedElectron;
  let scan: string;
  const ask = <E extends DriverEvent["event"]>(command: DriverCommand, answer: E) => {
    const answered = electron.until(answer, STEP_MS, (line) => {
      const said = jsonLine(line) as DriverEvent | undefined;
      if (said?.event === "failed") throw new Error(said.message);
      return said?.event === answer ? (said as EventOf<E>) : undefined;
    });
    electron.send(command);
    return answered;
  };
  const sessions = () => readdir(join(app.work, "asked", "data", "sessions"));
  const open = (file: string | null) => ask({ do: "app-window", file }, "opened");
  const close = (button: number) => ask({ do: "close-app-window", button }, "closed");

  beforeAll(async () => {
    scan = join(app.work, "asked.xyz");
    await writeSpiral(scan, 20_000);
    electron = new LaunchedElectron(launcher ?? "", app.driver, {
      TMPDIR: app.work,
      TEST_ENTRY: app.backend,
      TEST_FOLDER: join(app.work, "asked"),
    });
    const started = (line: string) => (jsonLine(line)?.state === "ready" ? true : undefined);
    await electron.until("backend", STEP_MS, started, true);
  }, START_MS);
  afterAll(async () => {
    await electron?.kill();
  });

  test("a file that was only opened is no work", async () => {
    await open(scan);
    expect(await close(2)).toMatchObject({ asked: 0, is_open: false, keeps: false });
    expect(await sessions()).toEqual([]);
  });

  test("a run is: cancel leaves the window open, and what is kept is there at the next start", async () => {
    await open(scan);
    await ask({ do: "operation", id: "denoise" }, "operated");
    expect(await close(2)).toMatchObject({ asked: 1, is_open: true });
    const [session] = await sessions();
    expect(session).toBeDefined();
    expect(await close(0)).toMatchObject({ asked: 2, is_open: false, keeps: true });
    expect(await sessions()).toEqual([session]);
  });

  test("kept clouds are work, and gone when the user discards them", async () => {
    await open(null);
    expect(await close(1)).toMatchObject({ asked: 3, is_open: false, keeps: false });
    expect(await sessions()).toEqual([]);
  });
});

/** The small app that comes with the project. */
describe.skipIf(!launcher)("the desktop app", () => {
  let electron: LaunchedElectron | undefined;
  afterAll(async () => {
    await electron?.kill();
  });

  const launch = async (files: readonly string[] = [], data = "data") => {
    const env = {
      TMPDIR: app.work,
      APP_DATA_DIR: join(app.work, data),
      APP_OCTREE_CACHE_ROOT: join(app.work, "octrees"),
    };
    const started = new LaunchedElectron(launcher ?? "", app.main, env, files);
    electron = started;
    const { pid, address } = await started.until("ready backend", STEP_MS, (line) => {
      const record = jsonLine(line);
      return record?.state === "ready" ? (record as unknown as { pid: number; address: BackendAddress }) : undefined;
    });
    return { electron: started, pid, address };
  };

  test("shows the service's page and ends with its backend on SIGTERM", async () => {
    const { electron, pid, address } = await launch();
    const loaded = (line: string) => (line.includes("GET /app/main.js -> 200") ? line : undefined);
    await electron.until("page in the window", STEP_MS, loaded, true);
    process.kill(pid, "SIGTERM");
    expect(await electron.exited).toBe(0);
    await expectGone(address.pid);
  });

  test("its page opens the file of the command line", async () => {
    const scan = join(app.work, "opened.xyz");
    await writeSpiral(scan, 20_000);
    const { electron, pid, address } = await launch([scan]);
    const answered = (what: RegExp) => (line: string) => (what.test(line) ? line : undefined);
    await electron.until("session", STEP_MS, answered(/POST \/api\/cloud\/session\/create -> 200/), true);
    process.kill(pid, "SIGTERM");
    expect(await electron.exited).toBe(0);
    await expectGone(address.pid);
  });

  test("leaves no backend behind when it is killed, and keeps its clouds for the next start and after SIGTERM", async () => {
    const scan = join(app.work, "killed.xyz");
    await writeSpiral(scan, 20_000);
    const data = "killed"; // what ended before its page had told anything is kept, too
    const first = await launch([scan], data);
    const answered = (what: RegExp) => (line: string) => (what.test(line) ? line : undefined);
    await first.electron.until("session", STEP_MS, answered(/POST \/api\/cloud\/session\/create -> 200/), true);
    process.kill(first.pid, "SIGKILL");
    await first.electron.exited;
    await expectGone(first.address.pid);
    const left = await readdir(join(app.work, data, "sessions"));
    expect(left).toHaveLength(1);

    const { electron, pid, address } = await launch([], data);
    await electron.until("list of sessions", STEP_MS, answered(/GET \/api\/cloud\/sessions -> 200/), true);
    await electron.until("next look", STEP_MS, answered(/GET \/health -> 200/)); // it has told by then that there is work
    process.kill(pid, "SIGTERM"); // nobody is asked
    expect(await electron.exited).toBe(0);
    await expectGone(address.pid);
    expect(await readdir(join(app.work, data, "sessions"))).toEqual(left);
  });
});

/** The process has ended; whoever has to reap it may still be at it. */
async function expectGone(pid: number): Promise<void> {
  await eventually(() => expect(running(pid)).toBe(false));
}

function running(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
