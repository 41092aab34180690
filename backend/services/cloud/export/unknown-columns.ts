/** Columns that a client may ask for of any cloud: where it lacks them, there is nothing to write. */
const COMMON: ReadonlySet<string> = new Set([
  ...["intensity", "timestamp", "gps-time", "is_miss", "target_index", "target_count", "row_index", "column_index"],
  ...["origin_x", "origin_y", "origin_z"],
]);
const MOST_NAMED = 10;

/** Warns of wished columns that a cloud does not have: a misspelt name must not be missed in silence. */
export function unknownColumns(wanted: readonly string[] | null | undefined, known: readonly string[]): string[] {
  const there = new Set(known);
  const unknown = [...new Set(wanted ?? [])].filter((name) => !there.has(name) && !COMMON.has(name));
  if (unknown.length === 0) return [];
  const named = (names: readonly string[]) =>
    names.slice(0, MOST_NAMED).join(", ") + (names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "");
  const others = known.length > 0 ? `its columns are ${named(known)}` : "it has none";
  return [`The cloud has no column ${named(unknown.map((name) => `"${name.slice(0, 60)}"`))}; ${others}.`];
}
