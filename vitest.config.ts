import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const LARGE = ["test/large/**/*.test.ts"]; // npm run test:large
const PACKAGE = ["test/package/**/*.test.ts"]; // npm run test:package
const ALL = ["test/{unit,property,contract,integration,fault,golden}/**/*.test.ts"];

/**
 * A file that looks at the process as a whole (its memory, environment, descriptors, clock), or replaces parts of it, has a
 * process of its own. The others share one, and with it the modules, which take a second to load.
 */
const OWN_PROCESS =
  /bulkBytesInUse|vi\.(mock|hoisted|spyOn|stub|useFake|reset)|process\.(env|on|once|off|chdir|umask|set[a-z]*[ug]id|memoryUsage|cpuUsage|kill)|\/proc\/|rss|[dD]escriptors|stalls|native-failure|small-disk/;
const SHARED = ["unit", "contract", "integration", "fault", "property"]
  .flatMap((part) => (readdirSync(`test/${part}`, { recursive: true }) as string[]).map((name) => `test/${part}/${name}`))
  .filter((file) => file.endsWith(".test.ts") && !OWN_PROCESS.test(readFileSync(file, "utf8")));

/** Of every project. */
const common = {
  setupFiles: ["test/support/run/record-calls.ts"],
  pool: "forks",
  // On two processors vitest would use one. Many tests wait: for processes that start, and for cancels.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  // Only a guard against hanging: a machine at a load of ten takes ten times as long. Time bounds are in the tests.
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const;

/** Long tests, which a command of their own runs. */
const onDemand = process.env.APP_TEST_LARGE
  ? { name: "large", include: LARGE }
  : process.env.APP_TEST_PACKAGE
    ? { name: "package", include: PACKAGE }
    : undefined;

export default defineConfig({
  test: {
    globalSetup: ["test/support/run/temporary-folder.ts", "test/support/run/build-backend.ts"],
    passWithNoTests: false,
    projects: onDemand
      ? [{ test: { ...common, ...onDemand } }]
      : [
          { test: { ...common, name: "own", include: ALL, exclude: SHARED } },
          { test: { ...common, name: "shared", include: SHARED, isolate: false } },
        ],
  },
});
