import type { CloudMeta } from "../../sessions/cloud-session.ts";

/** No tree is as high: the tallest known has 116 m (Sequoia sempervirens). */
export const TALLEST_TREE_M = 120;
/** Higher plants stand in few forests on Earth: coast redwood, Douglas fir, mountain ash, some dipterocarps. */
const TALL_PLANT_M = 60;
/** Formats whose standard says metres. */
const IN_METRES = /\.(e57|ptx)$/i;

type UnitFacts = Pick<
  CloudMeta,
  "source_units" | "source_unit_scale" | "crs_epsg" | "crs_wkt" | "crs_geotiff" | "source_path"
>;

/** Whether the unit of a cloud is known: from the import, the coordinate system or the format of its file. */
export function unitIsStated(meta: UnitFacts): boolean {
  const { source_units, source_unit_scale, crs_epsg, crs_wkt, crs_geotiff, source_path } = meta;
  return (
    source_units !== null ||
    source_unit_scale !== null ||
    crs_epsg !== null ||
    Boolean(crs_wkt) ||
    Boolean(crs_geotiff) ||
    IN_METRES.test(source_path ?? "")
  );
}

/** What to do about a size that fits another unit. */
const WAY_OUT =
  "the file does not say its unit. If its coordinates are feet, centimetres or millimetres, every length is wrong. Import with source_units to convert them.";

/** Warns of plants of a cloud without a unit that are higher than those of most forests, as metres that are feet are. */
export function tallPlantWarnings(heights_m: readonly number[], is_stated: boolean): string[] {
  if (is_stated) return [];
  const tall = heights_m.filter((height) => height > TALL_PLANT_M);
  if (tall.length === 0) return [];
  const who =
    heights_m.length === 1
      ? "The plant is"
      : `${tall.length} of ${heights_m.length} trees ${tall.length === 1 ? "is" : "are"}`;
  const highest = tall.reduce((most, height) => Math.max(most, height)).toFixed(1);
  return [`${who} higher than ${TALL_PLANT_M} m, as in few forests (the highest: ${highest} m), and ${WAY_OUT}`];
}

/** What else points far from each other may be, where nothing states the unit; a sentence to append, or nothing. */
export const unitDoubt = (is_stated: boolean): string =>
  is_stated ? "" : ` Or the coordinates are not metres: ${WAY_OUT}`;
