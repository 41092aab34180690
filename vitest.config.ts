import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: process.env.APP_TEST_LARGE
      ? ["test/large/**/*.test.ts"] // npm run test:large
      : ["test/{unit,property,contract,integration,fault,golden}/**/*.test.ts"],
    globalSetup: ["test/support/run/temporary-folder.ts", "test/support/run/build-backend.ts"],
    setupFiles: ["test/support/run/record-calls.ts"],
    pool: "forks",
    // Only a guard against hanging: a machine at a load of ten takes ten times as long. Time bounds are in the tests.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
  },
});
