// The command line of `npm run soak`: users of one service work side by side, every answer is checked, and at the end the
// service must hold no more than at the beginning. docs/bench.md describes it.
import { fork, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../bench/folders.ts";
import { Service } from "../bench/service.ts";
import { median, ProcessWatch, percentile, type Sample, slope } from "./process-watch.ts";
import { type Found, soak } from "./run.ts";
import { STALL_MS } from "./user.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    users: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
    pause: { type: "string", default: "1" },
  },
});
const [minutes, users, seed] = [Number(values.minutes), Number(values.users), Number(values.seed)];
const pause_ms = 1000 * Number(values.pause);
/**
 * Octrees are evicted and idle clouds spilled all the time. Runs that the users could not all do at once within half the
 * longest time of a step are refused: their cost warning is an answer.
 */
const SETTINGS = {
  APP_OCTREE_CACHE_MAX_BYTES: String(2 ** 30),
  APP_SESSION_IDLE_TTL_SECONDS: "20",
  APP_COST_WARNING_SECONDS: String(Math.max(1, Math.floor(STALL_MS / 2000 / users))),
};
const SETTLED_MS = 5000;

/** A process of its own, so that the answers do not wait for the users. */
function prober(url: string) {
  const child = fork(join(root, "test", "soak", "prober.ts"), [url], { execArgv: ["--import", "tsx"], cwd: root });
  const perMinute: number[][] = [];
  child.on("message", (waits) => perMinute.push(waits as number[]));
  const stopped = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    child.send("stop");
    await stopped;
    return perMinute;
  };
  return { stop };
}

/** Medians of the four quarters of the time. */
function quarters(samples: readonly Sample[], what: Exclude<keyof Sample, "minute">): string {
  const of = (which: number) =>
    samples.slice(Math.floor((which * samples.length) / 4), Math.ceil(((which + 1) * samples.length) / 4));
  return [0, 1, 2, 3].map((which) => median(of(which).map((one) => one[what])).toFixed(0)).join(", ");
}

function tell(found: Found, perMinute: readonly (readonly number[])[], watch: ProcessWatch): void {
  const { steps, canceled, swept, done, refused, wrong } = found;
  const waits = perMinute.flat();
  const late = perMinute.map((minute) => percentile(minute, 0.99));
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  console.log(
    `${minutes} min, ${users} users, seed ${seed}: ${steps} steps, ${canceled} interrupted, ${swept} clouds whose answer was lost`,
  );
  console.log(
    `/health, ${waits.length} answers: p50 ${ms(percentile(waits, 0.5))}, p99 ${ms(percentile(waits, 0.99))}, longest ${ms(percentile(waits, 1))}; p99 of the worst minute ${ms(Math.max(...late))}`,
  );
  const [before, after] = [watch.samples[0], watch.samples.at(-1)];
  for (const what of ["rss_mib", "anon_mib", "handles", "threads"] as const) {
    const most = watch.samples.reduce((most, one) => Math.max(most, one[what]), 0);
    console.log(
      `${what}: before ${before?.[what].toFixed(0)}, quarters ${quarters(watch.samples, what)}, most ${most.toFixed(0)}, after ${after?.[what].toFixed(0)}, slope of the second half ${slope(watch.samples, what).toFixed(0)} per hour`,
    );
  }
  console.log(`steps that ended well: ${[...done].map(([name, count]) => `${name} ${count}`).join(", ")}`);
  for (const [reason, count] of [...refused].sort((a, b) => b[1] - a[1])) console.log(`  ${count} x ${reason}`);
  for (const text of wrong) console.log(`WRONG ${text}`);
}

/** Lines of the log that report an error. */
const errorsIn = (log: string) => log.split("\n").filter((line) => /"level":(50|60)/.test(line));

async function main(): Promise<number> {
  const service = await Service.start(undefined, SETTINGS);
  const folder = join(service.folder, "users");
  mkdirSync(folder);
  const watch = new ProcessWatch(service.pid);
  watch.look();
  const probe = prober(service.url);
  const found = await soak({ url: service.url, folder, users, seed, pause_ms, for_ms: minutes * 60_000 });
  const perMinute = await probe.stop();
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  watch.look();
  watch.stop();
  const left = readdirSync(join(service.folder, "data", "sessions")).filter((name) => !name.startsWith("."));
  tell(found, perMinute, watch);
  if (left.length > 0) console.log(`WRONG folders of closed sessions: ${left.join(", ")}`);
  const errors = errorsIn(service.log());
  for (const line of errors.slice(0, 20)) console.log(line);
  await service.stop();
  return found.wrong.length + left.length === 0 ? 0 : 1;
}

const built = spawnSync(process.execPath, ["scripts/build-ts.mjs"], { cwd: root, stdio: "inherit" });
process.exit(built.status === 0 ? await main() : 1);
