/** The column that marks sky points: non-zero = no return. */
export const MISS_SLUG = "is_miss";

const MAX_SLUG_CHARS = 32;

/** Dimension names of LAS, lower case. An extra of the same name would hide the dimension in an export. */
const LAS_DIMENSIONS: ReadonlySet<string> = new Set(
  (
    "x y z intensity bit_fields raw_classification classification classification_flags scan_angle_rank scan_angle " +
    "user_data point_source_id gps_time red green blue nir return_number number_of_returns scan_direction_flag " +
    "edge_of_flight_line synthetic key_point withheld overlap scanner_channel"
  ).split(" "),
);

/** Attribute names that octree viewers reserve, lower case. */
const VIEWER_NAMES: ReadonlySet<string> = new Set("position position_cartesian rgb rgba indices normal".split(" "));

/** Turns a name into a slug of 1 to 32 characters: runs outside [A-Za-z0-9_] become one `_`, none at either end. */
export function sanitizeSlug(name: string): string {
  const slug = name
    .replace(/[^A-Za-z0-9_]+/g, "_")
    .replace(/^_+/, "")
    .slice(0, MAX_SLUG_CHARS)
    .replace(/_+$/, "");
  return slug === "" ? "field" : slug;
}

/** Slug of an extra column: sanitized, and never the name of a LAS dimension or a reserved attribute. */
export function extraSlug(name: string): string {
  const slug = sanitizeSlug(name);
  const taken = LAS_DIMENSIONS.has(slug.toLowerCase()) || VIEWER_NAMES.has(slug.toLowerCase());
  return taken ? `${slug.slice(0, MAX_SLUG_CHARS - "_field".length)}_field` : slug;
}

/** Numbers of each slug that were found taken: sets of slugs only grow, so that thousands of equal names take no time. */
const TAKEN = new WeakMap<ReadonlySet<string>, Map<string, number>>();

/** `slug`, or the first of `slug_2`, `slug_3`, ... that is not in `used` (lower case), which must only grow. At most 32 characters. */
export function uniqueSlug(slug: string, used: ReadonlySet<string>): string {
  const key = slug.toLowerCase();
  if (!used.has(key)) return slug;
  const taken = TAKEN.get(used) ?? new Map<string, number>();
  TAKEN.set(used, taken);
  for (let n = taken.get(key) ?? 2; ; n += 1) {
    const tail = `_${n}`;
    const numbered = slug.slice(0, MAX_SLUG_CHARS - tail.length) + tail;
    if (used.has(numbered.toLowerCase())) continue;
    taken.set(key, n);
    return numbered;
  }
}

const MAX_LABEL_CHARS = 1024;

/** Display label for a column name of a file: without empty brackets, a space before the unit, single spaces; at most 1024 characters. */
export function tidyLabel(name: string): string {
  return name
    .slice(0, MAX_LABEL_CHARS)
    .replace(/\[\s*\]|\(\s*\)/g, "")
    .replace(/(\S)([[(])/g, "$1 $2")
    .replace(/\s+/g, " ")
    .trim();
}
