// What the packages are called and what they open: from package.json, electron-builder.yml and the environment.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../fingerprint.mjs";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** electron-builder.yml as an object. */
export const builderConfig = () => parse(readFileSync(join(root, "electron-builder.yml"), "utf8"));

/** Names and addresses. A distributor sets the two of the environment. */
export function identity() {
  const { productName, linux, fileAssociations } = builderConfig();
  return {
    name: linux.executableName,
    title: productName,
    version: manifest.version,
    summary: "Point clouds of forests and plants: scans to trees",
    homepage: process.env.APP_PACKAGE_HOMEPAGE || manifest.homepage,
    maintainer: process.env.APP_PACKAGE_MAINTAINER || manifest.author,
    fileTypes: fileAssociations,
    electronMajor: Number.parseInt(manifest.devDependencies.electron, 10),
  };
}

/** Time of all files in archives, seconds: SOURCE_DATE_EPOCH, else that of the last commit, so that a build can be repeated. */
export function sourceTime() {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given && /^\d+$/.test(given)) return Number(given);
  const { stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  return Number.parseInt(stdout, 10) || Math.floor(Date.now() / 1000);
}
