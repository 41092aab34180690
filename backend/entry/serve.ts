import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { GIB, MAX_CLOUD_SESSIONS, MIN_CLOUD_SESSIONS, SCENE_TTL_S, UPLOAD_TTL_S } from "../../shared/limits.ts";
import { buildApp } from "../app.ts";
import { type Config, parseConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { Admission, memoryBudget } from "../jobs/admission.ts";
import { JobRegistry } from "../jobs/registry.ts";
import { createLogger } from "../logger.ts";
import { probeDevice } from "../native/core/device.ts";
import { memoryStatus } from "../native/core/platform.ts";
import { type ThreadShortage, takeThreadShortage } from "../native/core/threads.ts";
import { ROUTES } from "../routes/index.ts";
import { sweepModels } from "../services/ml/install.ts";
import { describeDevice, deviceInfo } from "../services/run/device.ts";
import { OctreeCache } from "../sessions/octree-cache.ts";
import { PendingFiles } from "../sessions/pending-files.ts";
import { PlantSessions } from "../sessions/plant-sessions.ts";
import { SceneStore } from "../sessions/scene-store.ts";
import { SessionStore } from "../sessions/session-store.ts";
import { SpeciesLibrary } from "../sessions/species-library.ts";
import { sweepTemporaryFolders } from "../sessions/temporary-folder.ts";
import { UploadStore } from "../sessions/upload-store.ts";
import { version } from "../version.ts";
import { checkOwnFolders } from "./own-folders.ts";

/** A listening backend. */
export interface RunningBackend {
  readonly url: string;
  readonly port: number;
  readonly token: string | null;
  readonly deps: Deps;
  /**
   * Cancels every run and closes within the grace time. `removeSessions`, for a closed window, also removes the
   * sessions and their files; otherwise a restart finds them under their ids.
   */
  stop(options?: { removeSessions?: boolean }): Promise<void>;
}

/** What is left is renamed already, and the next start removes it. */
const LATE_REMOVAL = "files of sessions still being removed; the next start removes the rest";

/** Builds the service from environment and overrides, recovers sessions after a crash and listens on 127.0.0.1. */
export async function startBackend(overrides: Partial<Config> = {}): Promise<RunningBackend> {
  const config = { ...parseConfig(process.env), ...overrides };
  const logger = createLogger(config);
  for (const warning of config.warnings) logger.warn(warning);
  await checkOwnFolders(config);
  const deps = await buildDeps(config, logger);
  const app = await buildApp(deps, ROUTES);
  await app.listen({ host: "127.0.0.1", port: config.port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE" && error.code !== "EACCES") throw error;
    const why = error.code === "EACCES" ? "may not be used by this user" : "is in use by another program";
    throw new AppError("invalid_argument", `port ${config.port} ${why}; choose another port, or 0 for any free port`);
  });
  const { port } = app.server.address() as AddressInfo;
  logger.info({ port, version }, "listening");

  let stopping: Promise<void> | undefined;
  const stop = async (removeSessions: boolean) => {
    deps.jobs.shutdown();
    const grace = config.shutdownGraceMs;
    await within(grace * 0.6, Promise.all([app.close(), deps.jobs.idle()]), logger, "runs have not ended yet");
    if (removeSessions) await within(grace * 0.3, deps.sessions.deleteAll(), logger, LATE_REMOVAL);
    else await within(grace * 0.3, deps.sessions.close(), logger, "sessions still being written"); // journals contain every answered edit
    deps.plants.close();
    await deps.scenes.close();
    await deps.uploads.close();
    await deps.octreeCache.close();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    token: config.authToken ?? null,
    deps,
    stop: (options = {}) => {
      stopping ??= stop(options.removeSessions ?? false);
      return stopping;
    },
  };
}

/** Builds the dependencies of the routes and begins the recovery of sessions. */
export async function buildDeps(config: Config, logger: Logger): Promise<Deps> {
  const budget = () =>
    memoryBudget({ pinned_bytes: config.memoryBudgetBytes, fraction: config.memoryBudgetFraction }, memoryStatus())
      .admission_budget_bytes;
  const sessionRoot = config.sessionJournal ? join(config.dataDir, "sessions") : null;
  const sessions = new SessionStore(sessionRoot, config.instanceId, logger, {
    idle_ms: config.sessionIdleTtlS * 1000,
    max_sessions: config.maxCloudSessions ?? clamp(Math.floor(budget() / GIB), MIN_CLOUD_SESSIONS, MAX_CLOUD_SESSIONS),
  });
  const octreeCache = new OctreeCache(config.octreeCacheRoot, config.octreeCacheMaxBytes, config.instanceId, logger);
  const pendingFiles = new PendingFiles(join(config.dataDir, "pending"), config.instanceId, logger);
  const scenes = new SceneStore(join(config.dataDir, "scenes"), 1000 * SCENE_TTL_S, logger);
  const uploads = new UploadStore(join(config.dataDir, "uploads"), 1000 * UPLOAD_TTL_S, logger);
  await sessions.recover();
  void pendingFiles.sweep();
  void scenes.sweep();
  void uploads.sweep();
  void sweepTemporaryFolders(logger);
  void sweepModels({ config, logger });
  octreeCache.pinnedBy(() => sessions.octreeIds(), sessions.recovered());
  sessions.makeRoomBy(async (work) =>
    sessionRoot !== null && (await octreeCache.sharesDisk(sessionRoot)) ? octreeCache.withRoom(work) : work(),
  );
  void sessions.recovered().then(async () => {
    await octreeCache.writePins();
    await octreeCache.evict();
    await sessions.openReadOnly(); // from here on, octrees that no session shows can make room
  });
  const device = async () => describeDevice(await probeDevice(), config.device);
  const logShortage = threadShortageLog(logger, takeThreadShortage);
  let described: ReturnType<typeof deviceInfo> | undefined;
  return {
    config,
    logger,
    version,
    sessions,
    octreeCache,
    pendingFiles,
    scenes,
    uploads,
    species: new SpeciesLibrary(config.speciesDir),
    plants: new PlantSessions({ max_sessions: config.maxPlantSessions, idle_ms: config.plantSessionIdleS * 1000 }),
    jobs: new JobRegistry((record) => {
      logger.info(record, "run ended");
      logShortage();
    }),
    admission: new Admission(budget, logger, () => void sessions.spillIdle(0)),
    deviceInfo: () => {
      described ??= deviceInfo(device);
      return described;
    },
  };
}

/** Logs once if the system refused compute threads. */
export function threadShortageLog(logger: Pick<Logger, "warn">, take: () => ThreadShortage | null): () => void {
  let logged = false;
  return () => {
    const shortage = logged ? null : take();
    if (!shortage) return;
    logged = true;
    logger.warn(
      shortage,
      "the system refuses compute threads, so operations run with fewer; raise the limit of processes",
    );
  };
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

async function within(ms: number, work: Promise<unknown>, logger: Logger, late: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), ms);
  });
  if ((await Promise.race([work, timeout])) === "late") logger.warn(late);
  clearTimeout(timer);
}

/** Stops the backend and ends the process on SIGTERM and SIGINT. */
export function exitOnSignals(backend: RunningBackend): void {
  const exit = () => {
    void backend.stop().then(
      () => process.exit(0),
      (error: unknown) => fatal(error),
    );
  };
  process.once("SIGTERM", exit);
  process.once("SIGINT", exit);
}

/** Treats an unhandled rejection or exception as a bug: logs it and exits with 1 at once; the supervisor restarts. */
export function exitOnBugs(): void {
  process.on("unhandledRejection", fatal);
  process.on("uncaughtException", fatal);
}

function fatal(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `${JSON.stringify({ level: 60, time: Date.now(), pid: process.pid, msg: "unhandled failure", err: text })}\n`,
  );
  process.exit(1);
}
