import { randomBytes } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { version as ownVersion } from "../version.ts";
import { LastFailure } from "./log-lines.ts";
import {
  type BackendAddress,
  type BackendProcess,
  type BackendStop,
  READY_LIMIT_MS,
  restartDelayMs,
  STABLE_AFTER_MS,
  STOP_GRACE_MS,
  STOP_REAP_MS,
  type SupervisorOptions,
  type SupervisorState,
} from "./supervisor-contract.ts";
import { readyProblem } from "./supervisor-messages.ts";

/*
 * State       event                                       next state
 * stopped     start()                                     starting
 * starting    valid ready message                         ready; start() resolves
 * starting    exit, invalid ready message, time limit     stopped; start() rejects, as a retry would fail again
 * ready       exit                                        restarting
 * restarting  delay over                                  restarting, with a new process
 * restarting  valid ready message                         ready
 * restarting  exit, invalid ready message, time limit     restarting, with a longer delay, without end
 * any         stop()                                      stopped
 */

interface Waiting {
  resolve(address: BackendAddress): void;
  reject(error: AppError): void;
}

/**
 * Keeps the backend of one window running. A process that ends unexpectedly is restarted with the same port, folders,
 * instance id and token, so that the page only notices a pause and finds its sessions.
 */
export class BackendSupervisor {
  /** Bearer token of this launch: 64 hex digits, unknown to other windows. */
  readonly token = randomBytes(32).toString("hex");
  readonly #options: SupervisorOptions;
  readonly #version: string;
  #state: SupervisorState = "stopped";
  #process: BackendProcess | undefined;
  #address: BackendAddress | undefined;
  #port = 0;
  #failures = 0;
  #readyAt = 0;
  /** Why this process is being killed; undefined = it ended by itself. */
  #verdict: string | undefined;
  #failure = new LastFailure();
  #timer: NodeJS.Timeout | undefined;
  #waiting: Waiting | undefined;
  #stopping: Promise<BackendStop> | undefined;
  #exited: ((code: number) => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#version = options.version ?? ownVersion;
  }

  get state(): SupervisorState {
    return this.#state;
  }
  /** Address of the backend; undefined while it is not ready. */
  get address(): BackendAddress | undefined {
    return this.#state === "ready" ? this.#address : undefined;
  }

  /**
   * Starts the process and waits until it is ready. Errors: conflict if the state is not stopped; internal, with
   * `reason`, if the process ends, has another version or is not ready within 120 s; canceled if stop() is called
   * first. After the last two the state is stopped.
   */
  async start(): Promise<BackendAddress> {
    if (this.#state !== "stopped" || this.#stopping) {
      throw new AppError("conflict", `the backend is ${this.#stopping ? "stopping" : this.#state}; stop it first`);
    }
    this.#failures = 0;
    const ready = new Promise<BackendAddress>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    this.#enter("starting");
    this.#launch();
    return ready;
  }

  /**
   * Asks the process to end, kills it if it does not, and resolves within 1 s, when it has ended. Never rejects.
   * `removeSessions` false keeps the sessions for a later start; by default they are removed.
   */
  stop(options: { readonly removeSessions?: boolean } = {}): Promise<BackendStop> {
    this.#stopping ??= this.#end(options.removeSessions ?? true).finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  #launch(): void {
    this.#verdict = undefined;
    this.#failure = new LastFailure();
    let process: BackendProcess;
    try {
      process = this.#options.startProcess(this.#environment());
    } catch (error) {
      this.#failed(`it could not be started: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    this.#process = process;
    process.onLine((line) => {
      if (process === this.#process) this.#failure.hear(line);
      this.#options.onLog?.(line);
    });
    process.onMessage((message) => {
      if (process === this.#process) this.#heard(process, message);
    });
    process.onExit((code) => {
      if (process === this.#process) this.#gone(code);
    });
    const limit = this.#options.readyLimitMs ?? READY_LIMIT_MS;
    this.#timer = setTimeout(() => this.#condemn(process, `it was not ready within ${limit / 1000} s`), limit);
  }

  #environment(): Record<string, string> {
    const { instanceId, dataDir, octreeCacheRoot, env = process.env } = this.#options;
    const inherited = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return {
      ...Object.fromEntries(inherited),
      APP_AUTH_TOKEN: this.token,
      APP_BACKEND_PORT: String(this.#port),
      APP_DATA_DIR: dataDir,
      APP_OCTREE_CACHE_ROOT: octreeCacheRoot,
      APP_INSTANCE_ID: instanceId,
    };
  }

  #heard(process: BackendProcess, message: unknown): void {
    if ((message as { type?: unknown } | null)?.type !== "ready" || this.#verdict !== undefined) return;
    const problem = readyProblem(message, { version: this.#version, port: this.#port });
    if (problem !== undefined) {
      this.#condemn(process, problem);
      return;
    }
    process.post({ type: "ready-ack" }); // sent for every repeat, which may have crossed the first ack
    if (this.#state === "ready" || this.#stopping) return;
    clearTimeout(this.#timer);
    const { url, port, pid } = message as BackendAddress;
    this.#port = port;
    this.#address = { url, port, pid };
    this.#readyAt = performance.now();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#enter("ready");
    waiting?.resolve(this.#address);
  }

  #condemn(process: BackendProcess, verdict: string): void {
    clearTimeout(this.#timer);
    this.#verdict = verdict;
    process.kill();
  }

  #gone(code: number): void {
    clearTimeout(this.#timer);
    this.#process = undefined;
    if (this.#exited) {
      this.#exited(code); // stop() asked for it
      return;
    }
    if (this.#state === "ready" && performance.now() - this.#readyAt >= STABLE_AFTER_MS) this.#failures = 0;
    const { text } = this.#failure;
    const said = text === undefined ? "" : `; it said: ${text}`;
    this.#failed(`${this.#verdict ?? `it ended with exit code ${code}`}${said}`);
  }

  #failed(reason: string): void {
    if (this.#state === "starting") {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      this.#enter("stopped", { reason });
      waiting?.reject(new AppError("internal", `the backend did not start: ${reason}`, { reason }));
      return;
    }
    const delay_ms = restartDelayMs(this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#launch(), delay_ms);
    this.#enter("restarting", { reason, delay_ms, attempt: this.#failures });
  }

  async #end(removeSessions: boolean): Promise<BackendStop> {
    clearTimeout(this.#timer);
    const process = this.#process;
    let exit: BackendStop = { exit_code: null, killed: false };
    if (process) {
      const exited = new Promise<number>((resolve) => {
        this.#exited = resolve;
      });
      process.post({ type: "stop", removeSessions });
      const code = await within(this.#options.stopGraceMs ?? STOP_GRACE_MS, exited);
      exit = { exit_code: code ?? null, killed: code === undefined };
      if (code === undefined) {
        process.kill();
        await within(STOP_REAP_MS, exited);
      }
      this.#exited = undefined;
      this.#process = undefined;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (this.#state !== "stopped") this.#enter("stopped");
    waiting?.reject(new AppError("canceled", "the backend was stopped before it was ready"));
    return exit;
  }

  /** Calls the listener last, when the state is consistent, whatever the listener does. */
  #enter(state: SupervisorState, why: { reason?: string; delay_ms?: number; attempt?: number } = {}): void {
    this.#state = state;
    this.#options.onState?.({ state, ...(state === "ready" ? { address: this.#address } : {}), ...why });
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
