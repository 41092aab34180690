import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { onTestFinished } from "vitest";
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
  close(): Promise<void>;
}

export interface BaseAppOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly deps?: Partial<BaseDeps>;
  readonly routes?: RouteFile[];
  readonly config?: Partial<Config>;
}

/** The service without native code: base routes plus `routes`, every dependency replaceable. */
export async function makeBaseApp(options: BaseAppOptions = {}): Promise<MadeApp> {
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
  const app = await buildApp(deps, [...BASE_ROUTES, ...(options.routes ?? [])]);
  const close = async () => {
    await app.close();
    rmSync(octrees, { recursive: true, force: true });
  };
  return { app, deps, jobs, runs, octrees, close };
}

/** The same for one test; closed and removed after it, also when it fails. Called in the test or its beforeEach. */
export async function baseAppOfTest(options: BaseAppOptions = {}): Promise<MadeApp> {
  const made = await makeBaseApp(options);
  onTestFinished(made.close);
  return made;
}
