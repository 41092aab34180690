// Cancels runs of the service at several places: how soon they end, and which memory does not come back.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { CanceledError, type RunOptions, type RunProgress } from "../../shared/client/index.ts";
import { dataFolder } from "./folders.ts";
import { plotFiles } from "./inputs.ts";
import { usageOf } from "./process.ts";
import { type Service, withService } from "./service.ts";
import { used } from "./service-jobs.ts";
import { now, type Stages, sleep, stageClock } from "./stage-clock.ts";

/** How long after the end of a run its memory is looked at. */
const SETTLE_MS = 1_000;

/** Where a run is canceled: the stage, and how far into it, as a fraction of the time it takes undisturbed. */
interface Place {
  readonly stage: string;
  readonly fraction: number;
}
const CANCEL_AT: readonly Place[] = [
  { stage: "Reading source file", fraction: 0 },
  { stage: "Reading source file", fraction: 0.5 },
  { stage: "Loading points into memory", fraction: 0.5 },
  { stage: "Computing bounds", fraction: 0.5 },
  { stage: "Hashing point data", fraction: 0 },
  { stage: "Building octree", fraction: 0.1 },
  { stage: "Building octree", fraction: 0.5 },
  { stage: "Building octree", fraction: 0.75 },
];
const EXPORT_CANCEL_AT: Place = { stage: "Writing points", fraction: 0.3 };
/** A run may be faster than the one that was timed and end first: then again, half as far into the stage. */
const CANCEL_ATTEMPTS = 5;

/** A run that can be canceled; tells the id of the session it made, if it makes one. */
type Start = (options: RunOptions) => Promise<string | undefined>;
interface Case extends Place {
  readonly start: Start;
  readonly durations: Stages;
}

/** Cancels imports at several places and one export; the worst time to the end marker, and what memory did not come back. */
export async function cancel(count: number) {
  const { las } = await plotFiles(count);
  return withService(async (service) => {
    const dest_path = join(dataFolder, `canceled-${service.pid}.las`);
    let shift = 0;
    // Another shift is another cloud: its octree is not in the cache.
    const importing = async (options: RunOptions) => {
      shift += 1;
      const request = { source_path: las, world_shift: [shift, 0, 0] as [number, number, number] };
      return (await service.client.createSession(request, options)).session_id;
    };
    try {
      const timed = stageClock();
      const session_id = await importing(timed);
      const exporting = async (options: RunOptions) => {
        await service.client.exportCloud({ source: { session_id }, format: "las", dest_path }, options);
        return undefined;
      };
      const exportTimed = stageClock();
      await exporting(exportTimed);
      const imported = timed.stages();
      const cases: Case[] = [
        ...CANCEL_AT.map((place) => ({ ...place, start: importing, durations: imported })),
        { ...EXPORT_CANCEL_AT, start: exporting, durations: exportTimed.stages() },
      ];
      return await used(service, () => cancelEverywhere(service, cases, count));
    } finally {
      rmSync(dest_path, { force: true });
    }
  });
}

async function cancelEverywhere(service: Service, cases: readonly Case[], count: number) {
  const latencies: Record<string, number> = {};
  let kept_mib = 0;
  for (const { stage, fraction, start, durations } of cases) {
    const { ms, kept } = await cancelOnce(service, stage, fraction * (durations[stage] ?? 0) * 1000, start);
    latencies[`${stage} ${Math.round(fraction * 100)} %`] = Number(ms.toFixed(1));
    kept_mib = Math.max(kept_mib, kept);
  }
  return { count, worst_ms: Math.max(...Object.values(latencies)), kept_mib, latencies };
}

async function cancelOnce(service: Service, stage: string, delayMs: number, start: Start) {
  for (let attempt = 0; attempt < CANCEL_ATTEMPTS; attempt += 1) {
    const before = usageOf(service.pid).anon_mib;
    const ms = await cancelIn(service, stage, delayMs / 2 ** attempt, start);
    if (ms === undefined) continue;
    await sleep(SETTLE_MS);
    return { ms, kept: usageOf(service.pid).anon_mib - before };
  }
  throw new Error(`${CANCEL_ATTEMPTS} runs ended before they could be canceled in "${stage}"; take a larger plot`);
}

/** Milliseconds from the cancel request to the end of the run; undefined when the run was done first. */
async function cancelIn(service: Service, stage: string, delayMs: number, start: Start): Promise<number | undefined> {
  let canceledAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const onProgress = ({ message, run_id }: RunProgress) => {
    if (message !== stage || timer || run_id === undefined) return;
    timer = setTimeout(() => {
      canceledAt = now();
      service.client.cancel(run_id).catch(() => undefined); // the end of the run tells
    }, delayMs);
  };
  try {
    const session_id = await start({ onProgress });
    if (session_id !== undefined) await service.client.closeSession(session_id);
    return undefined;
  } catch (error) {
    if (!(error instanceof CanceledError)) throw error;
    return (now() - canceledAt) * 1000;
  } finally {
    clearTimeout(timer);
  }
}
