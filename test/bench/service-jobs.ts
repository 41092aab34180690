// The jobs that go through the running service: start, import, export, answers under load.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { RunProgress } from "../../shared/client/index.ts";
import { dataFolder } from "./folders.ts";
import { plotFiles } from "./inputs.ts";
import type { ProcessFigures } from "./native.ts";
import { MemoryWatch, treeUsage, usageOf } from "./process.ts";
import { type Service, withService } from "./service.ts";
import { now, type Stages, sleep, stageClock } from "./stage-clock.ts";

const HEALTH_EVERY_MS = 5;

/** Seconds from the command to the READY line; `command` undefined = the built backend itself. */
export async function ready(command?: readonly string[]): Promise<ProcessFigures> {
  return withService(async ({ ready_s, pid }) => ({ wall_s: ready_s, ...treeUsage(pid) }), command);
}

interface ServiceFigures extends ProcessFigures {
  readonly anon_growth_mib: number;
}

/** Runs `body` and says what the service's process used meanwhile. */
export async function used<T extends object>(service: Service, body: () => Promise<T>): Promise<ServiceFigures & T> {
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

/** `session/create` of a file with `count` points, end to end, in a fresh service with empty folders. */
export async function create(
  source_path: string,
  count: number,
): Promise<ServiceFigures & { count: number; stages: Stages }> {
  return withService((service) =>
    used(service, async () => {
      const clock = stageClock();
      const tail = await service.client.createSession({ source_path }, clock);
      return { count: expectCount(tail.total_count, count), stages: clock.stages() };
    }),
  );
}

/** Export of the whole session to LAS. */
export async function exportLas(count: number, runs: number): Promise<(ServiceFigures & { count: number })[]> {
  const { las } = await plotFiles(count);
  return withService(async (service) => {
    const { session_id } = await service.client.createSession({ source_path: las });
    const dest_path = join(dataFolder, `export-${service.pid}.las`);
    const samples: (ServiceFigures & { count: number })[] = [];
    try {
      for (let i = 0; i < runs; i += 1) {
        const exported = async () => {
          const tail = await service.client.exportCloud({ source: { session_id }, format: "las", dest_path });
          return { count: expectCount(tail.point_count, count) };
        };
        samples.push(await used(service, exported));
      }
    } finally {
      rmSync(dest_path, { force: true });
    }
    return samples;
  });
}

function expectCount(found: number, wanted: number): number {
  if (found !== wanted) throw new Error(`the service counts ${found} points, the input has ${wanted}`);
  return found;
}

interface Answer {
  /** Of the import when it was asked. */
  readonly stage: string;
  readonly ms: number;
}

/** Time to answer `/health` while the service imports the plot; `octree_*` while it builds the octree. */
export async function health(count: number) {
  const { las } = await plotFiles(count);
  return withService((service) =>
    used(service, async () => {
      let stage = "";
      let done = false;
      const clock = stageClock();
      const onProgress = (marker: RunProgress) => {
        stage = marker.message;
        clock.onProgress(marker);
      };
      const run = service.client.createSession({ source_path: las }, { onProgress }).finally(() => {
        done = true;
      });
      const answers: Answer[] = [];
      while (!done) {
        const asked = { stage, at: now() };
        await service.client.health();
        answers.push({ stage: asked.stage, ms: (now() - asked.at) * 1000 });
        await sleep(HEALTH_EVERY_MS);
      }
      await run;
      const building = answers.filter((answer) => answer.stage === "Building octree");
      if (building.length < 100)
        throw new Error(`only ${building.length} answers while the octree was built; take a larger plot`);
      return { count, stages: clock.stages(), ...percentiles("octree", building), ...percentiles("import", answers) };
    }),
  );
}

type Percentiles<Name extends string> = {
  readonly [name in `${Name}_${"p50_ms" | "p99_ms" | "max_ms" | "answers"}`]: number;
} & { readonly [name in `${Name}_max_in`]: string };

function percentiles<Name extends string>(name: Name, answers: readonly Answer[]): Percentiles<Name> {
  const sorted = [...answers].sort((a, b) => a.ms - b.ms);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const ms = (share: number) => Number(at(share)?.ms.toFixed(2));
  return {
    [`${name}_p50_ms`]: ms(0.5),
    [`${name}_p99_ms`]: ms(0.99),
    [`${name}_max_ms`]: ms(1),
    [`${name}_max_in`]: at(1)?.stage ?? "",
    [`${name}_answers`]: sorted.length,
  } as Percentiles<Name>;
}
