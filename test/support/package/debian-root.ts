import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A clean Debian in a folder. */
export interface DebianRoot {
  readonly folder: string;
  /** Script for `unshare -m`: mounts what programs in the root need, then runs its arguments. */
  readonly enter: string;
  remove(): Promise<void>;
}

const cache = fileURLToPath(new URL("../../../build/package-test", import.meta.url));
/** Empty: the mirror that debootstrap knows. */
const MIRRORS = [process.env.APP_TEST_DEBIAN_MIRROR ?? ""].filter((mirror) => mirror !== "");
const RELEASE = "bookworm";
const INSTALL_MS = 1_800_000;

/** Makes one from Debian's packages, or says why not. The base system and the packages are kept in build/package-test. */
export async function debianRoot(): Promise<{ root?: DebianRoot; why?: string }> {
  if (process.platform !== "linux") return { why: "a Debian root needs Linux" };
  if (process.getuid?.() !== 0) return { why: "only the superuser can make a Debian root" };
  if (spawnSync("debootstrap", ["--version"]).status !== 0) return { why: "debootstrap is not installed" };
  if (spawnSync("unshare", ["-m", "true"]).status !== 0) return { why: "this machine allows no mounts (unshare -m)" };
  const base = join(cache, `${RELEASE}.tar`);
  const archives = join(cache, "archives");
  await mkdir(join(archives, "partial"), { recursive: true });
  if (!existsSync(base)) {
    const failure = await makeBase(base);
    if (failure) return { why: failure };
  }
  const folder = await mkdtemp(join(tmpdir(), "debian-"));
  const enter = `${folder}.enter.sh`;
  await writeFile(enter, enterScript(folder, archives));
  const remove = async () => {
    await rm(folder, { recursive: true, force: true });
    await rm(enter, { force: true });
  };
  const unpacked = spawnSync("tar", ["-xf", base, "-C", folder], { encoding: "utf8" });
  if (unpacked.status !== 0) {
    await remove();
    throw new Error(`${base} cannot be unpacked: ${unpacked.stderr}`);
  }
  await chmod(folder, 0o755); // a folder of mkdtemp, and the archive of one, are closed to the normal user
  await copyFile("/etc/resolv.conf", join(folder, "etc", "resolv.conf"));
  return { root: { folder, enter, remove } };
}

async function makeBase(base: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(dirname(base), "new-"));
  const args = ["--variant=minbase", "--include=ca-certificates", RELEASE, folder, ...MIRRORS];
  const made = spawnSync("debootstrap", args, { encoding: "utf8", timeout: INSTALL_MS });
  let failure = made.status === 0 ? undefined : `debootstrap failed (${made.stdout.trim().split("\n").at(-1)})`;
  if (!failure) {
    const packed = spawnSync("tar", ["-cf", `${base}.new`, "-C", folder, "."], { encoding: "utf8" });
    if (packed.status === 0) await rename(`${base}.new`, base);
    else failure = `tar failed (${packed.stderr})`;
  }
  await rm(folder, { recursive: true, force: true });
  return failure;
}

const enterScript = (folder: string, archives: string) => `set -e
mount -t proc proc '${folder}/proc'
mount --rbind /sys '${folder}/sys'
mount --rbind /dev '${folder}/dev'
mount --bind '${archives}' '${folder}/var/cache/apt/archives'
mkdir -p '${folder}/tmp/.X11-unix' && chmod 1777 '${folder}/tmp'
mount --bind /tmp/.X11-unix '${folder}/tmp/.X11-unix'
exec "$@"
`;

/** Runs a shell command as the superuser of the root and answers its output. Errors: it fails, with its last lines. */
export function runInside({ folder, enter }: DebianRoot, command: string): string {
  const environment = [
    "env",
    "-i",
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    "DEBIAN_FRONTEND=noninteractive",
    "LANG=C.UTF-8",
  ];
  const args = ["-m", "--propagation", "private", "sh", enter, "chroot", folder, ...environment, "sh", "-c", command];
  const { status, stdout, stderr } = spawnSync("unshare", args, {
    encoding: "utf8",
    timeout: INSTALL_MS,
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${command}: ${`${stdout}${stderr}`.trim().split("\n").slice(-8).join("\n")}`);
  return stdout;
}
