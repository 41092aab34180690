// tar.gz and zip of an unpacked app, the same bytes for the same files.
import { spawnSync } from "node:child_process";
import { createWriteStream, lstatSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";

const { ZipFile } = createRequire(import.meta.url)("yazl");

/** Packs `folder` under its own name; root owns the files. */
export function writeTarGz(folder, target, time) {
  const tar = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${time}`, "--format=gnu"];
  const args = [...tar, "-C", join(folder, ".."), "-I", "gzip -n -6", "-cf", target, basename(folder)];
  const { status, stderr, error } = spawnSync("tar", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`tar did not write ${target}: ${error?.message ?? stderr.trim()}`);
}

/** Packs `folder` under its own name, with the permissions of its files. */
export async function writeZip(folder, target, time) {
  const zip = new ZipFile();
  const mtime = new Date(time * 1000);
  const add = (path, name) => {
    const stat = lstatSync(path);
    if (stat.isDirectory()) for (const entry of readdirSync(path).sort()) add(join(path, entry), `${name}/${entry}`);
    else if (stat.isFile()) zip.addFile(path, name, { mtime, mode: stat.mode });
    else throw new Error(`${path} is neither a file nor a folder`);
  };
  add(folder, basename(folder));
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(target));
}
