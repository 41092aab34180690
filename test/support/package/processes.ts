import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Running {
  readonly pid: number;
  /** Kind of Chromium's process: renderer, gpu-process, utility, zygote; "main" for the first. */
  readonly type: string;
  /** Whether the kernel filters its system calls. */
  readonly isFiltered: boolean;
}

/** The processes whose program lies below a folder. */
export function processesOf(folder: string): Running[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readlinkSync(`/proc/${name}/exe`).startsWith(`${folder}/`)) return [];
        const status = readFileSync(`/proc/${name}/status`, "utf8");
        if (/^State:\s*Z/m.test(status)) return [];
        const type = /--type=([a-z-]+)/.exec(readFileSync(`/proc/${name}/cmdline`, "latin1"))?.[1] ?? "main";
        return [{ pid: Number(name), type, isFiltered: /^Seccomp:\s*2$/m.test(status) }];
      } catch {
        return []; // it ended meanwhile
      }
    });
}
