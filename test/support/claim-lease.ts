// Run by a test in processes of its own: says that it is ready, and at a line on stdin claims every lease in a folder and
// prints those it won. It lives until stdin ends: what it holds is its own only while it lives, and a slower rival would
// rightly take over from a process that has ended.
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { claimLease, ownLease } from "../../backend/sessions/process-lease.ts";

const [, , folder = ""] = process.argv;
const leases = readdirSync(folder)
  .filter((name) => /^\d+\.json$/.test(name))
  .sort();
process.stdout.write("ready\n");
await once(process.stdin, "data");
const won: string[] = [];
for (const name of leases) if (await claimLease(join(folder, name), ownLease("race"))) won.push(name);
process.stdout.write(`${JSON.stringify(won)}\n`);
await once(process.stdin.resume(), "end");
