import { AppError } from "../../shared/errors.ts";
import type { BackendAddress, BackendStop, StateChange, SupervisorState } from "./supervisor-contract.ts";

/** The used part of a supervisor. */
export interface WindowBackend {
  readonly state: SupervisorState;
  start(): Promise<BackendAddress>;
  stop(): Promise<BackendStop>;
}

export interface WindowStarters<B extends WindowBackend> {
  makeBackend(instanceId: string, onState: (change: StateChange) => void): B;
  /** Opens the window of a running backend; `closed` tells that it is gone. */
  openWindow(backend: B, files: readonly string[], closed: () => void): Promise<void>;
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
   * Opens a window with these files. Its instance is the first free number, so that windows find the sessions of an app
   * that crashed. Errors: those of the backend's start; canceled if the app quits meanwhile.
   */
  async open(files: readonly string[]): Promise<void> {
    const instance = this.#freeInstance();
    const backend = this.#starters.makeBackend(instance, (change) => this.#starters.onState({ ...change, instance }));
    this.#backends.set(instance, backend);
    try {
      await backend.start();
      await this.#starters.openWindow(backend, files, () => void this.#end(instance, backend));
    } catch (error) {
      await this.#end(instance, backend);
      throw error;
    }
  }

  /** Stops all backends. Never rejects. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#backends].map(([instance, backend]) => this.#end(instance, backend)));
  }

  async #end(instance: string, backend: B): Promise<void> {
    await backend.stop();
    if (this.#backends.get(instance) === backend) this.#backends.delete(instance);
  }

  #freeInstance(): string {
    for (let number = 1; ; number++) if (!this.#backends.has(`window-${number}`)) return `window-${number}`;
  }
}

/** Whether a start failed because the app quits: no news for the user. */
export const isQuit = (error: unknown): boolean => error instanceof AppError && error.code === "canceled";
