import { isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { AppError } from "../shared/errors.ts";
import {
  DEFAULT_BODY_STALL_S,
  DEFAULT_COST_WARNING_S,
  DEFAULT_DENOISE_TILE_MIN_POINTS,
  DEFAULT_DENOISE_TILE_TARGET_POINTS,
  DEFAULT_GROUND_TILE_MIN_POINTS,
  DEFAULT_GROUND_TILE_TARGET_POINTS,
  DEFAULT_MAX_DELETED_HISTORY,
  DEFAULT_MAX_PLANT_SESSIONS,
  DEFAULT_MEMORY_BUDGET_FRACTION,
  DEFAULT_OCTREE_CACHE_MAX_BYTES,
  DEFAULT_PLANT_SESSION_IDLE_S,
  DEFAULT_SESSION_IDLE_TTL_S,
  DEFAULT_TREE_MAX_NODES,
  DEFAULT_TREE_MAX_POINTS,
  DEFAULT_TREE_MAX_POINTS_TILED,
  DEFAULT_TREE_TILE_NODES,
  DEFAULT_WOOD_MAX_POINTS,
  SHUTDOWN_GRACE_MS,
} from "../shared/limits.ts";
import { appFolders } from "./native/core/platform.ts";

/** Folder name of this application in the system's data and cache folders. */
export const APP_FOLDER = "point-cloud-backend";

/** The same for every start, so that a restart finds the previous sessions. */
export const DEFAULT_INSTANCE_ID = "default";

const wholeNumber = (min: number, max: number, rule: string) =>
  z
    .string()
    .regex(/^\d+$/, rule)
    .transform(Number)
    .refine((n) => n >= min && n <= max, rule);

const folder = z.string().refine((path) => isAbsolute(path), "must be an absolute path");

const switchValue = z
  .enum(["on", "off", "1", "0", "true", "false"], "must be on or off")
  .transform((text) => text === "on" || text === "1" || text === "true");

/** An origin is scheme://host[:port] and nothing else. "null" and "*" are refused: they would allow every page. */
const origins = z
  .string()
  .transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  )
  .refine(
    (list) => list.every((origin) => /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s*]*$/i.test(origin)),
    "must be origins like https://example.org, separated by commas",
  );

const tileMinPoints = wholeNumber(1, 1e12, "must be a number of points from 1");
const tileTargetPoints = wholeNumber(1000, 4_000_000_000, "must be a number of points from 1000 to 4000000000");
const treeMaxPoints = wholeNumber(10, 4_000_000_000, "must be a number of points from 10 to 4000000000");

const fractionRule = "must be a number from 0.05 to 1";
const Environment = z.object({
  APP_BACKEND_PORT: wholeNumber(0, 65535, "must be a port number from 0 to 65535, 0 = any free port").optional(),
  APP_AUTH_TOKEN: z
    .string()
    .min(16, "must have at least 16 characters")
    .regex(/^[\x21-\x7e]+$/, "must be visible ASCII")
    .optional(),
  APP_DATA_DIR: folder.optional(),
  APP_OCTREE_CACHE_ROOT: folder.optional(),
  APP_OCTREE_CACHE_MAX_BYTES: wholeNumber(0, Number.MAX_SAFE_INTEGER, "must be a number of bytes").optional(),
  APP_MEMORY_BUDGET_BYTES: wholeNumber(1, Number.MAX_SAFE_INTEGER, "must be a number of bytes above 0").optional(),
  APP_MEMORY_BUDGET_FRACTION: z
    .string()
    .regex(/^\d*\.?\d+$/, fractionRule)
    .transform(Number)
    .refine((n) => n >= 0.05 && n <= 1, fractionRule)
    .optional(),
  APP_SESSION_JOURNAL: switchValue.optional(),
  APP_SESSION_IDLE_TTL_SECONDS: wholeNumber(0, 31_536_000, "must be seconds from 0 (never) to 31536000").optional(),
  APP_MAX_CLOUD_SESSIONS: wholeNumber(1, 100_000, "must be a number of sessions from 1 to 100000").optional(),
  APP_SPECIES_DIR: folder.optional(),
  APP_ML_MODELS_DIR: folder.optional(),
  APP_ML_DEVICE: z.enum(["cpu", "auto"], "must be cpu or auto").optional(),
  APP_MAX_PLANT_SESSIONS: wholeNumber(1, 10_000, "must be a number of sessions from 1 to 10000").optional(),
  APP_PLANT_SESSION_IDLE_SECONDS: wholeNumber(0, 31_536_000, "must be seconds from 0 (never) to 31536000").optional(),
  APP_MAX_DELETED_HISTORY: wholeNumber(1, 10_000, "must be a number of steps from 1 to 10000").optional(),
  APP_DENOISE_TILE_MIN_POINTS: tileMinPoints.optional(),
  APP_DENOISE_TILE_TARGET_POINTS: tileTargetPoints.optional(),
  APP_GROUND_TILE_MIN_POINTS: tileMinPoints.optional(),
  APP_GROUND_TILE_TARGET_POINTS: tileTargetPoints.optional(),
  APP_TREE_MAX_NODES: wholeNumber(1, 1e12, "must be a number of nodes from 1").optional(),
  APP_TREE_TILE_NODES: wholeNumber(1000, 1e12, "must be a number of nodes from 1000").optional(),
  APP_TREE_MAX_POINTS: treeMaxPoints.optional(),
  APP_TREE_MAX_POINTS_TILED: treeMaxPoints.optional(),
  APP_WOOD_MAX_POINTS: wholeNumber(1000, 100_000_000, "must be a number of points from 1000 to 100000000").optional(),
  APP_COST_WARNING_SECONDS: wholeNumber(1, 31_536_000, "must be seconds from 1 to 31536000").optional(),
  APP_BODY_STALL_SECONDS: wholeNumber(1, 3600, "must be seconds from 1 to 3600").optional(),
  APP_DEVICE: z.enum(["cpu", "auto"], "must be cpu or auto").optional(),
  APP_ALLOWED_ORIGINS: origins.optional(),
  APP_LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], "must be a pino level or silent")
    .optional(),
  APP_INSTANCE_ID: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 _ -")
    .optional(),
  APP_ADDON_PATH: folder.optional(), // read by backend/native/core/load.ts, before everything else
  APP_SHUTDOWN_GRACE_MS: wholeNumber(0, 60_000, "must be milliseconds from 0 to 60000").optional(),
});

