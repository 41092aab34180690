import { readFile } from "node:fs/promises";
import { basename, join, parse } from "node:path";
import type { ExportRequest, ExportTail } from "../../../../shared/contract/pointcloud.ts";
import { AppError, type ErrorCode } from "../../../../shared/errors.ts";
import { MAX_INLINE_EXPORT_BYTES, MAX_PTX_CELLS } from "../../../../shared/limits.ts";
import { Base64Bytes } from "../../../../shared/wire/json-values.ts";
import type { Deps } from "../../../deps.ts";
import { remove } from "../../../file-moves.ts";
import type { Job } from "../../../jobs/job.ts";
import { fromNative } from "../../../jobs/native-error.ts";
import type { CloudSession } from "../../../sessions/cloud-session.ts";
import { makeTemporaryFolder } from "../../../sessions/temporary-folder.ts";
import { type Destination, destination } from "../../files/destination.ts";
import { checkRaster, type ExportFormat, exportFormat, statesSystem } from "../../files/export-format.ts";
import { type ExportView, writePoints } from "../../files/writers.ts";
import { sourceSession, sourceTranslation } from "../../run/points.ts";
import { unknownKeyWarnings } from "../../run/unknown-keys.ts";
import { type CoordinateSystem, systemOf } from "./system.ts";
import { inlineView, sessionView } from "./view.ts";

/** A request that passed the checks before the run. */
export interface CheckedExport {
  readonly request: ExportRequest;
  readonly format: ExportFormat;
  /** Null = base64 in the answer. */
  readonly dest: Destination | null;
  readonly filename: string;
  readonly session: CloudSession | null;
  /** Coordinate system that the file states; null = that of the session. */
  readonly system: CoordinateSystem | null;
  /** Unknown keys of the request. */
  readonly unknown_keys: readonly string[];
}

/** The tail, with the contents of the file as bytes. */
type WrittenTail = Omit<ExportTail, "data"> & { readonly data: Base64Bytes | null };

/** Errors: invalid_argument (format, path, source, columns), unsupported, not_found. */
export async function checkExportRequest(
  request: ExportRequest,
  deps: Deps,
  unknown_keys: readonly string[] = [],
): Promise<CheckedExport> {
  const format = exportFormat(request.format);
  const { dest_path, overwrite } = request;
  const wish = dest_path ? { dest_path, overwrite, format, extensions: [`.${format}`] } : null;
  const dest = wish && (await destination(wish, deps));
  const session = request.source ? await sourceSession(request.source, deps) : null;
  if (request.source) sourceTranslation(request.source);
  checkRaster(format, session?.state.meta.extra_dims_meta.map(({ slug }) => slug) ?? null);
  const { points, colors } = request;
  if (!request.source && points && colors && colors.length !== points.length) {
    throw new AppError(
      "invalid_argument",
      `colors has ${colors.length} rows, points has ${points.length}; give one colour per point`,
    );
  }
  const system = session && statesSystem(format) ? await systemOf(request.system_of ?? null, deps) : null;
  return {
    request,
    format,
    dest,
    system,
    filename: fileName(request.filename, format, dest?.path ?? null),
    session,
    unknown_keys,
  };
}

/** Writes the file under a temporary name and renames it. A failure or cancel leaves no file. */
export async function exportCloud(checked: CheckedExport, deps: Deps, job: Job): Promise<WrittenTail> {
  const { session, system } = checked;
  if (session) {
    return session.read(job, async (own) => {
      const state = system ? { ...own, meta: { ...own.meta, ...system } } : own;
      return writeExport(checked, await sessionView(state, checked.request, checked.format, job.quiet()), deps, job);
    });
  }
  return writeExport(checked, await inlineView(checked.request, checked.format, job), deps, job);
}

/** How this export differs from that of scans. */
const PLAIN = { layout: "cloud", sweep: null, max_cells: MAX_PTX_CELLS } as const;

async function writeExport(checked: CheckedExport, view: ExportView, deps: Deps, job: Job): Promise<WrittenTail> {
  const { format, dest, filename, request } = checked;
  if (view.point_count === 0) return failure(checked, "invalid_argument", "No points provided");
  const own = dest ? null : await makeTemporaryFolder("export");
  const temporary = dest?.temporary ?? join(own ?? "", `points.${format}`);
  const removed = await dest?.begin();
  try {
    job.stage("Writing points", 0.05, 0.95, [
      { name: "Computing bounds", weight: 1 },
      { name: "Writing points", weight: 9 },
      { name: "Formatting points", weight: 9 },
    ]);
    const written = await writePoints(view, { ...PLAIN, format, path: temporary, name: parse(filename).name }, job);
    const data = dest ? null : await inlineFile(temporary, written.bytes, job.signal);
    job.stage("Finalizing", 1, 1);
    job.checkpoint(); // the last cancel point
    await dest?.replace();
    deps.logger.debug({ format, points: written.point_count, bytes: written.bytes }, "cloud exported");
    const warnings = [...unknownKeyWarnings(checked.unknown_keys), ...view.warnings, ...written.warnings];
    return {
      success: true,
      data,
      filename,
      point_count: written.point_count,
      has_colors: view.input.colors !== null,
      format: request.format,
      error: null,
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return failure(checked, code, `Export failed: ${message}`);
  } finally {
    await removed?.();
    if (own) await remove(own);
  }
}

/** Names ignored keys too: a misspelt one may be the reason. */
function failure({ request, unknown_keys }: CheckedExport, code: ErrorCode, error: string): WrittenTail {
  const warnings = unknownKeyWarnings(unknown_keys);
  return {
    success: false,
    data: null,
    filename: "",
    point_count: 0,
    has_colors: false,
    format: request.format,
    error,
    code,
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

async function inlineFile(path: string, bytes: number, signal: AbortSignal): Promise<Base64Bytes> {
  if (bytes > MAX_INLINE_EXPORT_BYTES) {
    throw new AppError(
      "invalid_argument",
      `${bytes} bytes do not fit into an answer (limit ${MAX_INLINE_EXPORT_BYTES}); send dest_path to write a file`,
    );
  }
  return new Base64Bytes(await readFile(path, { signal }));
}

/** File name for the answer: that of the destination, else the requested one with the extension of the format. */
function fileName(asked: string | null | undefined, format: ExportFormat, dest: string | null): string {
  if (dest) return basename(dest);
  const name = basename((asked ?? "").replaceAll("\\", "/")) || "pointcloud";
  const stem = name.toLowerCase().endsWith(`.${format}`)
    ? name.slice(0, -format.length - 1)
    : name.replace(/\.[A-Za-z0-9]{1,4}$/, "");
  return `${stem || "pointcloud"}.${format}`;
}
