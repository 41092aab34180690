// `npm run test:large`: tests of files above 4 GB, which take minutes and much space in the temporary folder.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./fingerprint.mjs";

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const env = { ...process.env, APP_TEST_LARGE: "1" };
process.exitCode = spawnSync(process.execPath, [vitest, "run"], { stdio: "inherit", cwd: root, env }).status ?? 1;
