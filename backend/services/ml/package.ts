import { constants, open } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { MODEL_FORMAT, ModelPackage } from "../../../shared/contract/ml.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MODEL_BYTES, MAX_MODEL_JSON_BYTES, MAX_MODEL_JSON_DEPTH, MIB } from "../../../shared/limits.ts";
import { checkGraph } from "./graph-check.ts";
import { readOnnx } from "./onnx-graph.ts";

export const MODEL_JSON = "model.json";
export const MODEL_ONNX = "model.onnx";

/** A package that can be run, as far as it can be told without running it. */
export interface ReadPackage {
  readonly model: ModelPackage;
  /** Names of the graph's inputs. */
  readonly inputs: readonly string[];
  readonly json: Uint8Array;
  readonly onnx: Uint8Array;
}

/** Reads and checks a package. Errors: invalid_file with the first problem; not_found if the folder has no model.json. */
export async function readPackage(folder: string): Promise<ReadPackage> {
  const json = await readLimited(folder, MODEL_JSON, MAX_MODEL_JSON_BYTES);
  const model = parseModel(json);
  const onnx = await readLimited(folder, MODEL_ONNX, MAX_MODEL_BYTES);
  return { model, inputs: checkGraph(readOnnx(onnx), model), json, onnx };
}

/** The content of a model.json. Errors: invalid_file. */
export function parseModel(bytes: Uint8Array): ModelPackage {
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new AppError("invalid_file", `${MODEL_JSON} is not JSON: ${(error as Error).message}`);
  }
  if ((content as { format?: unknown } | null)?.format !== MODEL_FORMAT)
    throw new AppError("invalid_file", `${MODEL_JSON} is not of a model package: its format is not "${MODEL_FORMAT}"`);
  if (!isShallow(content, MAX_MODEL_JSON_DEPTH))
    throw new AppError("invalid_file", `${MODEL_JSON} is nested more than ${MAX_MODEL_JSON_DEPTH} deep`);
  const parsed = ModelPackage.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new AppError("invalid_file", `${MODEL_JSON}: ${sentence(parsed.error.issues[0])}`);
}

/** Whether lists and objects stand in at most `depth` others: parts of the content are answered, which a deep one would prevent. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isShallow(part, depth - 1));
}

function sentence(issue: z.core.$ZodIssue | undefined): string {
  if (!issue) return "invalid";
  return `${issue.path.join(".") || "the content"}: ${issue.message}`.slice(0, 500);
}

/** A regular file of limited size; opening waits for no other process. */
async function readLimited(folder: string, name: string, limit: number): Promise<Uint8Array> {
  const path = join(folder, name);
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    const missing = error.code === "ENOENT" || error.code === "ENOTDIR";
    throw new AppError("invalid_file", missing ? `${name} is missing in ${folder}` : `${name}: ${error.message}`);
  });
  try {
    const info = await file.stat();
    if (!info.isFile()) throw new AppError("invalid_file", `${name} is not a regular file`);
    const tooLarge = () => new AppError("invalid_file", `${name} is larger than ${limit / MIB} MiB`);
    if (info.size > limit) throw tooLarge();
    const bytes = Buffer.alloc(info.size + 1); // one more, to see whether it grows
    let filled = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled);
      filled += bytesRead;
      if (filled > info.size) throw new AppError("invalid_file", `${name} changed while it was read`);
      if (bytesRead === 0) return new Uint8Array(bytes.buffer, bytes.byteOffset, filled);
    }
  } finally {
    await file.close();
  }
}
