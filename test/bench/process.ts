// What a process and its children used, read from /proc (Linux).
import { readdirSync, readFileSync } from "node:fs";

/** The kernel's clock ticks per second in /proc: 100 on every Linux that Node runs on. */
const TICKS = 100;
const MIB = 1024;

export interface Usage {
  readonly parent: number;
  /** Ended children included. */
  readonly cpu_s: number;
  readonly rss_mib: number;
  readonly peak_rss_mib: number;
  /** Anonymous memory: what it holds beyond mapped files. */
  readonly anon_mib: number;
}

/** What one process used so far; undefined when it is gone. */
export function usageIfThere(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name may hold spaces
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kib = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return {
      parent: Number(fields[1]),
      cpu_s: [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS,
      rss_mib: kib("VmRSS") / MIB,
      peak_rss_mib: kib("VmHWM") / MIB,
      anon_mib: kib("RssAnon") / MIB,
    };
  } catch {
    return undefined; // it ended between two looks
  }
}

/** What a process that must be there used so far. */
export function usageOf(pid: number): Usage {
  const usage = usageIfThere(pid);
  if (usage === undefined) throw new Error(`process ${pid} is gone`);
  return usage;
}

/** CPU time and peak memory summed over a process and everything it started that still runs. */
export function treeUsage(pid: number): { readonly cpu_s: number; readonly peak_rss_mib: number } {
  const all = new Map<number, Usage>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const usage = usageIfThere(Number(name));
    if (usage) all.set(Number(name), usage);
  }
  const belongs = (id: number): boolean => {
    const parent = all.get(id)?.parent ?? 0;
    return id === pid || (parent > 1 && belongs(parent));
  };
  const sum = { cpu_s: 0, peak_rss_mib: 0 };
  for (const [id, usage] of all) {
    if (!belongs(id)) continue;
    sum.cpu_s += usage.cpu_s;
    sum.peak_rss_mib += usage.peak_rss_mib;
  }
  return sum;
}

/** Watches the anonymous memory of a process. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly start_mib: number;
  peak_mib: number;

  constructor(pid: number, everyMs = 25) {
    this.#pid = pid;
    this.start_mib = usageIfThere(pid)?.anon_mib ?? 0;
    this.peak_mib = this.start_mib;
    this.#timer = setInterval(() => this.#look(), everyMs);
  }
  #look(): void {
    this.peak_mib = Math.max(this.peak_mib, usageIfThere(this.#pid)?.anon_mib ?? 0);
  }
  /** MiB the process grew at its highest. */
  stop(): number {
    this.#look();
    clearInterval(this.#timer);
    return this.peak_mib - this.start_mib;
  }
}

/** Bytes of one line of /proc/meminfo; 0 where the kernel has no such line. */
export const memoryInfo = (key: string): number =>
  Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(readFileSync("/proc/meminfo", "utf8"))?.[1] ?? 0) * 1024;

/** Bytes that can be had without swapping. */
export const availableBytes = (): number => memoryInfo("MemAvailable");
