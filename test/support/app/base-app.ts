import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { BASE_ROUTES, buildApp } from "../../../backend/app.ts";
import { type Config, parseConfig } from "../../../backend/config.ts";
import type { App, BaseDeps, RouteFile } from "../../../backend/http/types.ts";
import { Admission } from "../../../backend/jobs/admission.ts";
import { JobRegistry, type RunRecord } from "../../../backend/jobs/registry.ts";
import { DeviceInfo } from "../../../shared/contract/device-info.ts";
import { GIB } from "../../../shared/limits.ts";

export const TEST_VERSION = "9.8.7";

export interface MadeApp {
  readonly app: App;
  readonly deps: BaseDeps;
  readonly jobs: JobRegistry;
  readonly runs: RunRecord[];
  /** Folder that stands in for the octree cache: <root>/<cache_id>/. */
  readonly octrees: string;
}

/** The service without native code: base routes plus `routes`, every dependency replaceable. */
export async function makeBaseApp(
  options: { env?: NodeJS.ProcessEnv; deps?: Partial<BaseDeps>; routes?: RouteFile[]; config?: Partial<Config> } = {},
): Promise<MadeApp> {
  const octrees = mkdtempSync(join(tmpdir(), "octrees-"));
  const runs: RunRecord[] = [];
  const jobs = new JobRegistry((record) => runs.push(record));
  const deps: BaseDeps = {
    config: { ...parseConfig(options.env ?? {}), ...options.config },
    jobs,
    admission: new Admission(() => GIB),
    octreeCache: { path: (id) => join(octrees, id) },
    deviceInfo: async () => DeviceInfo.parse({ reason: "no compatible GPU, CPU used" }),
    version: TEST_VERSION,
    logger: pino({ level: "silent" }),
    ...options.deps,
  };
  return { app: await buildApp(deps, [...BASE_ROUTES, ...(options.routes ?? [])]), deps, jobs, runs, octrees };
}
