import { counted } from "../wording.ts";
import { CATALOG_VERSION, type Catalog, type CatalogFile, type Kind, type SkippedFile } from "./document.ts";
import { layoutOf } from "./layout.ts";

/** Files with less than this share of the middling density are named. */
const SPARSE = 0.5;
const NAMED = 5;

/** The catalogue of files and what is wrong with it. */
export function catalogOf(files: readonly CatalogFile[], skipped: readonly SkippedFile[]): Catalog {
  const layout = layoutOf(files);
  const points = files.reduce((sum, file) => sum + file.points, 0);
  const degrees = files.some(({ is_geographic }) => is_geographic);
  const kinds = {
    crs: kindsOf(files.map(crsText)),
    units: kindsOf(files.map(unitText)),
    point_formats: kindsOf(files.map(({ point_format }) => point_format)),
  };
  return {
    kind: "point-cloud-catalog",
    version: CATALOG_VERSION,
    file_count: files.length,
    points,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    density: degrees || layout.covered_m2 === 0 ? null : points / layout.covered_m2,
    ...kinds,
    layout,
    warnings: warningsOf(files, skipped, { layout, ...kinds }),
    files,
    skipped,
  };
}

export const crsText = ({ crs_epsg, crs_name, is_geographic }: CatalogFile): string => {
  const named = crs_epsg === null ? (crs_name ?? "not stated") : `EPSG:${crs_epsg}`;
  return is_geographic ? `${named} (degrees)` : named;
};

export function unitText({ unit_m, vertical_unit_m, is_geographic }: CatalogFile): string {
  const across = is_geographic ? "degrees" : unit_m === null ? "not stated" : `${unit_m} m`;
  const up = vertical_unit_m ?? unit_m;
  return up === null || up === unit_m ? across : `${across}, heights ${up} m`;
}

function kindsOf<T extends string | number>(values: readonly T[]): Kind<T>[] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, files: count }))
    .sort((a, b) => b.files - a.files || (a.value < b.value ? -1 : 1));
}

const listed = (names: readonly string[]) =>
  `${names.slice(0, NAMED).join(", ")}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ""}`;
const kindsText = (kinds: readonly Kind<string | number>[]) =>
  kinds.map(({ value, files }) => `${value} (${files})`).join(", ");

function warningsOf(
  files: readonly CatalogFile[],
  skipped: readonly SkippedFile[],
  { layout, crs, units, point_formats }: Pick<Catalog, "layout" | "crs" | "units" | "point_formats">,
): string[] {
  const warnings: string[] = [];
  if (crs.length > 1) warnings.push(`The files state different coordinate systems: ${kindsText(crs)}.`);
  if (units.length > 1) warnings.push(`The files state different units: ${kindsText(units)}.`);
  if (files.some(({ is_geographic }) => is_geographic))
    warnings.push("Coordinates in degrees: lengths, areas and densities are not known.");
  if (point_formats.length > 1) warnings.push(`The files have different point formats: ${kindsText(point_formats)}.`);
  const [overlap] = layout.overlaps;
  if (overlap) {
    const [a, b] = [files[overlap.a]?.name, files[overlap.b]?.name];
    const most = `${a} and ${b}, ${(100 * overlap.share).toPrecision(3)} % of the smaller`;
    const count = `${layout.overlaps_complete ? "" : "at least "}${layout.overlap_count}`;
    const pairs = layout.overlap_count === 1 ? "pair of files overlaps" : "pairs of files overlap";
    warnings.push(`${count} ${pairs}, the most ${most}; points that are in both count twice.`);
  }
  if (!layout.overlaps_complete) warnings.push("Not all pairs of files were compared: there may be more overlaps.");
  const [gap] = layout.gaps;
  if (gap) {
    const place = `x ${gap.min[0].toFixed(1)} to ${gap.max[0].toFixed(1)}, y ${gap.min[1].toFixed(1)} to ${gap.max[1].toFixed(1)}`;
    warnings.push(
      `${counted(layout.gap_count, "gap", "gaps")} between the files, the largest ${gap.area_m2.toFixed(0)} m2 at ${place}.`,
    );
  }
  const densities = files.flatMap(({ density }) => (density === null ? [] : [density])).sort((a, b) => a - b);
  const middle = densities[densities.length >> 1] ?? 0;
  const sparse = files.filter(({ density }) => density !== null && density < SPARSE * middle).map(({ name }) => name);
  if (sparse.length > 0)
    warnings.push(
      `${counted(sparse.length, "file has", "files have")} less than half of the middling density: ${listed(sparse)}.`,
    );
  const doubtful = files.filter((file) => file.warnings.length > 0);
  const [first] = doubtful;
  if (first)
    warnings.push(
      `${counted(doubtful.length, "file has", "files have")} warnings; ${first.name}: ${first.warnings[0]}`,
    );
  const [lost] = skipped;
  if (lost)
    warnings.push(
      `${counted(skipped.length, "file is", "files are")} not in the catalogue; ${lost.path}: ${lost.reason}.`,
    );
  return warnings;
}
