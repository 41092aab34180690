/** The column that marks sky points: non-zero = no return. */
export const MISS_SLUG = "is_miss";

const MAX_SLUG_CHARS = 32;

/** Dimension names of LAS, lower case: an extra of that name would shadow them in an export. */
const LAS_DIMENSIONS: ReadonlySet<string> = new Set(
  (
    "x y z intensity bit_fields raw_classification classification classification_flags scan_angle_rank scan_angle " +
    "user_data point_source_id gps_time red green blue nir return_number number_of_returns scan_direction_flag " +
    "edge_of_flight_line synthetic key_point withheld overlap scanner_channel"
  ).split(" "),
);

/** Names that viewers of the octree take for themselves, lower case. */
const VIEWER_NAMES: ReadonlySet<string> = new Set("position position_cartesian rgb rgba indices normal".split(" "));

/** A name as a slug: [A-Za-z0-9_], other runs become one `_`, none at the ends, at most 32 characters, never empty. */
export function sanitizeSlug(name: string): string {
  const slug = name
    .replace(/[^A-Za-z0-9_]+/g, "_")
    .replace(/^_+/, "")
    .slice(0, MAX_SLUG_CHARS)
    .replace(/_+$/, "");
  return slug === "" ? "field" : slug;
}

/** Slug of an extra column: sanitized, and never the name of a LAS dimension or of a viewer's own attribute. */
export function extraSlug(name: string): string {
  const slug = sanitizeSlug(name);
  const taken = LAS_DIMENSIONS.has(slug.toLowerCase()) || VIEWER_NAMES.has(slug.toLowerCase());
  return taken ? `${slug.slice(0, MAX_SLUG_CHARS - "_field".length)}_field` : slug;
}

/** `slug`, or the first of `slug_2`, `slug_3`, ... that is not in `used` (lower case). At most 32 characters. */
export function uniqueSlug(slug: string, used: ReadonlySet<string>): string {
  if (!used.has(slug.toLowerCase())) return slug;
  for (let n = 2; ; n += 1) {
    const tail = `_${n}`;
    const numbered = slug.slice(0, MAX_SLUG_CHARS - tail.length) + tail;
    if (!used.has(numbered.toLowerCase())) return numbered;
  }
}

/** Display label of a file's name for a column: no empty brackets, a space before a unit, single spaces. */
export function tidyLabel(name: string): string {
  return name
    .replace(/\[\s*\]|\(\s*\)/g, "")
    .replace(/(\S)([[(])/g, "$1 $2")
    .replace(/\s+/g, " ")
    .trim();
}
