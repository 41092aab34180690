import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { freemem, homedir, totalmem } from "node:os";
import { join } from "node:path";

/*
 * The only TypeScript code that depends on the operating system. Values that a system does not provide are reported as
 * unknown (0, null, measured: false), never guessed.
 */

export interface MemoryStatus {
  /** Memory of the machine, or the limit of the container if that is lower; 0 = unknown. */
  readonly physical_bytes: number;
  /** Memory available without swapping; 0 = unknown. */
  readonly available_bytes: number;
  /** Resident size of this process. */
  readonly rss_bytes: number;
  /** False if `available_bytes` is only the free memory, without reclaimable caches. */
  readonly measured: boolean;
}

/** A short run asks several times, and each reading takes a third of a millisecond. */
const FRESH_MS = 5;
let last: { readonly at: number; readonly status: MemoryStatus } | undefined;

/** The memory state, at most 5 ms old. Linux: MemAvailable and the container's limit. Elsewhere: the free memory. */
export function memoryStatus(): MemoryStatus {
  const at = performance.now();
  if (last && at - last.at < FRESH_MS) return last.status;
  const status = readMemoryStatus();
  last = { at, status };
  return status;
}

function readMemoryStatus(): MemoryStatus {
  const rss_bytes = process.memoryUsage.rss();
  const total = totalmem();
  const limit = process.constrainedMemory?.() ?? 0;
  const limited = limit > 0 && limit < total;
  const physical_bytes = limited ? limit : total;
  const fromLinux = process.platform === "linux" ? linuxAvailable() : undefined;
  const free = fromLinux ?? freemem();
  const available_bytes = limited ? Math.min(free, Math.max(0, limit - rss_bytes)) : free;
  return { physical_bytes, available_bytes, rss_bytes, measured: fromLinux !== undefined };
}

function linuxAvailable(): number | undefined {
  try {
    return parseMemAvailable(readFileSync("/proc/meminfo", "utf8"));
  } catch {
    return undefined; // no /proc in a sandbox: the caller uses the free memory and reports measured: false
  }
}

/** MemAvailable of a /proc/meminfo text in bytes; undefined if the line is missing. Source: proc(5). */
export function parseMemAvailable(meminfo: string): number | undefined {
  const kib = /^MemAvailable:\s*(\d+) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

/**
 * Start time of a process as opaque text, different for processes that reuse an id; null = unknown (no such process, an
 * ended one, or Windows). Source: proc(5), field 22 of stat; ps(1) lstart elsewhere.
 */
export function processStartTime(pid: number): string | null {
  try {
    if (process.platform === "linux") return parseStartTicks(readFileSync(`/proc/${pid}/stat`, "utf8"));
    if (process.platform === "win32") return null;
    return (
      execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", timeout: 1_000 }).trim() || null
    );
  } catch {
    return null;
  }
}

/**
 * Field 22 of a /proc/<pid>/stat line; null for an ended process that its parent has not reaped (state Z or X). Fields
 * are counted from the end of the process name (field 2), which may contain spaces and brackets.
 */
export function parseStartTicks(stat: string): string | null {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}

export interface AppFolders {
  readonly data: string;
  readonly cache: string;
}

/** The system's folders for an application's data and caches. Sources: XDG base directories; Apple, Windows guides. */
export function appFolders(
  app: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): AppFolders {
  const home = homedir();
  if (platform === "win32") {
    const local = env.LOCALAPPDATA || join(home, "AppData", "Local");
    return { data: join(local, app), cache: join(local, app, "cache") };
  }
  if (platform === "darwin") {
    const support = join(home, "Library", "Application Support", app);
    return { data: support, cache: join(support, "cache") };
  }
  return {
    data: join(env.XDG_DATA_HOME || join(home, ".local", "share"), app),
    cache: join(env.XDG_CACHE_HOME || join(home, ".cache"), app),
  };
}
