// `npm run test:large`: tests of files above 4 GB, which take minutes and much space in the temporary folder, and those of
// real scans with the large ones, which `npm test` leaves out.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./fingerprint.mjs";

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const SCANS = ["las-round-trip", "round-trip", "preview-matches-import"].map(
  (name) => `test/integration/${name}.test.ts`,
);
const run = (files, settings) =>
  spawnSync(process.execPath, [vitest, "run", ...files], {
    stdio: "inherit",
    cwd: root,
    env: { ...process.env, ...settings },
  }).status ?? 1;
process.exitCode = run([], { APP_TEST_LARGE: "1" }) || run(SCANS, { APP_TEST_FULL: "1" });
