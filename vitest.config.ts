import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/{unit,property,contract,integration,fault,golden}/**/*.test.ts"],
    globalSetup: ["test/support/temporary-folder.ts", "test/support/build-backend.ts"],
    setupFiles: ["test/support/record-calls.ts"],
    pool: "forks",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
  },
});
