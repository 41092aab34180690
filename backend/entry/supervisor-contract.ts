import type { ToBackend } from "./supervisor-messages.ts";

/** A process that does not say "ready" within this time is killed. */
export const READY_LIMIT_MS = 120_000;
/** stop(): the process is killed after this; with the time to reap it, stop() stays within 1 s. */
export const STOP_GRACE_MS = 900;
export const STOP_REAP_MS = 80;
/** A process that was ready for this long was fine: the next restart is as quick as the first. */
export const STABLE_AFTER_MS = 30_000;
const FIRST_RESTART_MS = 100;
const SLOWEST_RESTART_MS = 10_000;

/** Wait before restart number `failures` + 1: 100 ms, doubled each time, at most 10 s. */
export function restartDelayMs(failures: number): number {
  return Math.min(SLOWEST_RESTART_MS, FIRST_RESTART_MS * 2 ** Math.min(failures, 16));
}

export type SupervisorState = "starting" | "ready" | "restarting" | "stopped";

/** Where a backend answers. */
export interface BackendAddress {
  /** http://127.0.0.1:<port>, which is also its origin. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

export interface StateChange {
  readonly state: SupervisorState;
  /** With "ready". */
  readonly address?: BackendAddress | undefined;
  /** With "restarting", and with "stopped" after a failed start: a sentence for the user. */
  readonly reason?: string;
  /** With "restarting": wait before the next start, and how many restarts there were since it last ran well. */
  readonly delay_ms?: number;
  readonly attempt?: number;
}

/** How a stop went. */
export interface BackendStop {
  /** null = there was no process, or it had to be killed. */
  readonly exit_code: number | null;
  readonly killed: boolean;
}

/** A running backend process as the supervisor sees it; electron-process.ts is the real one. */
export interface BackendProcess {
  onMessage(listener: (message: unknown) => void): void;
  /** Lines of stderr and stdout. */
  onLine(listener: (line: string) => void): void;
  /** Called once, whatever ended the process. */
  onExit(listener: (code: number) => void): void;
  post(message: ToBackend): void;
  /** Ends the process in a way that it cannot ignore. No error when it is gone already. */
  kill(): void;
}

export interface SupervisorOptions {
  /** Starts one process with exactly this environment. */
  readonly startProcess: (env: Record<string, string>) => BackendProcess;
  /** The same for a window at each launch of the app, so that it finds its sessions: window-1. [A-Za-z0-9_-]{1,64} */
  readonly instanceId: string;
  /** Absolute folders; several windows share them. */
  readonly dataDir: string;
  readonly octreeCacheRoot: string;
  /** Further environment of the process; default: this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** The version that the backend must have; default: the supervisor's own. */
  readonly version?: string;
  readonly onState?: (change: StateChange) => void;
  /** The backend's log, line by line (pino JSON, or what a crash left). */
  readonly onLog?: (line: string) => void;
  readonly readyLimitMs?: number;
  readonly stopGraceMs?: number;
}
