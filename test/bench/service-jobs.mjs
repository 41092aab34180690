// The jobs that go through the running service: start, import, export, answers under load, cancel.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, plotFiles } from "./native.mjs";
import { MemoryWatch, treeUsage, usageOf } from "./process.mjs";
import { CanceledError, withService } from "./service.mjs";

/** How long after the end of a run its memory is looked at. */
const SETTLE_MS = 1_000;
const HEALTH_EVERY_MS = 5;

const now = () => performance.now() / 1000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Seconds from the command to the READY line; `command` undefined = the built backend itself. */
export async function ready(command) {
  return withService(async ({ ready_s, pid }) => ({ wall_s: ready_s, ...treeUsage(pid) }), command);
}

/** Runs `body` and says what the service's process used meanwhile. */
async function used(service, body) {
  const before = usageOf(service.pid);
  const memory = new MemoryWatch(service.pid);
  const started = now();
  try {
    const extra = await body();
    const wall_s = now() - started;
    const after = usageOf(service.pid);
    return {
      wall_s,
      cpu_s: after.cpu_s - before.cpu_s,
      peak_rss_mib: after.peak_rss_mib,
      anon_growth_mib: memory.stop(),
      ...extra,
    };
  } finally {
    memory.stop();
  }
}

/** Collects how long each stage of a run was shown, in seconds. */
function stageClock() {
  const stages = {};
  let last;
  const close = () => {
    if (last) stages[last.message] = (stages[last.message] ?? 0) + now() - last.at;
  };
  return {
    onProgress: ({ message }) => {
      if (message === "" || message === last?.message) return;
      close();
      last = { message, at: now() };
    },
    stages: () => {
      close();
      last = undefined;
      return Object.fromEntries(Object.entries(stages).map(([name, s]) => [name, Number(s.toFixed(3))]));
    },
  };
}

/** `session/create` of a file with `count` points, end to end, in a fresh service with empty folders. */
export async function create(source_path, count) {
  return withService((service) =>
    used(service, async () => {
      const clock = stageClock();
      const tail = await service.client.createSession({ source_path }, clock);
      return { count: expectCount(tail.total_count, count), stages: clock.stages() };
    }),
  );
}

/** Export of the whole session to LAS. */
export async function exportLas(count, runs) {
  const { las } = await plotFiles(count);
  return withService(async (service) => {
    const { session_id } = await service.client.createSession({ source_path: las });
    const dest_path = join(dataFolder, `export-${service.pid}.las`);
    const samples = [];
    try {
      for (let i = 0; i < runs; i += 1) {
        const request = { source: { session_id }, format: "las", dest_path };
        samples.push(
          await used(service, async () => {
            const tail = await service.client.exportCloud(request);
            return { count: expectCount(tail.point_count, count) };
          }),
        );
      }
    } finally {
      rmSync(dest_path, { force: true });
    }
    return samples;
  });
}

function expectCount(found, wanted) {
  if (found !== wanted) throw new Error(`the service counts ${found} points, the input has ${wanted}`);
  return found;
}

/** Time to answer `/health` while the service imports the plot; `octree_*` while it builds the octree. */
export async function health(count) {
  const { las } = await plotFiles(count);
  return withService((service) =>
    used(service, async () => {
      let stage = "";
      let done = false;
      const clock = stageClock();
      const onProgress = (marker) => {
        stage = marker.message;
        clock.onProgress(marker);
      };
      const run = service.client.createSession({ source_path: las }, { onProgress }).finally(() => {
        done = true;
      });
      const samples = [];
      while (!done) {
        const asked = { stage, at: now() };
        await service.client.health();
        samples.push({ stage: asked.stage, ms: (now() - asked.at) * 1000 });
        await sleep(HEALTH_EVERY_MS);
      }
      await run;
      const building = samples.filter((sample) => sample.stage === "Building octree");
      if (building.length < 100)
        throw new Error(`only ${building.length} answers while the octree was built; take a larger plot`);
      return { count, stages: clock.stages(), ...percentiles("octree", building), ...percentiles("import", samples) };
    }),
  );
}

