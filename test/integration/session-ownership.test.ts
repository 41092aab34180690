import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processStartTime } from "../../backend/native/core/platform.ts";
import type { Lease } from "../../backend/sessions/process-lease.ts";
import { create, exported, makeApp } from "../support/app/app.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { deadCopy, rebuildStatus, restartWith, untouched } from "../support/session/dead-session.ts";

const DAY_MS = 24 * 3600 * 1000;
let template: string;
let id: string;
let las: Buffer;
beforeAll(async () => {
  const made = await makeApp();
  id = (await create(made, made.file("a.txt", "x y z class\n1 2 3 4\n2 3 4.5 7\n9 9 9 1\n"))).session_id;
  las = await exported(made, id, "las");
  template = await deadCopy(made, id);
  await made.close();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

const restart = (changes: Record<string, (folder: string) => void>) => restartWith(template, changes);

describe.skipIf(process.platform === "win32")("the previous backend was killed a moment ago", () => {
  const owner = (pid: number) =>
    JSON.stringify({ pid, start_time: processStartTime(pid), instance: "default" } satisfies Lease);

  test("while it counts as running its session stays; a later request recovers it", async () => {
    const before = spawn("sleep", ["60"]);
    const lease = owner(before.pid ?? 0);
    const made = await restart({ [id]: (folder) => writeFileSync(join(folder, "owner.json"), lease) });
    expect(await rebuildStatus(made, id)).toBe(404);
    before.kill("SIGKILL");
    await once(before, "exit");
    expect(await exported(made, id, "las")).toEqual(las);
  });

  test.runIf(process.platform === "linux")(
    "an ended process that its parent has not reaped counts as dead",
    async () => {
      // The shell becomes a program that never asks after the child, a backend like any other.
      const parent = spawn("sh", ["-c", "cat <&3 3<&- & echo $!; exec sleep 60"], {
        stdio: ["ignore", "pipe", "ignore", "pipe"],
      });
      const [text] = (await once(parent.stdout as Readable, "data")) as [Buffer];
      const lease = owner(Number(text));
      expect(lease).toMatch(/"start_time":"/);
      // A shell may still ask after its children until it has become that program.
      await eventually(() => expect(readFileSync(`/proc/${parent.pid}/comm`, "utf8")).toBe("sleep\n"));
      (parent.stdio[3] as Writable).end(); // the child reads to the end
      await eventually(() => expect(processStartTime(Number(text))).toBeNull());
      process.kill(Number(text), 0); // its id is still taken
      const made = await restart({ [id]: (folder) => writeFileSync(join(folder, "owner.json"), lease) });
      expect(await exported(made, id, "las")).toEqual(las);
      parent.kill("SIGKILL");
    },
  );
});

describe("ownership of sessions", () => {
  const owner = (lease: object) => (folder: string) => writeFileSync(join(folder, "owner.json"), JSON.stringify(lease));
  test("a living owner keeps its session; a reused process id does not count as the owner", async () => {
    const made = await restart({
      [id]: owner({ pid: process.ppid, start_time: null, instance: "default" }),
      "0000bbbb": owner({ pid: process.ppid, start_time: "long ago", instance: "default" }),
    });
    expect([await rebuildStatus(made, id), await rebuildStatus(made, "0000bbbb")]).toEqual([404, 200]);
  });

  test("the session of another window is left to it for a day, then taken over", async () => {
    const other = owner({ pid: 2 ** 30, start_time: "1", instance: "other-window" });
    const old = new Date(Date.now() - DAY_MS - 60_000);
    const made = await restart({
      [id]: other,
      "0000cccc": (folder) => {
        other(folder);
        utimesSync(join(folder, "journal.log"), old, old);
      },
    });
    expect([await rebuildStatus(made, id), await rebuildStatus(made, "0000cccc")]).toEqual([404, 200]);
  });

  test("a torn or missing owner file means no owner", async () => {
    const made = await restart({
      [id]: (folder) => writeFileSync(join(folder, "owner.json"), '{"pid":'),
      "0000dddd": (folder) => rmSync(join(folder, "owner.json")),
    });
    expect([await rebuildStatus(made, id), await rebuildStatus(made, "0000dddd")]).toEqual([200, 200]);
  });

  test("leftovers of dead creates and deletes are removed, those of living ones stay", async () => {
    const made = await restart({
      "1111aaaa.new": untouched,
      "1111bbbb.new": owner({ pid: process.ppid, start_time: null, instance: "default" }),
      "1111cccc.77.deleted": untouched,
      "1111dddd.new": (folder) => rmSync(join(folder, "owner.json")), // seconds old: its lease may come any moment
    });
    const left = ["1111bbbb.new", "1111dddd.new"];
    await eventually(() => expect(readdirSync(made.sessions).sort()).toEqual(left));
  });
});
