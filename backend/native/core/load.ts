import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../shared/errors.ts";

const ADDON = join("build", "native", "Release", "pc.node");

/** Path of the addon: in the nearest parent folder that contains it, for code run from source and from a bundle. */
export function addonPath(): string {
  const pinned = process.env.APP_ADDON_PATH;
  if (pinned) return pinned;
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    // Native libraries cannot be loaded from inside an asar archive; the packager unpacks them beside it.
    const unpacked = folder.replace(/app\.asar(?=$|[\\/])/, "app.asar.unpacked");
    const path = join(unpacked, ADDON);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) {
      throw new AppError(
        "internal",
        `the native addon is missing (${ADDON}); run "npm run build" in the project folder`,
      );
    }
  }
}

function load(): unknown {
  // By default idle OpenMP threads spin, up to 10x CPU time on short regions. The runtime reads this once, at load.
  process.env.OMP_WAIT_POLICY ??= "passive";
  const path = addonPath();
  try {
    return createRequire(import.meta.url)(path);
  } catch (error) {
    throw new AppError("internal", `the native addon does not load (${path}): ${(error as Error).message}`, undefined, {
      cause: error,
    });
  }
}

const loaded = load();

/** The addon as one family of functions, so that a facade depends only on its own family. */
export const addonAs = <Family>(): Family => loaded as Family;
