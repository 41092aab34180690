import type { ToBackend } from "./supervisor-messages.ts";

/** A process that does not report "ready" within this time is killed. */
export const READY_LIMIT_MS = 120_000;
/** stop() kills the process after this time; with the time to reap it, stop() takes at most 1 s. */
export const STOP_GRACE_MS = 900;
export const STOP_REAP_MS = 80;
/** A process that was ready for this long counts as healthy: the restart delay begins at its minimum again. */
export const STABLE_AFTER_MS = 30_000;
const FIRST_RESTART_MS = 100;
const SLOWEST_RESTART_MS = 10_000;

/** Delay before restart number `failures` + 1: 100 ms, doubled each time, at most 10 s. */
export function restartDelayMs(failures: number): number {
  return Math.min(SLOWEST_RESTART_MS, FIRST_RESTART_MS * 2 ** Math.min(failures, 16));
}

export type SupervisorState = "starting" | "ready" | "restarting" | "stopped";

/** Address of a running backend. */
export interface BackendAddress {
  /** http://127.0.0.1:<port>, also its origin. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

export interface StateChange {
  readonly state: SupervisorState;
  /** For "ready". */
  readonly address?: BackendAddress | undefined;
  /** For "restarting", and for "stopped" after a failed start: a sentence for the user. */
  readonly reason?: string;
  /** For "restarting": delay before the next start, and number of restarts since the backend was last healthy. */
  readonly delay_ms?: number;
  readonly attempt?: number;
}

/** Result of stop(). */
export interface BackendStop {
  /** null = there was no process, or it had to be killed. */
  readonly exit_code: number | null;
  readonly killed: boolean;
}

/** Interface of a backend process for the supervisor; electron-process.ts implements it. */
export interface BackendProcess {
  onMessage(listener: (message: unknown) => void): void;
  /** Lines of stderr and stdout. */
  onLine(listener: (line: string) => void): void;
  /** Called once, for whatever reason the process ended. */
  onExit(listener: (code: number) => void): void;
  post(message: ToBackend): void;
  /** Kills the process in a way that it cannot ignore. No error if it has already ended. */
  kill(): void;
}

export interface SupervisorOptions {
  /** Starts one process with exactly this environment. */
  readonly startProcess: (env: Record<string, string>) => BackendProcess;
  /** Constant for a window over all launches of the app, so that it finds its sessions. [A-Za-z0-9_-]{1,64} */
  readonly instanceId: string;
  /** Absolute paths; windows share these folders. */
  readonly dataDir: string;
  readonly octreeCacheRoot: string;
  /** Environment that the process inherits; default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Required version of the backend; default: that of the supervisor. */
  readonly version?: string;
  readonly onState?: (change: StateChange) => void;
  /** The log of the backend, line by line (pino JSON, or text of a crash). */
  readonly onLog?: (line: string) => void;
  readonly readyLimitMs?: number;
  readonly stopGraceMs?: number;
}
