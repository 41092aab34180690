import { extname } from "node:path";
import type { FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { stalledBody } from "./body-chunks.ts";
import { abortable, watchProgress } from "./upload.ts";

/** A multipart form with one small file. */
export interface SmallForm {
  readonly file: { readonly name: string; readonly extension: string; readonly bytes: Buffer };
  /** Text of the other parts. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface SmallFormRules {
  /** Lower case, with dot. */
  readonly extensions: readonly string[];
  readonly most_bytes: number;
  readonly stall_s: number;
}

/**
 * Reads a form with one part `file` into memory; parts may come in any order. Errors: invalid_argument if the file is
 * missing, has another extension or is too large, or a part comes twice; timeout if no byte arrives for `stall_s`.
 */
export async function receiveSmallForm(request: FastifyRequest, rules: SmallFormRules): Promise<SmallForm> {
  if (!request.isMultipart()) {
    const type = request.headers["content-type"] ?? "no content type";
    throw new AppError("invalid_argument", `send a multipart form with a part named "file", not ${type}`);
  }
  const stall = new AbortController();
  const watch = watchProgress(request.raw, rules.stall_s, () => stall.abort(stalledBody(rules.stall_s)));
  try {
    return await abortable(readParts(request, rules), stall.signal);
  } finally {
    clearInterval(watch);
  }
}

async function readParts(request: FastifyRequest, rules: SmallFormRules): Promise<SmallForm> {
  const fields: Record<string, string> = Object.create(null);
  let file: SmallForm["file"] | undefined;
  let refused: AppError | undefined;
  const limits = { fileSize: rules.most_bytes, files: 2 }; // the second one is read, so that the refusal names it
  for await (const part of request.parts({ limits })) {
    const isRepeated = part.fieldname in fields || (part.type === "file" && file !== undefined);
    if (isRepeated) refused ??= new AppError("invalid_argument", `the form has the part "${part.fieldname}" twice`);
    if (part.type === "field") {
      fields[part.fieldname] = String(part.value);
      continue;
    }
    const extension = extname(part.filename).toLowerCase();
    if (part.fieldname !== "file" || !rules.extensions.includes(extension)) {
      refused ??= wrongPart(part.fieldname, part.filename, rules.extensions);
      part.file.resume(); // the form is read to its end, so that the answer arrives
      continue;
    }
    const bytes = await part.toBuffer().catch((error: unknown) => Promise.reject(sized(error, part.filename, rules)));
    file = { name: part.filename, extension, bytes };
  }
  if (refused) throw refused;
  if (!file) throw new AppError("invalid_argument", 'the form needs a part named "file"');
  return { file, fields };
}

const wrongPart = (field: string, filename: string, extensions: readonly string[]) =>
  new AppError(
    "invalid_argument",
    field === "file"
      ? `"${filename}": only ${extensions.join(", ")} files can be sent here`
      : `the form has a file in its part "${field}"; the part must be named "file"`,
  );

/** The error of a file above the limit as a sentence about it. */
const sized = (error: unknown, filename: string, { most_bytes }: SmallFormRules): unknown =>
  (error as { code?: unknown }).code === "FST_REQ_FILE_TOO_LARGE"
    ? new AppError("invalid_argument", `"${filename}" is larger than ${most_bytes} bytes, the limit of a table here`)
    : error;
