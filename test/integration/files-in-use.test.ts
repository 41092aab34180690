import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { remove, rename } from "../../backend/file-moves.ts";
import { appOfTest, create, makeApp } from "../support/app/app.ts";
import { refuseFilesInUse } from "../support/run/files-in-use.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { slab } from "../support/session/session-edits.ts";

vi.mock("node:fs/promises", async () => (await import("../support/run/files-in-use.ts")).refusing);

const line = Array.from({ length: 100 }, (_, i) => `${i} 0 0`).join("\n");

describe.runIf(process.platform === "linux")("a system that refuses files in use", () => {
  test("a file that a scanner has open for a moment is replaced and removed", async () => {
    await refuseFilesInUse();
    const folder = folderOfTest("moves-");
    const [one, other] = [join(folder, "one"), join(folder, "other")];
    writeFileSync(one, "1");
    writeFileSync(other, "2");
    const scanner = await open(other, "r");
    await expect((await import("node:fs/promises")).rename(one, other)).rejects.toMatchObject({ code: "EPERM" });
    setTimeout(() => void scanner.close(), 60);
    await rename(one, other);
    expect(readFileSync(other, "utf8")).toBe("1");
    const again = await open(other, "r");
    setTimeout(() => void again.close(), 60);
    await remove(other);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a session is made, edited, spilled and found after a restart", async () => {
    await refuseFilesInUse();
    const folder = folderOfTest("windows-");
    const made = await makeApp({}, folder);
    const { session_id } = await create(made, made.file("line.txt", line));
    const payload = { region: slab(0, 9) };
    const url = `/api/cloud/session/${session_id}`;
    expect((await made.app.inject({ method: "POST", url: `${url}/delete_region`, payload })).statusCode).toBe(200);
    const session = await made.deps.sessions.get(session_id);
    await made.deps.sessions.spill(session);
    expect([...session.state.columns.values()].every(({ file }) => file !== null)).toBe(true);
    expect((await made.app.inject({ method: "POST", url: `${url}/bake?compact=true` })).statusCode).toBe(200);
    await made.deps.jobs.idle();
    await made.deps.sessions.close(); // as a crash would: the folder stays
    const again = await appOfTest({}, folder);
    await again.deps.sessions.recovered();
    expect((await again.deps.sessions.get(session_id)).state.columns.get("positions")?.length).toBe(90);
  });

  test("a session closed while a run reads it: gone at once, its folder when the run has ended", async () => {
    await refuseFilesInUse();
    const folder = folderOfTest("windows-");
    const made = await appOfTest({}, folder);
    const { session_id } = await create(made, made.file("line.txt", line));
    const session = await made.deps.sessions.get(session_id);
    await made.deps.sessions.spill(session);
    let finish: () => void = () => undefined;
    const end = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const reading = session.read(null, () => end);
    await setImmediate(); // the read holds its columns
    const url = `/api/cloud/session/${session_id}`;
    expect((await made.app.inject({ method: "DELETE", url })).statusCode).toBe(200);
    expect((await made.app.inject({ method: "GET", url: `${url}/label_summary` })).statusCode).toBe(404);
    expect(existsSync(join(made.sessions, session_id, "removed"))).toBe(true);
    // A start meanwhile does not bring it back.
    const sessions = (await made.app.inject({ method: "GET", url: "/api/cloud/sessions" })).json();
    expect(sessions.sessions).toEqual([]);
    finish();
    await reading;
    await eventually(() => expect(readdirSync(made.sessions)).toEqual([]));
  });

  test("what a killed process left of a removed session does not come back", async () => {
    const folder = folderOfTest("windows-");
    const made = await makeApp({}, folder);
    const { session_id } = await create(made, made.file("line.txt", line));
    await made.deps.sessions.close();
    writeFileSync(join(made.sessions, session_id, "removed"), "");
    mkdirSync(join(made.sessions, "0badcafe"));
    writeFileSync(join(made.sessions, "0badcafe", "removed"), "");
    const again = await appOfTest({}, folder);
    await again.deps.sessions.recovered();
    expect(again.deps.sessions.list()).toEqual([]);
    expect(await again.deps.sessions.summaries()).toEqual([]);
    await eventually(() => expect(readdirSync(again.sessions)).toEqual([]));
  });
});
