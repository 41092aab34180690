import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../backend/config.ts";
import {
  appFolders,
  memoryStatus,
  parseMemAvailable,
  parseStartTicks,
  processStartTime,
} from "../../backend/native/core/platform.ts";

describe("configuration", () => {
  test("defaults", () => {
    const config = parseConfig({ XDG_DATA_HOME: "/d", XDG_CACHE_HOME: "/c", PATH: "/bin", APP_AUTH_TOKEN: "" });
    expect(config).toMatchObject({
      port: 0,
      authToken: undefined,
      octreeCacheMaxBytes: 20 * 2 ** 30,
      memoryBudgetBytes: undefined,
      memoryBudgetFraction: 0.5,
      sessionJournal: true,
      sessionIdleTtlS: 1800,
      maxCloudSessions: undefined,
      speciesDir: undefined,
      mlModelsDir: undefined,
      mlDevice: "auto",
      maxPlantSessions: 8,
      plantSessionIdleS: 1800,
      maxDeletedHistory: 50,
      denoiseTileMinPoints: 4_000_000,
      denoiseTileTargetPoints: 3_000_000,
      groundTileMinPoints: 4_000_000,
      groundTileTargetPoints: 3_000_000,
      treeMaxPoints: 50_000_000,
      treeMaxPointsTiled: 200_000_000,
      treeMaxNodes: 2_000_000,
      treeTileNodes: 600_000,
      costWarningS: 90,
      bodyStallS: 30,
      device: "auto",
      allowedOrigins: [],
      logLevel: "info",
      shutdownGraceMs: 1000,
      warnings: [],
    });
    expect(config.instanceId).toBe("default");
  });

  test("reads every variable", () => {
    const config = parseConfig({
      APP_BACKEND_PORT: "8008",
      APP_AUTH_TOKEN: "0123456789abcdef",
      APP_DATA_DIR: "/data",
      APP_OCTREE_CACHE_ROOT: "/cache/../octrees",
      APP_OCTREE_CACHE_MAX_BYTES: "1000",
      APP_MEMORY_BUDGET_BYTES: "2000",
      APP_MEMORY_BUDGET_FRACTION: ".25",
      APP_SESSION_JOURNAL: "off",
      APP_SESSION_IDLE_TTL_SECONDS: "60",
      APP_MAX_CLOUD_SESSIONS: "3",
      APP_SPECIES_DIR: "/tmp/species",
      APP_ML_MODELS_DIR: "/tmp/../models",
      APP_ML_DEVICE: "cpu",
      APP_MAX_PLANT_SESSIONS: "3",
      APP_PLANT_SESSION_IDLE_SECONDS: "60",
      APP_MAX_DELETED_HISTORY: "7",
      APP_DENOISE_TILE_MIN_POINTS: "5000",
      APP_DENOISE_TILE_TARGET_POINTS: "1000",
      APP_GROUND_TILE_MIN_POINTS: "6000",
      APP_GROUND_TILE_TARGET_POINTS: "2000",
      APP_WOOD_MAX_POINTS: "5000",
      APP_TREE_MAX_POINTS: "3000",
      APP_TREE_MAX_POINTS_TILED: "4000",
      APP_TREE_MAX_NODES: "100",
      APP_TREE_TILE_NODES: "1200",
      APP_COST_WARNING_SECONDS: "5",
      APP_BODY_STALL_SECONDS: "7",
      APP_DEVICE: "cpu",
      APP_ALLOWED_ORIGINS: "https://a.example, https://b.example:8443",
      APP_LOG_LEVEL: "debug",
      APP_INSTANCE_ID: "window-1",
      APP_SHUTDOWN_GRACE_MS: "500",
    });
    expect(config).toEqual({
      port: 8008,
      authToken: "0123456789abcdef",
      dataDir: "/data",
      octreeCacheRoot: "/octrees",
      octreeCacheMaxBytes: 1000,
      memoryBudgetBytes: 2000,
      memoryBudgetFraction: 0.25,
      sessionJournal: false,
      sessionIdleTtlS: 60,
      maxCloudSessions: 3,
      speciesDir: "/tmp/species",
      mlModelsDir: "/models",
      mlDevice: "cpu",
      maxPlantSessions: 3,
      plantSessionIdleS: 60,
      maxDeletedHistory: 7,
      denoiseTileMinPoints: 5000,
      denoiseTileTargetPoints: 1000,
      groundTileMinPoints: 6000,
      groundTileTargetPoints: 2000,
      woodMaxPoints: 5000,
      treeMaxPoints: 3000,
      treeMaxPointsTiled: 4000,
      treeMaxNodes: 100,
      treeTileNodes: 1200,
      costWarningS: 5,
      bodyStallS: 7,
      device: "cpu",
      allowedOrigins: ["https://a.example", "https://b.example:8443"],
      logLevel: "debug",
      instanceId: "window-1",
      shutdownGraceMs: 500,
      warnings: [],
    });
  });

  test.each([
    ["APP_BACKEND_PORT", "65536", /APP_BACKEND_PORT "65536" must be a port/],
    ["APP_BACKEND_PORT", "0x50", /port/],
    ["APP_DATA_DIR", "relative", /absolute/],
    ["APP_OCTREE_CACHE_MAX_BYTES", "20GB", /bytes/],
    ["APP_OCTREE_CACHE_MAX_BYTES", "99999999999999999999", /bytes/],
    ["APP_MEMORY_BUDGET_BYTES", "0", /above 0/],
    ["APP_MEMORY_BUDGET_FRACTION", "0.04", /0\.05/],
    ["APP_MEMORY_BUDGET_FRACTION", "1.1", /0\.05/],
    ["APP_MEMORY_BUDGET_FRACTION", "NaN", /0\.05/],
    ["APP_SESSION_JOURNAL", "maybe", /on or off/],
    ["APP_DENOISE_TILE_MIN_POINTS", "0", /points from 1/],
    ["APP_DENOISE_TILE_TARGET_POINTS", "999", /points from 1000/],
    ["APP_GROUND_TILE_MIN_POINTS", "0", /points from 1/],
    ["APP_GROUND_TILE_TARGET_POINTS", "999", /points from 1000/],
    ["APP_WOOD_MAX_POINTS", "9", /points from 1000/],
    ["APP_TREE_MAX_POINTS", "9", /points from 10/],
    ["APP_TREE_MAX_POINTS_TILED", "9", /points from 10/],
    ["APP_TREE_MAX_NODES", "0", /nodes from 1/],
    ["APP_TREE_TILE_NODES", "999", /nodes from 1000/],
    ["APP_COST_WARNING_SECONDS", "0", /seconds from 1/],
    ["APP_BODY_STALL_SECONDS", "0", /seconds from 1/],
    ["APP_DEVICE", "gpu", /cpu or auto/],
    ["APP_ALLOWED_ORIGINS", "null", /origins/],
    ["APP_ALLOWED_ORIGINS", "*", /origins/],
    ["APP_ALLOWED_ORIGINS", "https://*.example", /origins/],
    ["APP_ALLOWED_ORIGINS", "https://a.example/page", /origins/],
    ["APP_LOG_LEVEL", "loud", /pino/],
    ["APP_INSTANCE_ID", "../x", /1 to 64/],
    ["APP_SHUTDOWN_GRACE_MS", "-1", /milliseconds/],
  ])("%s=%s is refused", (name, value, rule) => {
    expect(() => parseConfig({ [name]: value })).toThrow(rule);
  });

  test("a bad token is refused without showing it; all problems are reported at once", () => {
    const broken = () => parseConfig({ APP_AUTH_TOKEN: "short secret", APP_DEVICE: "tpu" });
    expect(broken).toThrow(/APP_AUTH_TOKEN must.*APP_DEVICE "tpu"/);
    expect(broken).not.toThrow(/short secret/);
  });

  test("an unknown APP_ name causes a warning", () => {
    expect(parseConfig({ APP_BACKEND_PROT: "1" }).warnings).toEqual([
      "APP_BACKEND_PROT is not a setting of this service",
    ]);
  });
});

