// What a process and its children used, read from /proc (Linux).
import { readdirSync, readFileSync } from "node:fs";

/** The kernel's clock ticks per second in /proc: 100 on every Linux that Node runs on. */
const TICKS = 100;
const MIB = 1024;

/** { cpu_s, rss_mib, peak_rss_mib, anon_mib, parent } of one process; undefined when it is gone. CPU includes ended children. */
export function usageOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name may hold spaces
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kib = (key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
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

/** The same, summed over a process and everything it started that still runs. */
export function treeUsage(pid) {
  const all = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const usage = usageOf(Number(name));
    if (usage) all.set(Number(name), usage);
  }
  const belongs = (id) => id === pid || (all.has(id) && all.get(id).parent > 1 && belongs(all.get(id).parent));
  const sum = { cpu_s: 0, peak_rss_mib: 0 };
  for (const [id, usage] of all) {
    if (!belongs(id)) continue;
    sum.cpu_s += usage.cpu_s;
    sum.peak_rss_mib += usage.peak_rss_mib;
  }
  return sum;
}

/** Watches the anonymous memory of a process: what it holds beyond mapped files. */
export class MemoryWatch {
  #pid;
  #timer;
  start_mib;
  peak_mib;

  constructor(pid, everyMs = 25) {
    this.#pid = pid;
    this.start_mib = usageOf(pid)?.anon_mib ?? 0;
    this.peak_mib = this.start_mib;
    this.#timer = setInterval(() => this.#look(), everyMs);
  }
  #look() {
    this.peak_mib = Math.max(this.peak_mib, usageOf(this.#pid)?.anon_mib ?? 0);
  }
  /** MiB the process grew at its highest. */
  stop() {
    this.#look();
    clearInterval(this.#timer);
    return this.peak_mib - this.start_mib;
  }
}

/** Bytes that can be had without swapping. */
export function availableBytes() {
  return Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1] ?? 0) * 1024;
}
