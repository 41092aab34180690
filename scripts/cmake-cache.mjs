// A build folder of CMake holds absolute paths: one that was moved or copied with its clone cannot be used as it is.
import { readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";

const realpath = (path) => {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
};

/** Makes CMake configure `folder` anew if its cache was written for another place. */
export function dropMovedCache(folder) {
  const cache = join(folder, "CMakeCache.txt");
  let text;
  try {
    text = readFileSync(cache, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  const place = /^CMAKE_CACHEFILE_DIR:INTERNAL=(.*)$/m.exec(text)?.[1] ?? "";
  if (realpath(place) === realpath(folder)) return;
  rmSync(cache);
  rmSync(join(folder, "CMakeFiles"), { recursive: true, force: true });
}
