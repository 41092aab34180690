import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startBackend } from "../../backend/entry/serve.ts";
import { Journal } from "../../backend/sessions/journal.ts";
import { makeTemporaryFolder } from "../../backend/sessions/temporary-folder.ts";
import { appOfTest } from "../support/app/app.ts";
import { ask, openRun, tailOf } from "../support/app/live-run.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { eventually, within } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";
import { cloud } from "../support/session/session-edits.ts";

const DEAD_PID = 2 ** 22 + 7; // above the largest process id of Linux

/** A folder for temporary files, for the process of the test. */
function ownTmp(): string {
  const folder = mkdtempSync(join(tmpdir(), "tmp-"));
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

describe("a start", () => {
  test("removes temporary folders of ended processes, and nothing else", async () => {
    const root = ownTmp();
    const folder = (name: string) => {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, "cloud.las"), "x");
      return name;
    };
    const gone = [
      folder(`point-cloud-backend-upload-${DEAD_PID}-12-abcdef`),
      folder(`point-cloud-backend-export-${DEAD_PID}--abcdef`),
      folder(`point-cloud-backend-export-${process.pid}-1-abcdef`), // the id was used before
    ];
    const living = await makeTemporaryFolder("upload");
    const other = ["upload-abcdef", "export-abcdef", `point-cloud-backend-${DEAD_PID}`].map(folder);
    const link = `point-cloud-backend-upload-${DEAD_PID}-12-ghijkl`;
    symlinkSync(join(root, "upload-abcdef"), join(root, link));
    await appOfTest();
    await eventually(() => expect(gone.filter((name) => existsSync(join(root, name)))).toEqual([]));
    expect(existsSync(living)).toBe(true);
    for (const name of [...other, link]) expect(existsSync(join(root, name, "cloud.las"))).toBe(true);
  });

  test("removes the incomplete files of killed exports, and no other file that a note names", async () => {
    const made = await appOfTest();
    const partial = join(made.folder, ".export-0123456789abcdef.partial");
    const precious = made.file("precious.txt", "keep me");
    const running = join(made.folder, made.deps.pendingFiles.partialName());
    const remove = await made.deps.pendingFiles.add(running);
    const pending = join(made.folder, "data", "pending");
    const note = (name: string, path: string) =>
      writeFileSync(join(pending, name), JSON.stringify({ pid: DEAD_PID, start_time: "1", instance: "", path }));
    for (const path of [partial, running]) writeFileSync(path, "half");
    note("1-a.json", partial);
    note("1-b.json", precious);
    writeFileSync(join(pending, "1-c.json"), '{"pid": 1');
    await made.deps.pendingFiles.sweep();
    expect(existsSync(partial)).toBe(false);
    expect(readFileSync(precious, "utf8")).toBe("keep me");
    expect(existsSync(running)).toBe(true);
    expect(readdirSync(pending)).toHaveLength(1);
    await remove();
    expect([existsSync(running), readdirSync(pending)]).toEqual([false, []]);
  });

  test("after a kill during an export and an upload: nothing of them stays", async () => {
    const folder = mkdtempSync(join(tmpdir(), "killed-"));
    const [data, out, tmp] = ["data", "out", "tmp"].map((name) => join(folder, name)) as [string, string, string];
    for (const path of [out, tmp]) mkdirSync(path);
    const source_path = join(folder, "big.las");
    writeFileSync(source_path, bigLasBytes(2_000_000));
    const first: BackendProcess = await startProcess(data, { TMPDIR: tmp });
    const { session_id } = await tailOf<{ session_id: string }>(first.url, "/api/cloud/session/create", {
      source_path,
    });
    for (const dest_path of [join(out, "a.csv"), null]) {
      const run = await openRun(first.url, "/api/pointcloud/export", {
        source: { session_id },
        format: "csv",
        dest_path,
      });
      run.outcome.catch(() => undefined);
    }
    await eventually(() => expect([readdirSync(out).length, readdirSync(tmp).length]).toEqual([1, 1]));
    await first.kill();
    expect([readdirSync(out).length, readdirSync(tmp).length]).toEqual([1, 1]);
    const second = await startProcess(data, { TMPDIR: tmp });
    await eventually(() => expect([readdirSync(out), readdirSync(tmp)]).toEqual([[], []]));
    expect((await ask(second.url, "DELETE", `/api/cloud/session/${session_id}`)).body).toMatchObject({ deleted: true });
    await second.kill();
  });
});

describe("a stop that removes the sessions", () => {
  test("renames all folders before it removes the first file", async () => {
    const made = await appOfTest();
    for (let i = 0; i < 10; i += 1) await cloud(made, [`${i} 0 0`, "1 1 1"]);
    const names = () => readdirSync(made.sessions);
    const close = Journal.prototype.close;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = vi.spyOn(Journal.prototype, "close").mockImplementationOnce(async function (this: Journal) {
      await gate; // one session is late
      await close.call(this);
    });
    const ended = made.deps.sessions.deleteAll();
    await eventually(() => expect(names().filter((name) => name.endsWith(".deleted"))).toHaveLength(9));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(names()).toHaveLength(10); // all are still there, nine under the name that the next start removes
    release();
    await ended;
    slow.mockRestore();
    expect(names()).toEqual([]);
  });

  test("ends in time, however long the files take", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stop-"));
    const backend = await startBackend({
      port: 0,
      dataDir: join(folder, "data"),
      octreeCacheRoot: join(folder, "octrees"),
      shutdownGraceMs: 500,
      logLevel: "silent",
    });
    vi.spyOn(backend.deps.sessions, "deleteAll").mockReturnValue(new Promise(() => undefined));
    let stopped = false;
    void backend.stop({ removeSessions: true }).then(() => {
      stopped = true;
    });
    await within(1000, () => expect(stopped).toBe(true));
  });
});
