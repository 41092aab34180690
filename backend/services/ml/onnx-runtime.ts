import type { Tensor, TensorType } from "./tensor-frames.ts";

/** The optional package; its types are here, so that the product compiles without it. */
const PACKAGE = "onnxruntime-node";

interface RuntimeTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: ArrayBufferView;
}

export interface RuntimeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, RuntimeTensor>): Promise<Record<string, RuntimeTensor>>;
}

export interface Runtime {
  readonly env: { readonly versions: { readonly node?: string }; logLevel: string };
  readonly InferenceSession: { create(model: Uint8Array, options: object): Promise<RuntimeSession> };
  readonly Tensor: new (type: string, data: ArrayBufferView, dims: readonly number[]) => RuntimeTensor;
  listSupportedBackends(): readonly { readonly name: string; readonly bundled: boolean }[];
}

/** Loads the package. Throws what the loader throws if it is not installed or does not run here. */
export async function loadRuntime(): Promise<Runtime> {
  const loaded = (await import(PACKAGE)) as { default?: Runtime } & Runtime;
  const runtime = loaded.default ?? loaded;
  runtime.env.logLevel = "error";
  return runtime;
}

/**
 * A session on one device, with memory taken when needed: an arena takes blocks that end a process of Electron. Bytes are
 * read as ONNX alone: the runtime would take those that begin as a file of its own format for one, which nobody checked.
 */
export function openSession(runtime: Runtime, model: Uint8Array, provider: string, threads: number) {
  return runtime.InferenceSession.create(model, {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
    enableCpuMemArena: false,
    enableMemPattern: false,
    logSeverityLevel: 3,
    extra: { session: { load_model_format: "ONNX", intra_op: { allow_spinning: "0" } } },
  });
}

const VIEWS = { float32: Float32Array, int64: BigInt64Array, uint8: Uint8Array } as const;

export function runtimeTensor(runtime: Runtime, { type, dims, data }: Tensor): RuntimeTensor {
  return new runtime.Tensor(type, new VIEWS[type](data), dims);
}

/** A tensor of the runtime with its own memory. */
export function plainTensor(name: string, { type, dims, data }: RuntimeTensor): Tensor {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { name, type: type as TensorType, dims: [...dims], data: bytes.slice().buffer as ArrayBuffer };
}
