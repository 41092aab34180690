// Hook of electron-builder between packing and signing.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../fingerprint.mjs";
import { asarFiles } from "./asar.mjs";
import { licenceText, shippedParts } from "./licences.mjs";

export default async function afterPack({ appOutDir, electronPlatformName, packager }) {
  const isMac = electronPlatformName === "darwin";
  const resources = isMac
    ? join(appOutDir, `${packager.appInfo.productFilename}.app`, "Contents", "Resources")
    : join(appOutDir, "resources");
  rmSync(join(resources, "default_app.asar"), { force: true }); // the page of an Electron without an app
  const record = join(root, "build", "bundled-packages.json");
  if (!existsSync(record)) throw new Error(`${record} is missing; run "npm run build:ts -- --force" first`);
  const files = asarFiles(join(resources, "app.asar"));
  const parts = shippedParts(files, JSON.parse(readFileSync(record, "utf8")));
  const text = licenceText(parts, packager.config.electronVersion ?? packager.info.framework.version);
  writeFileSync(join(isMac ? resources : appOutDir, "LICENSES.txt"), text);
}
