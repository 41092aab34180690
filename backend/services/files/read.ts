import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/files/readers.ts";
import type { Triple } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import {
  adoptTable,
  BYTE_COLORS,
  counts,
  type ReadRequest,
  type RoledColumn,
  type SourceCloud,
} from "./source-cloud.ts";
import { systemOfUnits, unitOfFile } from "./stated-unit.ts";
import { readTextCloud } from "./text/read.ts";

/** Reads a file of any format. Errors, naming the file and position: invalid_file, invalid_argument, unsupported. */
export function readCloud(request: ReadRequest, job: Job): Promise<SourceCloud> {
  switch (request.kind) {
    case "las":
      return readLasCloud(request, job);
    case "ply":
      return readPlyCloud(request, job);
    case "pcd":
      return readPcdCloud(request, job);
    case "ascii":
      return readTextCloud(request, job);
    case "e57":
    case "ptx":
      return readScanCloud(request.kind, request, job);
  }
}

async function readLasCloud({ path, frame }: ReadRequest, job: Job): Promise<SourceCloud> {
  const params = { frame, first_row: 0, row_count: null, skip_columns: [] };
  const cloud = await job.track(() => native.readLas(path, params));
  const { positions, columns, unit_colors } = adoptTable(cloud, job);
  const { header } = cloud;
  const metres = ([x, y, z]: Triple): Triple => [x * frame.unit_scale, y * frame.unit_scale, z * frame.unit_scale];
  return {
    kind: "las",
    positions,
    columns: columns.map(({ name, description, extra, column }, i) => {
      const label = extra && description !== "" ? description : name;
      const record = header.dimensions[i]?.record ?? null; // one per column
      return { name, label, role: extra ? null : `las:${name}`, slug: null, record, column };
    }),
    rgb_scale: "byte",
    color_full: 65535,
    unit_colors,
    scan_origin: null,
    ...ONE_SCAN,
    crs: header.crs,
    gps_time_encoding: header.gps_time_encoding === "" ? null : header.gps_time_encoding,
    scale_m: metres(header.scale),
    offset_m: metres(header.offset),
    nonfinite_dropped: cloud.nonfinite_dropped,
    malformed_dropped: cloud.malformed_dropped,
    warnings: [...header.warnings, ...header.crs.warnings, ...cloud.warnings, ...waveformWarning(header)],
  };
}

/** Point formats with wave packets. */
const WAVEFORMS: readonly number[] = [4, 5, 9, 10];

const waveformWarning = ({ point_format }: native.LasHeader): string[] =>
  WAVEFORMS.includes(point_format)
    ? [
        `Point format ${point_format} has waveforms: the wave packet fields of each point are kept as columns (las_wave_packet_offset and so on) and exported as extra dimensions; the samples and their descriptors are not read.`,
      ]
    : [];

const ONE_SCAN = { scans: [], unplaceable_miss_count: 0 } as const;
const NO_GEOREFERENCE = { rgb_scale: "byte", crs: null, gps_time_encoding: null, scale_m: null } as const;

async function readScanCloud(
  kind: "e57" | "ptx",
  { path, frame, scan_index }: ReadRequest,
  job: Job,
): Promise<SourceCloud> {
  const read = kind === "e57" ? native.readE57 : native.readPtx;
  const cloud = await job.track(() => read(path, { frame, scan_index }));
  const { positions, columns, unit_colors } = adoptTable(cloud, job);
  const { scans, unplaceable_miss_count } = cloud;
  const first = scans.find(({ origin }) => origin !== null);
  return {
    kind,
    positions,
    columns: columns.map(named),
    color_full: BYTE_COLORS,
    unit_colors,
    scan_origin: first?.origin ?? null,
    scans,
    unplaceable_miss_count,
    ...NO_GEOREFERENCE,
    crs: cloud.crs ?? null,
    ...counts(cloud),
    warnings: [...(cloud.crs?.warnings ?? []), ...cloud.warnings],
  };
}

async function readPlyCloud({ path, frame }: ReadRequest, job: Job): Promise<SourceCloud> {
  const table = await job.track(() => native.readPly(path, { frame, first_row: 0, row_count: null }));
  const unit = await unitOfFile(path, "ply");
  const { positions, columns, unit_colors } = adoptTable(table, job);
  return {
    kind: "ply",
    positions,
    columns: columns.map(named),
    color_full: table.color_full,
    unit_colors,
    scan_origin: null,
    ...ONE_SCAN,
    ...NO_GEOREFERENCE,
    crs: unit && systemOfUnits(unit, unit),
    ...counts(table),
  };
}

async function readPcdCloud({ path, frame }: ReadRequest, job: Job): Promise<SourceCloud> {
  const cloud = await job.track(() => native.readPcd(path, { frame, first_row: 0, row_count: null }));
  const unit = await unitOfFile(path, "pcd");
  const { positions, columns, unit_colors } = adoptTable(cloud, job);
  return {
    kind: "pcd",
    positions,
    columns: columns.map(named),
    color_full: cloud.color_full,
    unit_colors,
    scan_origin: cloud.default_viewpoint ? null : cloud.scan_origin, // PCD writers without a position write the default
    ...ONE_SCAN,
    ...NO_GEOREFERENCE,
    crs: unit && systemOfUnits(unit, unit),
    ...counts(cloud),
  };
}

function named({ name, column }: { name: string; column: ColumnRef }): RoledColumn {
  return { name, label: name.replace(/^scalar_/, ""), role: name === "rgb" ? "rgb" : null, slug: null, column };
}
