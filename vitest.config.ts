import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/{unit,property,contract,integration,fault,golden}/**/*.test.ts"],
    globalSetup: ["test/support/temporary-folder.ts", "test/support/build-backend.ts"],
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    passWithNoTests: false,
  },
});
