import type { PreviewResponse } from "../../shared/contract/pointcloud.ts";
import type { Job } from "../jobs/job.ts";
import * as native from "../native/readers.ts";
import { recordColumn } from "./preview-records.ts";

const EMPTY = { delimiter: null, has_header: true, sample_rows: [], suggested_shift: null };
/** E57 elements that the import turns into the columns of the same place. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ["cartesianX", "x"],
  ["cartesianY", "y"],
  ["cartesianZ", "z"],
  ["colorRed", "r255"],
  ["colorGreen", "g255"],
  ["colorBlue", "b255"],
  ["intensity", "intensity"],
  ["rowIndex", "row_index"],
  ["columnIndex", "column_index"],
  ["returnIndex", "target_index"],
  ["returnCount", "target_count"],
  ["timeStamp", "timestamp"],
]);
const HIDDEN = /^(cartesian|spherical)InvalidState$|^is(Color|Intensity|TimeStamp)Invalid$/;

/** E57: the fields of the first scan; how many scans and points, and whether sky rays come with them. */
export async function e57Preview(path: string, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readE57Header(path));
  const [first] = header.scans;
  const fields = (first?.fields ?? []).filter(({ name }) => !HIDDEN.test(name));
  const points = header.scans.reduce((sum, scan) => sum + scan.point_count, 0);
  const misses = header.scans.some((scan) => scan.fields.some(({ name }) => /InvalidState$/.test(name)));
  const notes = [
    `${header.scans.length} scans with ${points} points.`,
    misses ? "Sky points are recovered." : "",
    header.image_count > 0 ? `${header.image_count} images are not read.` : "",
    ...header.warnings,
  ];
  return {
    ...EMPTY,
    kind: "e57",
    columns: fields.map(({ name, is_integer }, index) =>
      recordColumn(index, name, ROLES.get(name) ?? "extra", is_integer ? "integer" : "float"),
    ),
    warning: notes.filter((note) => note !== "").join(" "),
  };
}

/** PTX: what its lines hold; the raster of the first scan. */
export async function ptxPreview(path: string, job: Job): Promise<PreviewResponse> {
  const { columns, rows } = await job.track(() => native.readPtxHeader(path));
  const names = ["x", "y", "z", "intensity", "r255", "g255", "b255"];
  return {
    ...EMPTY,
    kind: "ptx",
    columns: names.map((name, index) => recordColumn(index, name, name, index < 4 ? "float" : "integer")),
    warning: `The first scan is a raster of ${columns} columns and ${rows} rows; empty cells are kept as sky points. Colours only where the lines have them.`,
  };
}
