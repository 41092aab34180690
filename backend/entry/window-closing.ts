/** What the user wants for the clouds of a window that closes: have them again at the next start, lose them, or stay. */
export type ClosingChoice = "keep" | "discard" | "cancel";

export interface ClosingParts {
  /** Whether the page holds work that no project has; undefined while it has not told yet. */
  readonly hasWork: () => boolean | undefined;
  /** Whether the system or a signal ends the app: nobody is there to answer. */
  readonly isEnding: () => boolean;
  readonly ask: () => Promise<ClosingChoice>;
  /** Closes the window again, after the answer. */
  readonly close: () => void;
  /** The user stays. */
  readonly stay: () => void;
}

/**
 * Closing of one window. Work that is in no project is never removed without a question: where none can be asked, it is
 * kept.
 */
export class WindowClosing {
  readonly #parts: ClosingParts;
  #answer: "keep" | "discard" | undefined;
  #isAsking = false;

  constructor(parts: ClosingParts) {
    this.#parts = parts;
  }

  /** Whether the sessions of the window that is gone stay for the next start. */
  get keepsSessions(): boolean {
    if (this.#answer !== undefined) return this.#answer === "keep";
    return this.#parts.hasWork() !== false;
  }

  /** The window is about to close: holds it back while the user is asked. */
  onClose(event: { preventDefault(): void }): void {
    const { hasWork, isEnding } = this.#parts;
    if (this.#answer !== undefined || hasWork() !== true || isEnding()) return;
    event.preventDefault();
    if (!this.#isAsking) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    const choice = await this.#parts.ask().catch(() => "cancel" as const); // the window is gone: its work is kept
    this.#isAsking = false;
    if (choice === "cancel") {
      this.#parts.stay();
      return;
    }
    this.#answer = choice;
    this.#parts.close();
  }
}
