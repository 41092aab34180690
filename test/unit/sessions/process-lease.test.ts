import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { tryLockFile } from "../../../backend/native/core/column-files.ts";
import { claimLease, leaseAlive, ownLease, readLease, writeLease } from "../../../backend/sessions/process-lease.ts";
import { folderOfTest } from "../../support/run/folders.ts";

const DEAD = { pid: 2 ** 22 + 1, start_time: "1", instance: "test" }; // above the largest process id of Linux
const CLAIMER = fileURLToPath(new URL("../../support/process/claim-lease.ts", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = folderOfTest("lease-");
});

test("a lease is alive while its process runs; a reused id does not count", () => {
  const mine = ownLease("test");
  expect([leaseAlive(mine), leaseAlive({ ...mine, start_time: "0" }), leaseAlive(DEAD)]).toEqual([true, false, false]);
});

test("the lease of a dead owner is taken over, that of a living one is not; a torn lease has no owner", async () => {
  const mine = ownLease("test");
  const path = join(folder, "owner.json");
  expect(await claimLease(path, mine)).toBe(true);
  expect(await readLease(path)).toEqual(mine);
  await writeLease(path, { ...DEAD });
  expect(await claimLease(path, mine)).toBe(true);
  await writeLease(path, { ...ownLease("test"), pid: process.ppid, start_time: null });
  expect(await claimLease(path, mine)).toBe(false);
  writeFileSync(path, '{"pid":');
  expect(await claimLease(path, mine)).toBe(true);
  expect(readdirSync(folder).sort()).toEqual(["owner.json", "owner.json.lock"]);
});

test("a claim is refused while another process holds the lock; a leftover lock file blocks nobody", async () => {
  const path = join(folder, "owner.json");
  await writeLease(path, { ...DEAD });
  const unlock = tryLockFile(`${path}.lock`);
  expect(await claimLease(path, ownLease("test"))).toBe(false);
  unlock?.();
  expect(await claimLease(path, ownLease("test"))).toBe(true);
});

test("when four processes claim 200 dead leases at once, each lease has one winner", async () => {
  const names = Array.from({ length: 200 }, (_, i) => `${String(i).padStart(3, "0")}.json`);
  for (const name of names) writeFileSync(join(folder, name), JSON.stringify(DEAD));
  const claimers = Array.from({ length: 4 }, () => {
    const child = spawn(process.execPath, ["--import", "tsx", CLAIMER, folder], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, line: async () => (await lines.next()).value as string };
  });
  const lines = () => Promise.all(claimers.map(({ line }) => line()));
  expect(await lines()).toEqual(["ready", "ready", "ready", "ready"]);
  for (const { child } of claimers) child.stdin.write("go\n");
  const won = (await lines()).flatMap((text) => JSON.parse(text) as string[]);
  const ended = claimers.map(({ child }) => once(child, "close"));
  for (const { child } of claimers) child.stdin.end();
  await Promise.all(ended);
  expect(won.length).toBe(new Set(won).size);
  expect(won.length).toBeGreaterThan(100); // who finds another at it gives up and leaves the lease for the next start
});
