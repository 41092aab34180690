import { stat } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import { EXPORT_FORMATS } from "../../../../../shared/contract/pointcloud.ts";
import type { ScanExportRequest } from "../../../../../shared/contract/scan-export.ts";
import { AppError } from "../../../../../shared/errors.ts";
import type { Deps } from "../../../../deps.ts";
import { type Destination, destination } from "../../../files/destination.ts";
import type { ExportFormat } from "../../../files/export-format.ts";
import { type ScanFileNames, scanFileNames } from "./file-names.ts";

/** A request that passed the checks before the run. */
export interface CheckedScanExport {
  readonly request: ScanExportRequest;
  /** Null: the format is unknown, and the export fails. */
  readonly format: ExportFormat | null;
  readonly names: ScanFileNames;
  /** By file name; null = contents in the answer. */
  readonly destinations: ReadonlyMap<string, Destination> | null;
  /** Unknown keys of the request. */
  readonly unknown_keys: readonly string[];
}

/**
 * Errors: invalid_argument for a folder that is not absolute or does not exist, for several scans without a folder and
 * for paths that exports may not write; conflict for files of the user that would be replaced.
 */
export async function checkScanExport(
  request: ScanExportRequest,
  deps: Deps,
  unknown_keys: readonly string[] = [],
): Promise<CheckedScanExport> {
  const wanted = request.write_xml ? "xyz" : request.data_format.toLowerCase();
  const format = EXPORT_FORMATS.find((name) => name === wanted) ?? null;
  const names = scanFileNames(request, `.${format ?? "xyz"}`);
  const { dest_dir } = request;
  if (!dest_dir && request.scans.length > 1) {
    throw new AppError(
      "invalid_argument",
      `${request.scans.length} scans need dest_dir, the folder for their files; only one scan can be returned in the answer`,
    );
  }
  const destinations = dest_dir && format ? await destinationsIn(dest_dir, request, { format, names }, deps) : null;
  return { request, format, names, destinations, unknown_keys };
}

async function destinationsIn(
  dest_dir: string,
  { overwrite, scans, write_xml }: ScanExportRequest,
  { format, names }: { readonly format: ExportFormat; readonly names: ScanFileNames },
  deps: Deps,
): Promise<ReadonlyMap<string, Destination>> {
  const wrong = (why: string) => new AppError("invalid_argument", `dest_dir "${dest_dir}" ${why}`);
  if (!isAbsolute(dest_dir) || dest_dir.includes("\0")) throw wrong("must be absolute, the full path of a folder");
  const folder = await stat(dest_dir).catch(() => undefined);
  if (!folder?.isDirectory()) throw wrong("is not an existing folder; create it first");
  const found = new Map<string, Destination>();
  const add = async (name: string, kind: string) => {
    const wish = { dest_path: join(normalize(dest_dir), name), overwrite, format: kind, extensions: [`.${kind}`] };
    found.set(name, await destination(wish, deps));
  };
  if (names.xml) await add(names.xml, "xml");
  for (const [i, name] of names.data.entries()) {
    await add(name, format);
    const path = names.trajectory[i];
    if (write_xml && path && scans[i]?.scan_pattern === "spinning_multibeam") await add(path, "csv");
  }
  return found;
}
