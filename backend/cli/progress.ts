import { Presets, SingleBar } from "cli-progress";

/** An output stream for text, such as process.stderr and process.stdout. */
export interface TextStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Text from outside without control characters, so that no escape sequence reaches the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
}

/** Before these, the speed of a stage is not known. */
const LEAST_ELAPSED_S = 2;
const LEAST_FRACTION = 0.05;

/** Shows the stages of a run: as progress bars on a terminal, as plain lines elsewhere. */
export class Progress {
  readonly #stream: TextStream;
  #bar: SingleBar | undefined;
  #started = 0;
  #fraction = 0;

  constructor(stream: TextStream) {
    this.#stream = stream;
  }

  /** Begins a stage and completes the previous one. */
  stage(title: string): void {
    this.#end(true);
    this.#started = performance.now();
    this.#fraction = 0;
    if (!this.#stream.isTTY) {
      this.#stream.write(`${title}\n`);
      return;
    }
    this.#bar = new SingleBar(
      {
        format: "{title} {bar} {percentage} %  {message}",
        stream: this.#stream as NodeJS.WriteStream,
        barsize: 30,
        hideCursor: true,
        stopOnComplete: false,
        // The handler of the library would end the process on Ctrl-C before the run is canceled.
        gracefulExit: false,
      },
      Presets.shades_classic,
    );
    this.#bar.start(100, 0, { title: title.padEnd(18), message: "" });
  }

  /** `fraction` 0..1; null = unknown, the bar does not move. Never decreases. */
  update(fraction: number | null, message = ""): void {
    if (fraction !== null) this.#fraction = Math.max(this.#fraction, Math.min(1, fraction));
    const text = [this.#remaining(), printable(message)].filter((part) => part !== "").join(", ");
    this.#bar?.update(Math.floor(100 * this.#fraction), { message: text.slice(0, 60) });
  }

  /** The time that the rest of the stage takes if it goes on like this; empty where that is a guess. */
  #remaining(): string {
    const elapsed_s = (performance.now() - this.#started) / 1000;
    if (elapsed_s < LEAST_ELAPSED_S || this.#fraction < LEAST_FRACTION || this.#fraction >= 1) return "";
    const left_s = (elapsed_s * (1 - this.#fraction)) / this.#fraction;
    return left_s < 90 ? `${Math.ceil(left_s)} s left` : `${Math.ceil(left_s / 60)} min left`;
  }

  /** Ends the last stage. */
  done(): void {
    this.#end(true);
  }

  /** Ends the last stage without completing its bar. */
  stop(): void {
    this.#end(false);
  }

  #end(isDone: boolean): void {
    if (this.#bar) {
      const seconds = ((performance.now() - this.#started) / 1000).toFixed(1);
      this.#bar.update(isDone ? 100 : Math.floor(100 * this.#fraction), { message: isDone ? `${seconds} s` : "" });
      this.#bar.stop();
    }
    this.#bar = undefined;
  }
}
