import { spawnSync } from "node:child_process";
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type DebianRoot, debianRoot, runInside } from "./debian-root.ts";

/** An installed desktop app and a normal user who starts it. */
export interface InstalledApp {
  /** In words, for the log of the test. */
  readonly how: string;
  /** Root of the file system that the app sees; "" = that of this machine. */
  readonly root: string;
  /** Folder of the app, as this process sees it. */
  readonly folder: string;
  /** Folder of the user for files, as the app sees it; below `root` for this process. */
  readonly files: string;
  /** Script that starts the app as the user; its arguments go to the app. */
  readonly launcher: string;
  /** Runs a command where the app is installed, as its superuser; undefined without a root of its own. */
  readonly inside: ((command: string) => string) | undefined;
  remove(): Promise<void>;
}

const USER = { name: "tester", id: 61_234 };
/** The sandbox of pages; a kernel that refuses it needs the option, which the test says. */
export const NO_SANDBOX = "--no-sandbox";

/**
 * Installs a deb: with apt into a clean Debian where this user may make one, otherwise unpacked into a folder, where it
 * uses the libraries of this machine. `display` is the number of an X display.
 */
export async function installApp(deb: string, name: string, display: number): Promise<InstalledApp> {
  const work = await mkdtemp(join(tmpdir(), "package-"));
  await chmod(work, 0o755);
  const debian = await debianRoot();
  const remove = async () => {
    await rm(work, { recursive: true, force: true });
    await debian.root?.remove();
  };
  try {
    if (debian.root) return { ...(await inDebian(debian.root, deb, name, display, work)), remove };
    console.log(`package test: ${debian.why}; the deb is only unpacked, and uses the libraries of this machine`);
    return { ...(await unpacked(deb, name, display, work)), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

type App = Omit<InstalledApp, "remove">;

async function inDebian(debian: DebianRoot, deb: string, name: string, display: number, work: string): Promise<App> {
  await copyFile(deb, join(debian.folder, "root", basename(deb)));
  runInside(debian, "apt-get update -q");
  runInside(debian, `apt-get install -yq --no-install-recommends /root/${basename(deb)}`);
  runInside(debian, `useradd --create-home --uid ${USER.id} ${USER.name}`);
  const files = `/home/${USER.name}`;
  const environment = `PATH=/usr/bin:/bin HOME=${files} LANG=C.UTF-8 DISPLAY=:${display}`;
  const launcher = join(work, "start.sh");
  await writeLauncher(
    launcher,
    `exec unshare -m --propagation private sh '${debian.enter}' chroot --userspec=${USER.id}:${USER.id} '${debian.folder}' ` +
      `env -i ${environment} /usr/bin/${name} --remote-debugging-port=0 "$@"`,
  );
  return {
    how: "installed with apt into a clean Debian",
    root: debian.folder,
    folder: join(debian.folder, "opt", name),
    files,
    launcher,
    inside: (command) => runInside(debian, command),
  };
}

async function unpacked(deb: string, name: string, display: number, work: string): Promise<App> {
  const root = join(work, "unpacked");
  const { status, stderr, error } = spawnSync("dpkg", ["-x", deb, root], { encoding: "utf8" });
  if (status !== 0) throw new Error(`dpkg -x: ${error?.message ?? stderr}`);
  const files = join(work, "home");
  await mkdir(files);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(files, USER.id, USER.id);
  const asUser = isRoot ? `setpriv --reuid=${USER.id} --regid=${USER.id} --clear-groups ` : "";
  const environment = `PATH=/usr/bin:/bin HOME='${files}' LANG=C.UTF-8 DISPLAY=:${display}`;
  const folder = join(root, "opt", name);
  const launcher = join(work, "start.sh");
  await writeLauncher(
    launcher,
    `exec ${asUser}env -i ${environment} '${join(folder, name)}' --remote-debugging-port=0 "$@"`,
  );
  return { how: "unpacked from the deb", root: "", folder, files, launcher, inside: undefined };
}

async function writeLauncher(path: string, command: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${command}\n`);
  await chmod(path, 0o755);
}

/** Writes a file for the user of the app and answers its path as the app sees it. */
export async function giveFile(
  app: InstalledApp,
  name: string,
  write: (path: string) => Promise<unknown>,
): Promise<string> {
  const path = join(app.files, name);
  await write(join(app.root, path));
  if (process.getuid?.() === 0) await chown(join(app.root, path), USER.id, USER.id);
  return path;
}
