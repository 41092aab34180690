// Run by a test in processes of its own: says "ready", claims every lease in a folder when told to, prints those it won,
// and stays until its input ends. What it holds is its own only while it lives: a slower rival would rightly take over
// from a process that has ended.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { claimLease, ownLease } from "../../../backend/sessions/process-lease.ts";

const [, , folder = ""] = process.argv;
const leases = readdirSync(folder)
  .filter((name) => /^\d+\.json$/.test(name))
  .sort();
process.stdout.write("ready\n");
for await (const _go of createInterface({ input: process.stdin })) {
  const won: string[] = [];
  for (const name of leases) if (await claimLease(join(folder, name), ownLease("race"))) won.push(name);
  process.stdout.write(`${JSON.stringify(won)}\n`);
}