describe("platform", () => {
  test("data and cache folders of the three systems", () => {
    const home = homedir();
    expect(appFolders("a", {}, "linux")).toEqual({ data: join(home, ".local/share/a"), cache: join(home, ".cache/a") });
    const mac = join(home, "Library/Application Support/a");
    expect(appFolders("a", {}, "darwin")).toEqual({ data: mac, cache: join(mac, "cache") });
    expect(appFolders("a", { LOCALAPPDATA: "/L" }, "win32")).toEqual({ data: join("/L/a"), cache: join("/L/a/cache") });
  });
  test("memory texts are parsed", () => {
    expect(parseMemAvailable("MemTotal:  9 kB\nMemAvailable:    1024 kB\nBuffers: 1 kB\n")).toBe(1048576);
    expect(parseMemAvailable("MemTotal: 9 kB\n")).toBeUndefined();
    const { physical_bytes, available_bytes, rss_bytes } = memoryStatus();
    expect(available_bytes).toBeLessThanOrEqual(physical_bytes);
    expect(rss_bytes).toBeGreaterThan(1e6);
  });
  test("a start time is found after process names with spaces and brackets", () => {
    const rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20";
    expect(parseStartTicks(`12 (a) b (c) ${rest}`)).toBe("777");
    expect(parseStartTicks("garbage")).toBeNull();
    for (const ended of ["Z", "X"]) expect(parseStartTicks(`12 (a) ${ended}${rest.slice(1)}`)).toBeNull();
    expect(processStartTime(process.pid)).toBe(processStartTime(process.pid));
    if (process.platform === "linux") expect(processStartTime(process.pid)).toMatch(/^\d+$/);
    expect(processStartTime(2 ** 30)).toBeNull();
  });
});
