// `npm run test:package`: packs the app, installs it into a clean Debian and uses it there. Takes minutes; needs a real
// Electron (APP_ELECTRON_DIST or APP_TEST_ELECTRON), Xvfb, dpkg-deb and, for the clean Debian, root and debootstrap.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./fingerprint.mjs";

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const env = { ...process.env, APP_TEST_PACKAGE: "1" };
process.exitCode = spawnSync(process.execPath, [vitest, "run"], { stdio: "inherit", cwd: root, env }).status ?? 1;