export interface Config {
  /** 0 = any free port. */
  readonly port: number;
  /** Bearer token required by every request except /health and /version; undefined = none. */
  readonly authToken: string | undefined;
  /** Sessions, journals, models. */
  readonly dataDir: string;
  readonly octreeCacheRoot: string;
  readonly octreeCacheMaxBytes: number;
  readonly memoryBudgetBytes: number | undefined;
  readonly memoryBudgetFraction: number;
  readonly sessionJournal: boolean;
  /** Sessions unused for this long are spilled: their columns become mapped files; 0 = never. */
  readonly sessionIdleTtlS: number;
  /** Also spilled: the least recently used sessions beyond this count; undefined = from the memory budget. */
  readonly maxCloudSessions: number | undefined;
  /** Species files of the user; undefined = none. */
  readonly speciesDir: string | undefined;
  /** Folder of the user's models of networks; undefined = ml_models in dataDir. */
  readonly mlModelsDir: string | undefined;
  /** Folder of the product's models; undefined = resources/ml_models. */
  readonly bundledModelsDir?: string;
  /** Where networks run: auto = on a GPU if the runtime can use one. */
  readonly mlDevice: "cpu" | "auto";
  /** The least recently used plant sessions beyond this count are closed. */
  readonly maxPlantSessions: number;
  /** Plant sessions unused for this long are closed; 0 = never. */
  readonly plantSessionIdleS: number;
  /** Number of delete steps that can be undone; older ones become permanent. */
  readonly maxDeletedHistory: number;
  /** From the first number of points on, ror and voxel_count run in tiles of about the second number. */
  readonly denoiseTileMinPoints: number;
  readonly denoiseTileTargetPoints: number;
  /** From the first number of points on, cloth simulation runs in tiles of about the second number. */
  readonly groundTileMinPoints: number;
  readonly groundTileTargetPoints: number;
  /** Points above which wood is told from leaves by voxels. */
  readonly woodMaxPoints: number;
  /** Most points that trees are looked for in at once. */
  readonly treeMaxPoints: number;
  /** The same tile by tile. */
  readonly treeMaxPointsTiled: number;
  /** Graph nodes above which trees are looked for tile by tile, after asking. */
  readonly treeMaxNodes: number;
  /** Graph nodes of a tile with its buffer, about. */
  readonly treeTileNodes: number;
  /** A run expected to take this long is refused with 409 until its cost is acknowledged. */
  readonly costWarningS: number;
  /** A request whose body makes no progress for this long is answered 408. */
  readonly bodyStallS: number;
  readonly device: "cpu" | "auto";
  /** In addition to loopback and app origins, which are always allowed. */
  readonly allowedOrigins: readonly string[];
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Owner of the sessions to recover at the start; the same for every start of a window. */
  readonly instanceId: string;
  readonly shutdownGraceMs: number;
  /** Log messages about APP_* variables that are not settings of this service, such as misspelt ones. */
  readonly warnings: readonly string[];
}

