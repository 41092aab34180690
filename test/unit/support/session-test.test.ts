import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { appOfTest, type TestApp } from "../../support/app/app.ts";
import { baseAppOfTest, type MadeApp } from "../../support/app/base-app.ts";
import { FakeNative } from "../../support/native/fake-native.ts";
import { folderOfFile, folderOfTest } from "../../support/run/folders.ts";
import { lasBytes } from "../../support/scans/las-bytes.ts";
import { cloud, lineRows, xs } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

/** What a failed test leaves for the next one to look at. */
const left: { session?: string; folders: string[]; app?: TestApp; base?: MadeApp } = { folders: [] };
const native = new FakeNative<never>();
const PLANNED = "the test fails as planned";

describe("sessionTest", () => {
  const made = sessionTest({ config: { maxDeletedHistory: 2 }, listening: true });
  const shared = made.shared(lineRows([1, 2]), { world_shift: [0, 0, -1] });

  test.fails("a failed test", async () => {
    left.session = (await cloud(made, lineRows([3]))).session_id;
    made.deps.jobs.run((job) => job.track(() => native)).catch(() => undefined);
    left.folders.push(made.folder);
    throw new Error(PLANNED);
  });

  test("closes its session, cancels its run and keeps the shared session", async () => {
    const [session = "none", folder = ""] = [left.session, ...left.folders];
    expect([folder, existsSync(folder)]).toEqual([made.folder, true]);
    expect(made.deps.sessions.list().map(({ id }) => id)).toEqual([shared.session_id]);
    expect([existsSync(join(made.sessions, session)), existsSync(join(made.sessions, shared.session_id))]).toEqual([
      false,
      true,
    ]);
    expect([native.cancelCount, made.deps.jobs.size]).toEqual([1, 0]);
    expect(shared.tail.world_shift).toEqual([0, 0, -1]);
  });

  test("takes its configuration and listens", async () => {
    expect(made.deps.config.maxDeletedHistory).toBe(2);
    expect((await fetch(made.base)).status).toBe(200);
    expect((await made.remove(shared.session_id, 0, 0)).json()).toMatchObject({ deleted_count: 1 });
    expect((await made.post(shared.session_id, "nothing")).statusCode).toBe(404);
  });

  test("opens rows, bytes and paths", async () => {
    const rows = ["x y z", "1 0 0", "2 0 0"];
    const scans = [rows, lasBytes([1, 2].map((x) => ({ x, y: 0, z: 0 }))), made.file("path.txt", rows.join("\n"))];
    for (const scan of scans) expect(await xs(made, (await cloud(made, scan)).session_id)).toEqual([1, 2]);
  });
});

describe("sessions that tests share", () => {
  const made = sessionTest({ closeSessions: "at the end" });
  let session = "";
  test("are created in one", async () => {
    session = (await cloud(made, lineRows([3]))).session_id;
  });
  test("and open in the next", async () => {
    expect(await xs(made, session)).toEqual([0]);
    left.folders.push(made.folder);
  });
});

describe("for one test", () => {
  const file = folderOfFile("file-");
  test.fails("a failed test", async () => {
    left.app = await appOfTest();
    left.base = await baseAppOfTest();
    const folder = folderOfTest("test-");
    if ([left.app.folder, left.base.octrees, folder, file].every(existsSync)) {
      left.folders.push(left.app.folder, left.base.octrees, folder);
    }
    throw new Error(PLANNED);
  });
  test("its apps are closed", async () => {
    await expect(left.app?.app.inject({ url: "/" })).rejects.toThrow();
    await expect(left.base?.app.inject({ url: "/" })).rejects.toThrow();
    left.folders.push(file);
  });
});

test("no folder is left", () => {
  expect(left.folders).toHaveLength(6);
  expect(left.folders.filter(existsSync)).toEqual([]);
});
