import type { ModelPackage } from "../../../shared/contract/ml.ts";
import { AppError } from "../../../shared/errors.ts";
import { possibleInputs } from "./graph-check.ts";
import { type NetworkLimits, withNetwork } from "./network.ts";
import type { Tensor } from "./tensor-frames.ts";

/** Sizes of two generated crops, so that a graph which fixes one is noticed. */
const TRIAL_ROWS = [512, 700] as const;

/**
 * Runs a network on generated crops, in a process of its own. Errors: invalid_file if its answers are not finite or of
 * another shape than model.json says, or differ from run to run; those of NetworkProcess.
 */
export async function tryNetwork(
  bytes: Uint8Array,
  model: ModelPackage,
  inputs: readonly string[],
  signal: AbortSignal,
  limits?: NetworkLimits,
): Promise<void> {
  await withNetwork(
    signal,
    async (network) => {
      await network.load(bytes, "cpu", 1);
      for (const rows of TRIAL_ROWS) {
        const crop = generatedCrop(model, rows).filter(({ name }) => inputs.includes(name));
        const first = logitsOf(await network.run(crop), rows, model);
        const second = logitsOf(await network.run(crop), rows, model);
        if (!first.every((value, at) => value === second[at]))
          throw new AppError("invalid_file", "model.onnx gives other values at each run");
      }
    },
    limits,
  );
}

/** The values of an answer. Errors: invalid_file for another shape or type, and values that are not finite. */
export function logitsOf({ type, dims, data }: Tensor, rows: number, { hparams }: ModelPackage): Float32Array {
  const wanted = [rows, hparams.num_classes];
  if (type !== "float32" || dims.length !== 2 || dims.some((length, at) => length !== wanted[at]))
    throw new AppError("invalid_file", `the network answers ${type} [${dims.join(", ")}] for [${wanted.join(", ")}]`);
  const logits = new Float32Array(data);
  if (logits.length !== rows * hparams.num_classes)
    throw new AppError("invalid_file", "the network answers too little");
  if (!logits.every(Number.isFinite))
    throw new AppError("invalid_file", "the network answers values that are not finite");
  return logits;
}

/** A crop of random numbers with valid rows; each level has about a quarter of the rows of the one below. */
export function generatedCrop(model: ModelPackage, rows: number): Tensor[] {
  const { levels } = model.hierarchy;
  const sizes = Array.from({ length: levels }, (_, level) => Math.max(1, Math.ceil(rows / 4 ** level)));
  let state = 1;
  const next = () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
  return possibleInputs(model).map(({ name, dims: [, width = 1] }) => {
    const [kind = "", at = "0"] = name.split("_");
    const [own = rows, above = 1] = sizes.slice(Number(at));
    const columns = width ?? 1;
    const count = own * columns;
    const dims = kind === "parent" ? [own] : [own, columns];
    if (kind === "features" || kind === "positions")
      return { name, type: "float32", dims, data: Float32Array.from({ length: count }, () => 2 * next() - 1).buffer };
    const among = kind === "parent" ? above : own;
    const row = (at_: number) =>
      kind === "neighbors" && at_ % columns === 0 ? at_ / columns : Math.floor(next() * among);
    return { name, type: "int64", dims, data: BigInt64Array.from({ length: count }, (_, i) => BigInt(row(i))).buffer };
  });
}
