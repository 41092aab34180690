// Runs the steps of a setup behind one line of progress. What they print goes to a file, which is named on a failure.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const TICK_MS = 1000;
/** Lines of its output that the error of a failed step shows. */
const SHOWN_LINES = 12;

/** `stream`: where the line goes; a terminal gets it rewritten in place, anything else one line per setup. */
export class QuietSteps {
  #log;
  #stream;
  #started = Date.now();
  #title = "";
  #count = 0;
  #detail = "";
  #timer;

  constructor(logPath, stream = process.stderr) {
    this.path = logPath;
    mkdirSync(dirname(logPath), { recursive: true });
    this.#log = openSync(logPath, "w");
    this.#stream = stream;
  }

  /** Runs a program; rejects when it fails. `detailOf` reads a short progress text from its output. */
  async run(title, command, args, { detailOf = () => "", ...options } = {}) {
    this.begin(title);
    writeSync(this.#log, `\n== ${title}: ${command} ${args.join(" ")}\n`);
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let last = "";
    const read = (chunk) => {
      writeSync(this.#log, chunk);
      last = (last + chunk).slice(-8000);
      this.#detail = detailOf(chunk.toString()) || this.#detail;
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    const code = await new Promise((resolve) => {
      child.on("close", resolve);
      child.on("error", (error) => {
        read(`${error.message}\n`);
        resolve(-1);
      });
    });
    if (code === 0) return;
    const shown = last.split("\n").filter((line) => line.trim() !== "");
    throw new Error([`${title} failed (${command}, exit code ${code}):`, ...shown.slice(-SHOWN_LINES)].join("\n  "));
  }

  begin(title) {
    this.#count += 1;
    this.#title = title;
    this.#detail = "";
    if (!this.#stream.isTTY) {
      if (this.#count === 1) this.#stream.write(`Setting up (once, some minutes); log: ${this.path}\n`);
      return;
    }
    this.#show();
    this.#timer ??= setInterval(() => this.#show(), TICK_MS);
  }

  #show() {
    const seconds = Math.round((Date.now() - this.#started) / 1000);
    const text = `Setting up: ${[this.#title, this.#detail].join(" ").trim()} (${seconds} s)`;
    this.#stream.write(`\r\x1b[2K${text.slice(0, (this.#stream.columns ?? 80) - 1)}`);
  }

  /** Takes the line away. */
  done() {
    clearInterval(this.#timer);
    if (this.#stream.isTTY && this.#count > 0) this.#stream.write("\r\x1b[2K");
    closeSync(this.#log);
  }
}
