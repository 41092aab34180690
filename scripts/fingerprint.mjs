// Tells whether the inputs of a build step changed since it last succeeded. Content hashes, remembered by size and time.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
const stampFile = join(root, "build", "stamps.json");

function readStamps() {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {}; // none yet, or cut short: everything is stale, which is always safe
  }
}

function* filesUnder(path) {
  const full = join(root, path);
  if (!existsSync(full)) return;
  if (!statSync(full).isDirectory()) {
    yield path;
    return;
  }
  for (const entry of readdirSync(full, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* filesUnder(join(path, entry.name));
    else if (entry.isFile()) yield join(path, entry.name);
  }
}

/** One hash over names and contents of everything under `paths`, plus `salt`. */
export function fingerprint(paths, salt = "") {
  const stamps = readStamps();
  const known = stamps.files ?? {};
  const seen = {};
  const hash = createHash("sha256").update(salt);
  for (const path of paths.flatMap((p) => [...filesUnder(p)]).sort()) {
    const { size, mtimeMs } = statSync(join(root, path));
    const key = `${size}:${mtimeMs}`;
    const before = known[path];
    const digest =
      before?.key === key
        ? before.digest
        : createHash("sha256")
            .update(readFileSync(join(root, path)))
            .digest("hex");
    seen[path] = { key, digest };
    hash.update(`${path}\0${digest}\0`);
  }
  if (Object.entries(seen).some(([path, entry]) => known[path]?.key !== entry.key)) {
    write({ ...stamps, files: { ...known, ...seen } });
  }
  return hash.digest("hex");
}

/** Whether a step has ever succeeded here, be it stale since. */
export const wasDone = (step) => readStamps()[step] !== undefined;
export const isFresh = (step, value) => readStamps()[step] === value;
export const markFresh = (step, value) => write({ ...readStamps(), [step]: value });

function write(stamps) {
  mkdirSync(join(root, "build"), { recursive: true });
  const temporary = `${stampFile}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(stamps));
  renameSync(temporary, stampFile);
}
