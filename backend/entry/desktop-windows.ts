import { AppError } from "../../shared/errors.ts";
import type { BackendAddress, BackendStop, StateChange, SupervisorState } from "./supervisor-contract.ts";

/** The used part of a supervisor. */
export interface WindowBackend {
  readonly state: SupervisorState;
  start(): Promise<BackendAddress>;
  stop(options: { readonly removeSessions: boolean }): Promise<BackendStop>;
}

export interface WindowStarters<B extends WindowBackend> {
  makeBackend(instanceId: string, onState: (change: StateChange) => void): B;
  /** Opens the window of a running backend; `closed` tells that it is gone, and whether its sessions stay. */
  openWindow(backend: B, files: readonly string[], closed: (keepsSessions: boolean) => void): Promise<void>;
  onState(change: StateChange & { readonly instance: string }): void;
}

/** The windows of the app, each with a backend of its own: one that dies takes no other with it. */
export class DesktopWindows<B extends WindowBackend> {
  readonly #starters: WindowStarters<B>;
  readonly #backends = new Map<string, B>();

  constructor(starters: WindowStarters<B>) {
    this.#starters = starters;
  }

  /** No backend runs, starts or is being stopped. */
  get idle(): boolean {
    return this.#backends.size === 0;
  }

  /**
   * Opens a window with these files. Its instance is the first free number, or `kept`, that of sessions which an earlier
   * run has left. Sessions stay where the window does not open. Errors: those of the backend's start; canceled if the app
   * quits meanwhile.
   */
  async open(files: readonly string[], kept?: string): Promise<void> {
    const instance = kept !== undefined && !this.#backends.has(kept) ? kept : this.#freeInstance();
    const backend = this.#starters.makeBackend(instance, (change) => this.#starters.onState({ ...change, instance }));
    this.#backends.set(instance, backend);
    try {
      await backend.start();
      await this.#starters.openWindow(backend, files, (keeps) => void this.#end(instance, backend, keeps));
    } catch (error) {
      await this.#end(instance, backend, true);
      throw error;
    }
  }

  /** Stops all backends. Sessions stay but for those of windows that have closed before. Never rejects. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#backends].map(([instance, backend]) => this.#end(instance, backend, true)));
  }

  async #end(instance: string, backend: B, keepsSessions: boolean): Promise<void> {
    await backend.stop({ removeSessions: !keepsSessions });
    if (this.#backends.get(instance) === backend) this.#backends.delete(instance);
  }

  #freeInstance(): string {
    for (let number = 1; ; number++) if (!this.#backends.has(`window-${number}`)) return `window-${number}`;
  }
}

/** Whether a start failed because the app quits: no news for the user. */
export const isQuit = (error: unknown): boolean => error instanceof AppError && error.code === "canceled";
