import { csvLine } from "../../../shared/wire/csv-cell.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import type { Fact } from "../report/summary.ts";
import type { Catalog, CatalogFile } from "./document.ts";
import { crsText, unitText } from "./summary.ts";

const COLUMNS = {
  file: ({ name }) => name,
  points: ({ points }) => points,
  bytes: ({ bytes }) => bytes,
  min_x: ({ bounds }) => bounds.min[0],
  min_y: ({ bounds }) => bounds.min[1],
  min_z: ({ bounds }) => bounds.min[2],
  max_x: ({ bounds }) => bounds.max[0],
  max_y: ({ bounds }) => bounds.max[1],
  max_z: ({ bounds }) => bounds.max[2],
  density_per_m2: ({ density }) => density ?? "",
  las_version: ({ version }) => version,
  point_format: ({ point_format }) => point_format,
  compressed: ({ compressed }) => (compressed ? 1 : 0),
  crs: crsText,
  unit: unitText,
  warnings: ({ warnings }) => warnings.join(" "),
} satisfies Record<string, (file: CatalogFile) => string | number>;

/** One line per file; metres, true world. */
export function catalogCsv(files: readonly CatalogFile[]): string {
  const rows = files.map((file) => csvLine(Object.values(COLUMNS).map((of) => of(file))));
  return `${[csvLine(Object.keys(COLUMNS)), ...rows].join("\n")}\n`;
}

/** The catalogue on the terminal. */
export function catalogFacts(catalog: Catalog): Fact[] {
  const { layout, file_count, points, bytes, density, crs, units, point_formats } = catalog;
  const { min, max } = layout.bounds;
  const kinds = (list: Catalog["crs"] | Catalog["point_formats"]) => list.map(({ value }) => value).join(", ");
  const size = `${plainNumber(max[0] - min[0], 1)} x ${plainNumber(max[1] - min[1], 1)}`;
  const isDegrees = density === null;
  return [
    ["Files", plainNumber(file_count, 0)],
    ["Points", plainNumber(points, 0)],
    ["Size", `${plainNumber(bytes / 1e6, 1)} MB`],
    ["Extent", isDegrees ? `${max[0] - min[0]} x ${max[1] - min[1]} degrees` : `${size} m`],
    ["Density", density === null ? "not known" : `${shortNumber(Number(density.toPrecision(4)))} points/m2`],
    ["Coordinate system", kinds(crs)],
    ["Units", kinds(units)],
    ["Point formats", kinds(point_formats)],
    ["Overlapping pairs", `${layout.overlaps_complete ? "" : "at least "}${plainNumber(layout.overlap_count, 0)}`],
    ["Gaps", plainNumber(layout.gap_count, 0)],
    ["Tiles", layout.lattice ? `squares of ${layout.lattice.size_m} m` : "no regular squares"],
  ];
}