/**
 * Reads all APP_* variables. An empty variable counts as unset. Unknown APP_* names may belong to other programs and
 * are reported in `warnings`.
 * Errors: invalid_argument, listing every invalid variable with its value (not for a token) and its rule.
 */
export function parseConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name.startsWith("APP_") && value !== ""),
  );
  const parsed = Environment.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => {
      const name = String(path[0]);
      return name === "APP_AUTH_TOKEN" ? `${name} ${message}` : `${name} "${given[name]}" ${message}`;
    });
    throw new AppError("invalid_argument", problems.join("; "));
  }
  const values = parsed.data;
  const folders = appFolders(APP_FOLDER, env);
  return {
    port: values.APP_BACKEND_PORT ?? 0,
    authToken: values.APP_AUTH_TOKEN,
    dataDir: resolve(values.APP_DATA_DIR ?? folders.data),
    octreeCacheRoot: resolve(values.APP_OCTREE_CACHE_ROOT ?? join(folders.cache, "octrees")),
    octreeCacheMaxBytes: values.APP_OCTREE_CACHE_MAX_BYTES ?? DEFAULT_OCTREE_CACHE_MAX_BYTES,
    memoryBudgetBytes: values.APP_MEMORY_BUDGET_BYTES,
    memoryBudgetFraction: values.APP_MEMORY_BUDGET_FRACTION ?? DEFAULT_MEMORY_BUDGET_FRACTION,
    sessionJournal: values.APP_SESSION_JOURNAL ?? true,
    sessionIdleTtlS: values.APP_SESSION_IDLE_TTL_SECONDS ?? DEFAULT_SESSION_IDLE_TTL_S,
    maxCloudSessions: values.APP_MAX_CLOUD_SESSIONS,
    speciesDir: values.APP_SPECIES_DIR && resolve(values.APP_SPECIES_DIR),
    mlModelsDir: values.APP_ML_MODELS_DIR && resolve(values.APP_ML_MODELS_DIR),
    mlDevice: values.APP_ML_DEVICE ?? "auto",
    maxPlantSessions: values.APP_MAX_PLANT_SESSIONS ?? DEFAULT_MAX_PLANT_SESSIONS,
    plantSessionIdleS: values.APP_PLANT_SESSION_IDLE_SECONDS ?? DEFAULT_PLANT_SESSION_IDLE_S,
    maxDeletedHistory: values.APP_MAX_DELETED_HISTORY ?? DEFAULT_MAX_DELETED_HISTORY,
    denoiseTileMinPoints: values.APP_DENOISE_TILE_MIN_POINTS ?? DEFAULT_DENOISE_TILE_MIN_POINTS,
    denoiseTileTargetPoints: values.APP_DENOISE_TILE_TARGET_POINTS ?? DEFAULT_DENOISE_TILE_TARGET_POINTS,
    groundTileMinPoints: values.APP_GROUND_TILE_MIN_POINTS ?? DEFAULT_GROUND_TILE_MIN_POINTS,
    groundTileTargetPoints: values.APP_GROUND_TILE_TARGET_POINTS ?? DEFAULT_GROUND_TILE_TARGET_POINTS,
    woodMaxPoints: values.APP_WOOD_MAX_POINTS ?? DEFAULT_WOOD_MAX_POINTS,
    treeMaxPoints: values.APP_TREE_MAX_POINTS ?? DEFAULT_TREE_MAX_POINTS,
    treeMaxPointsTiled: values.APP_TREE_MAX_POINTS_TILED ?? DEFAULT_TREE_MAX_POINTS_TILED,
    treeMaxNodes: values.APP_TREE_MAX_NODES ?? DEFAULT_TREE_MAX_NODES,
    treeTileNodes: values.APP_TREE_TILE_NODES ?? DEFAULT_TREE_TILE_NODES,
    costWarningS: values.APP_COST_WARNING_SECONDS ?? DEFAULT_COST_WARNING_S,
    bodyStallS: values.APP_BODY_STALL_SECONDS ?? DEFAULT_BODY_STALL_S,
    device: values.APP_DEVICE ?? "auto",
    allowedOrigins: values.APP_ALLOWED_ORIGINS ?? [],
    logLevel: values.APP_LOG_LEVEL ?? "info",
    instanceId: values.APP_INSTANCE_ID ?? DEFAULT_INSTANCE_ID,
    shutdownGraceMs: values.APP_SHUTDOWN_GRACE_MS ?? SHUTDOWN_GRACE_MS,
    warnings: Object.keys(given)
      .filter((name) => !Object.hasOwn(Environment.shape, name))
      .map((name) => `${name} is not a setting of this service`),
  };
}
