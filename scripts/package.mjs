// `npm run package`: makes the desktop packages of this system in build/package (docs/packaging.md).
// usage: package.mjs [unpacked] [tar.gz] [zip] [deb] [--all-architectures]      without a name: all four
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "./fingerprint.mjs";
import { writeTarGz, writeZip } from "./package/archives.mjs";
import { identity, sourceTime } from "./package/config.mjs";
import { debName, writeDeb } from "./package/deb.mjs";
import { appSizes, BUDGET, inMb, overBudget } from "./package/sizes.mjs";
import { setup } from "./setup.mjs";

const KINDS = ["unpacked", "tar.gz", "zip", "deb"];
const LOG = join(root, "build", "package.log");
const output = join(root, "build", "package");
const fail = (message) => {
  console.error(message);
  process.exit(1);
};

const words = process.argv.slice(2);
const kinds = words.filter((word) => !word.startsWith("--"));
const unknown = words.find((word) => !KINDS.includes(word) && word !== "--all-architectures");
if (unknown) fail(`unknown: ${unknown}; one of ${KINDS.join(", ")}, --all-architectures`);
const wanted = kinds.length > 0 ? kinds : KINDS;
if (process.platform !== "linux")
  fail(
    "npm run package makes packages for Linux; docs/packaging.md says how electron-builder makes those of this system.",
  );

const names = identity();
const { arch } = process;
const electron = electronDistribution();
await build();
const app = unpack();
const sizes = appSizes(app);
const time = sourceTime();
const base = `${names.name}-${names.version}-linux-${arch}`;
const made = [app];
const write = {
  "tar.gz": (target) => writeTarGz(app, target, time),
  zip: (target) => writeZip(app, target, time),
  deb: debOf,
};
for (const kind of wanted.filter((word) => word !== "unpacked")) {
  const target = join(output, kind === "deb" ? debName(names, arch) : `${base}.${kind}`);
  rmSync(target, { force: true });
  await write[kind](target);
  made.push(target);
}
report();

/** APP_ELECTRON_DIST, checked; undefined = electron-builder downloads one. */
function electronDistribution() {
  const { APP_ELECTRON_DIST: folder } = process.env;
  if (!folder) return undefined;
  if (!existsSync(join(folder, "electron")) || !existsSync(join(folder, "version")))
    fail(
      `APP_ELECTRON_DIST is ${folder}, which is no unpacked Electron: the files electron and version are not there.`,
    );
  const version = readFileSync(join(folder, "version"), "utf8").trim().replace(/^v/, "");
  if (Number.parseInt(version, 10) !== names.electronMajor)
    fail(`APP_ELECTRON_DIST has Electron ${version}; the app is made for Electron ${names.electronMajor}.`);
  return { folder, version };
}

async function build() {
  await setup();
  const steps = [["scripts/build-ts.mjs"]];
  if (words.includes("--all-architectures")) steps.unshift(["scripts/build-native.mjs", "--all-architectures"]);
  for (const step of steps)
    if (spawnSync(process.execPath, step, { cwd: root, stdio: "inherit" }).status !== 0) process.exit(1);
}

/** Has electron-builder make the unpacked app and answers its folder, which has the name that is packed. */
function unpack() {
  const folder = join(output, arch === "x64" ? "linux-unpacked" : `linux-${arch}-unpacked`);
  const target = join(output, `${names.name}-${names.version}-linux-${arch}`);
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const require = createRequire(import.meta.url);
  const cli = join(dirname(require.resolve("electron-builder/package.json")), "cli.js");
  const from = electron ? [`-c.electronDist=${electron.folder}`, `-c.electronVersion=${electron.version}`] : [];
  console.log(
    electron ? `Electron ${electron.version} from ${electron.folder}` : "Electron from electron-builder's download",
  );
  const run = spawnSync(process.execPath, [cli, "--linux", "dir", `--${arch}`, ...from], {
    cwd: root,
    encoding: "utf8",
  });
  writeFileSync(LOG, `${run.stdout}${run.stderr}`);
  if (run.status !== 0) {
    const noElectron =
      !electron &&
      /download|getaddrinfo|ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|github\.com/i.test(`${run.stdout}${run.stderr}`);
    const last = /(?:⨯|Error:) *(.+)/.exec(`${run.stdout}${run.stderr}`)?.[1] ?? "";
    fail(
      noElectron
        ? `There is no Electron to pack: set APP_ELECTRON_DIST to the folder of an unpacked Electron ${names.electronMajor} for linux-${arch}, or let this machine reach github.com, from which electron-builder downloads one (the log is in ${LOG}).`
        : `electron-builder did not make the app: ${last} (the log is in ${LOG})`,
    );
  }
  renameSync(folder, target);
  return target;
}

function debOf(target) {
  if (/\.example\b/.test(`${names.homepage} ${names.maintainer}`))
    console.log("The deb names no real homepage or maintainer: set APP_PACKAGE_HOMEPAGE and APP_PACKAGE_MAINTAINER.");
  writeDeb({ app, target, staging: join(output, "deb"), identity: names, arch, time });
}

function report() {
  for (const path of made) {
    const bytes = path === app ? sizes.unpacked : statSync(path).size;
    console.log(`${inMb(bytes).padStart(9)}  ${path.slice(root.length)}`);
  }
  console.log(
    `unpacked ${inMb(sizes.unpacked)} of ${inMb(BUDGET.unpacked)}; ours without Electron ${inMb(sizes.ours)} of ${inMb(BUDGET.ours)}`,
  );
  const problems = overBudget(sizes);
  for (const problem of problems) console.error(`Too large: ${problem}.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
