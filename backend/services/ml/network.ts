import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../shared/errors.ts";
import {
  MAX_NETWORK_BYTES,
  MAX_NETWORK_STDERR_CHARS,
  NETWORK_CROP_TIMEOUT_MS,
  NETWORK_LOAD_TIMEOUT_MS,
  NETWORK_WATCH_MS,
} from "../../../shared/limits.ts";
import { encodeFrame, FrameReader, type NetworkFrame, type Tensor } from "./tensor-frames.ts";

const ENTRY = "compute-worker.js";

/** Why the optional runtime is not used, for people. */
export const NO_RUNTIME =
  "The optional package onnxruntime-node is not installed, so networks cannot run; the other methods need none of it.";

/** Limits of the process of a network; tests lower them. */
export interface NetworkLimits {
  readonly max_bytes: number;
  readonly load_ms: number;
  readonly crop_ms: number;
}

export const NETWORK_LIMITS: NetworkLimits = {
  max_bytes: MAX_NETWORK_BYTES,
  load_ms: NETWORK_LOAD_TIMEOUT_MS,
  crop_ms: NETWORK_CROP_TIMEOUT_MS,
};

interface Waiting {
  resolve(frame: NetworkFrame): void;
  reject(error: Error): void;
}

/**
 * A process that runs networks. Whatever happens to it is an error of the call in progress: `canceled` after an abort of
 * the signal, which kills it at once, else `internal` with what it said last. It never outlives this process.
 */
export class NetworkProcess {
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal;
  readonly #kill = () => void this.#child.kill("SIGKILL");
  readonly #gone: Promise<void>;
  #waiting: Waiting | undefined;
  #ended: AppError | undefined;
  #said = "";

  constructor(
    signal: AbortSignal,
    readonly limits: NetworkLimits = NETWORK_LIMITS,
    entry: string = entryPath(),
  ) {
    const args = [entry, `${limits.max_bytes}`, `${NETWORK_WATCH_MS}`];
    this.#child = spawn(process.execPath, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ELECTRON_RUN_AS_NODE: "1", APP_AUTH_TOKEN: "", NODE_OPTIONS: "" },
      windowsHide: true,
    });
    this.#signal = signal;
    if (signal.aborted) this.#kill();
    signal.addEventListener("abort", this.#kill);
    const reader = new FrameReader();
    const { stdin, stdout, stderr } = this.#child as ChildProcess & {
      stdin: Writable;
      stdout: Readable;
      stderr: Readable;
    };
    stdout.on("data", (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) this.#settle((waiting) => waiting.resolve(frame));
      } catch (error) {
        this.#end(`sent what is no message (${(error as Error).message})`);
      }
    });
    stderr.on("data", (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString("utf8")).slice(-MAX_NETWORK_STDERR_CHARS);
    });
    stdin.on("error", () => undefined); // the end of the process says why
    this.#gone = new Promise((resolve) => {
      this.#child.on("error", (error) => {
        this.#end(`could not be started: ${error.message}`);
        resolve();
      });
      this.#child.on("close", (code, by) => {
        this.#end(`ended early (${by ?? `exit code ${code}`})`);
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What the process finds to run networks on. Errors: unsupported without the runtime, else as the class says. */
  async probe(device: "cpu" | "auto"): Promise<Readonly<Record<string, unknown>>> {
    const { fields } = await this.#ask({ kind: "probe", fields: { device }, tensors: [] }, this.limits.load_ms);
    return fields;
  }

  /** Loads a network and answers the names of its inputs and outputs. Errors: invalid_file if the runtime refuses it. */
  async load(model: Uint8Array, provider: string, threads: number): Promise<void> {
    const data = model.slice().buffer as ArrayBuffer;
    const tensors: Tensor[] = [{ name: "model", type: "uint8", dims: [model.length], data }];
    await this.#ask({ kind: "load", fields: { provider, threads }, tensors }, this.limits.load_ms);
  }

  /** Runs the loaded network once and answers its logits. Errors: invalid_file if the runtime refuses the inputs. */
  async run(inputs: readonly Tensor[]): Promise<Tensor> {
    const { tensors } = await this.#ask({ kind: "run", fields: {}, tensors: inputs }, this.limits.crop_ms);
    const logits = tensors.find(({ name }) => name === "logits");
    if (!logits) throw new AppError("invalid_file", "the network has no output named logits");
    return logits;
  }

  /** Ends the process and waits until it is gone. Idempotent. */
  async close(): Promise<void> {
    this.#signal.removeEventListener("abort", this.#kill);
    this.#kill();
    await this.#gone;
  }

  #ask(frame: NetworkFrame, timeoutMs: number): Promise<NetworkFrame> {
    if (this.#ended) return Promise.reject(this.#ended);
    const { stdin } = this.#child;
    const answered = new Promise<NetworkFrame>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      for (const part of encodeFrame(frame)) stdin?.write(part);
    });
    const timer = setTimeout(() => this.#end(`did not answer within ${timeoutMs / 1000} s`), timeoutMs);
    return answered.then(checked).finally(() => clearTimeout(timer));
  }

  #settle(act: (waiting: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) act(waiting);
  }

  #end(how: string): void {
    const said = this.#said.trim().split("\n").at(-1) ?? "";
    this.#ended ??= this.#signal.aborted
      ? new AppError("canceled", "canceled")
      : new AppError("internal", `the process that runs the network ${how}${said === "" ? "" : `: ${said}`}`);
    this.#kill();
    this.#settle((waiting) => waiting.reject(this.#ended as AppError));
  }
}

/** Errors: what an answer of kind `error` says. */
function checked(answer: NetworkFrame): NetworkFrame {
  if (answer.kind !== "error") return answer;
  const { message, code } = answer.fields;
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") throw new AppError("unsupported", NO_RUNTIME);
  if (code === "ERR_DLOPEN_FAILED")
    throw new AppError("unsupported", `ONNX Runtime does not run on this machine (${String(message)})`);
  throw new AppError("invalid_file", `ONNX Runtime refuses the network: ${String(message)}`);
}

/** The bundle of the process, beside this one's, or in dist/ for code run from source. */
function entryPath(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    for (const path of [join(folder, ENTRY), join(folder, "dist", "backend", "entry", ENTRY)])
      if (existsSync(path)) return path;
    if (dirname(folder) === folder) throw new AppError("internal", `${ENTRY} is missing; run "npm run build:ts"`);
  }
}

/** Runs `body` with a process that is gone when it settles. */
export async function withNetwork<T>(
  signal: AbortSignal,
  body: (network: NetworkProcess) => Promise<T>,
  limits: NetworkLimits = NETWORK_LIMITS,
): Promise<T> {
  const network = new NetworkProcess(signal, limits);
  try {
    return await body(network);
  } finally {
    await network.close();
  }
}
