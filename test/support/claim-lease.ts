// Run by a test in processes of its own: claims every lease in a folder at a given moment and prints those it won.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { claimLease, ownLease } from "../../backend/sessions/process-lease.ts";

const [, , folder = "", start = "0"] = process.argv;
const leases = readdirSync(folder)
  .filter((name) => /^\d+\.json$/.test(name))
  .sort();
await new Promise((resolve) => setTimeout(resolve, Math.max(0, Number(start) - Date.now())));
const won: string[] = [];
for (const name of leases) if (await claimLease(join(folder, name), ownLease("race"))) won.push(name);
process.stdout.write(JSON.stringify(won));
// What it holds is its own only while it lives: a slower rival would rightly take over from a process that has ended.
await new Promise((resolve) => setTimeout(resolve, Math.max(0, Number(start) + 2_500 - Date.now())));
