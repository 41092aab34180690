import { writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import {
  loadRuntime,
  openSession,
  plainTensor,
  type Runtime,
  type RuntimeSession,
  runtimeTensor,
} from "../services/ml/onnx-runtime.ts";
import { PROBE_MODEL } from "../services/ml/probe-model.ts";
import { encodeFrame, FrameReader, type NetworkFrame, type Tensor } from "../services/ml/tensor-frames.ts";

/**
 * Runs networks for the service, which ends it by a signal: nothing in here can be asked to stop. Messages arrive on
 * stdin and leave on stdout. It also ends when stdin closes, when its parent is gone and when it needs too much memory;
 * a thread of its own watches, because a network holds the main one.
 */
interface Watch {
  readonly parent: number;
  readonly max_bytes: number;
  readonly every_ms: number;
}

if (isMainThread) serve();
else watch(workerData as Watch);

function watch({ parent, max_bytes, every_ms }: Watch): void {
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
    if (process.memoryUsage.rss() <= max_bytes) return;
    writeSync(2, `it needs more than ${Math.round(max_bytes / 2 ** 20)} MiB of memory\n`);
    process.kill(process.pid, "SIGKILL");
  }, every_ms);
}

function serve(): void {
  const [, , maxBytes, everyMs] = process.argv;
  const given: Watch = { parent: process.ppid, max_bytes: Number(maxBytes), every_ms: Number(everyMs) };
  new Worker(fileURLToPath(import.meta.url), { workerData: given }).unref();
  const reader = new FrameReader();
  let queue = Promise.resolve();
  process.stdin.on("data", (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) queue = queue.then(() => reply(frame));
  });
  process.stdin.on("end", () => process.exit(0));
  process.stdout.on("error", () => process.exit(0));
}

let runtime: Promise<Runtime> | undefined;
let session: RuntimeSession | undefined;

async function reply(frame: NetworkFrame): Promise<void> {
  let answer: NetworkFrame;
  try {
    runtime ??= loadRuntime();
    answer = await answerTo(frame, await runtime);
  } catch (error) {
    const { message = String(error), code } = error as NodeJS.ErrnoException;
    answer = { kind: "error", fields: { message, code: code ?? null }, tensors: [] };
  }
  for (const part of encodeFrame(answer)) process.stdout.write(part);
}

async function answerTo({ kind, fields, tensors }: NetworkFrame, ort: Runtime): Promise<NetworkFrame> {
  if (kind === "probe") return { kind: "probed", fields: await probe(ort, String(fields.device)), tensors: [] };
  if (kind === "load") {
    const [model] = tensors;
    if (!model) throw new Error("no model came with the message");
    session = await openSession(ort, new Uint8Array(model.data), String(fields.provider), Number(fields.threads));
    return { kind: "loaded", fields: { inputs: session.inputNames, outputs: session.outputNames }, tensors: [] };
  }
  if (!session) throw new Error("no model is loaded");
  return { kind: "result", fields: {}, tensors: await run(ort, session, tensors) };
}

async function run(ort: Runtime, loaded: RuntimeSession, tensors: readonly Tensor[]): Promise<Tensor[]> {
  const feeds = Object.fromEntries(tensors.map((tensor) => [tensor.name, runtimeTensor(ort, tensor)]));
  const results = await loaded.run(feeds);
  return Object.entries(results).map(([name, tensor]) => plainTensor(name, tensor));
}

/** Runs a tiny network on each device that may be used, the best first. */
async function probe(ort: Runtime, setting: string): Promise<Record<string, unknown>> {
  const listed = ort.listSupportedBackends().map(({ name }) => name);
  const wanted = setting === "cpu" ? ["cpu"] : ["cuda", "cpu"];
  const failures: string[] = [];
  for (const provider of wanted) {
    try {
      if (!listed.includes(provider)) throw new Error("not part of this runtime");
      const tried = await openSession(ort, PROBE_MODEL, provider, 1);
      const answer = await tried.run({ features: new ort.Tensor("float32", new Float32Array([2]), [1, 1]) });
      const [logits] = Object.entries(answer).map(([name, tensor]) => plainTensor(name, tensor));
      if (!logits || new Float32Array(logits.data)[0] !== 2) throw new Error("it computes wrongly");
      return { provider, failures, version: ort.env.versions.node ?? "unknown" };
    } catch (error) {
      failures.push(`${provider}: ${(error as Error).message.split("\n")[0]}`);
    }
  }
  return { provider: null, failures, version: ort.env.versions.node ?? "unknown" };
}
