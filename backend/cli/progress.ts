import { Presets, SingleBar } from "cli-progress";

/** A stream text goes to; process.stderr and process.stdout are such. */
export interface TextStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Text from outside as one line without control characters: no escape sequence reaches the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
}

/** Shows the stages of a run: a bar each on a terminal, a plain line each elsewhere. */
export class Progress {
  readonly #stream: TextStream;
  #bar: SingleBar | undefined;
  #started = 0;
  #fraction = 0;

  constructor(stream: TextStream) {
    this.#stream = stream;
  }

  /** Begins a stage; the one before it counts as done. */
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
        // Its handler would end the process on Ctrl-C before the run has been canceled.
        gracefulExit: false,
      },
      Presets.shades_classic,
    );
    this.#bar.start(100, 0, { title: title.padEnd(18), message: "" });
  }

  /** `fraction` 0..1, null = cannot tell: the bar keeps its place. Never goes backwards. */
  update(fraction: number | null, message = ""): void {
    if (fraction !== null) this.#fraction = Math.max(this.#fraction, Math.min(1, fraction));
    this.#bar?.update(Math.floor(100 * this.#fraction), { message: printable(message).slice(0, 40) });
  }

  /** Ends the last stage. */
  done(): void {
    this.#end(true);
  }

  /** Leaves the bar where it stands. */
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