function percentiles(name, samples) {
  const sorted = [...samples].sort((a, b) => a.ms - b.ms);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const ms = (share) => Number(at(share).ms.toFixed(2));
  return {
    [`${name}_p50_ms`]: ms(0.5),
    [`${name}_p99_ms`]: ms(0.99),
    [`${name}_max_ms`]: ms(1),
    [`${name}_max_in`]: at(1).stage,
    [`${name}_answers`]: sorted.length,
  };
}

/** Where an import is canceled: the stage, and how far into it, as a fraction of the time it takes undisturbed. */
const CANCEL_AT = [
  ["Reading source file", 0],
  ["Reading source file", 0.5],
  ["Loading points into memory", 0.5],
  ["Computing bounds", 0.5],
  ["Hashing point data", 0],
  ["Building octree", 0.1],
  ["Building octree", 0.5],
  ["Building octree", 0.75],
];
const EXPORT_CANCEL_AT = ["Writing points", 0.3];
/** A run may be faster than the one that was timed and end first: then again, half as far into the stage. */
const CANCEL_ATTEMPTS = 5;

/** Cancels imports at several places and one export; the worst time to the end marker, and what memory did not come back. */
export async function cancel(count) {
  const { las } = await plotFiles(count);
  return withService(async (service) => {
    const dest_path = join(dataFolder, `canceled-${service.pid}.las`);
    let shift = 0;
    // Another shift is another cloud: its octree is not in the cache.
    const importing = (options = {}) => {
      shift += 1;
      return service.client.createSession({ source_path: las, world_shift: [shift, 0, 0] }, options);
    };
    try {
      const timed = stageClock();
      const { session_id } = await importing(timed);
      const exporting = (options = {}) =>
        service.client.exportCloud({ source: { session_id }, format: "las", dest_path }, options);
      const exportTimed = stageClock();
      await exporting(exportTimed);
      const places = [
        ...CANCEL_AT.map((place) => ({ place, start: importing, durations: timed.stages() })),
        { place: EXPORT_CANCEL_AT, start: exporting, durations: exportTimed.stages() },
      ];
      return await used(service, async () => cancelEverywhere(service, places, count));
    } finally {
      rmSync(dest_path, { force: true });
    }
  });
}

async function cancelEverywhere(service, places, count) {
  const latencies = {};
  let kept_mib = 0;
  for (const {
    place: [stage, fraction],
    start,
    durations,
  } of places) {
    const { ms, kept } = await cancelOnce(service, stage, fraction * (durations[stage] ?? 0) * 1000, start);
    latencies[`${stage} ${Math.round(fraction * 100)} %`] = Number(ms.toFixed(1));
    kept_mib = Math.max(kept_mib, kept);
  }
  return { count, worst_ms: Math.max(...Object.values(latencies)), kept_mib, latencies };
}

async function cancelOnce(service, stage, delayMs, start) {
  for (let attempt = 0; attempt < CANCEL_ATTEMPTS; attempt += 1) {
    const before = usageOf(service.pid).anon_mib;
    const canceled = await cancelIn(service, stage, delayMs / 2 ** attempt, start);
    if (canceled === undefined) continue;
    await sleep(SETTLE_MS);
    return { ms: canceled, kept: usageOf(service.pid).anon_mib - before };
  }
  throw new Error(`${CANCEL_ATTEMPTS} runs ended before they could be canceled in "${stage}"; take a larger plot`);
}

/** Milliseconds from the cancel request to the end of the run; undefined when the run was done first. */
async function cancelIn(service, stage, delayMs, start) {
  let canceledAt;
  let timer;
  const onProgress = ({ message, run_id }) => {
    if (message !== stage || timer) return;
    timer = setTimeout(() => {
      canceledAt = now();
      service.client.cancel(run_id).catch(() => undefined); // the end of the run tells
    }, delayMs);
  };
  try {
    const { session_id } = await start({ onProgress });
    if (session_id !== undefined) await service.client.closeSession(session_id);
    return undefined;
  } catch (error) {
    if (!(error instanceof CanceledError)) throw error;
    return (now() - canceledAt) * 1000;
  } finally {
    clearTimeout(timer);
  }
}
