import { SINGLETON_ROLES } from "../../../shared/contract/column-plan.ts";

/** Labels of the columns whose slug is their role. */
export const CANONICAL_LABELS: Readonly<Record<string, string>> = {
  timestamp: "Timestamp",
  target_index: "Target Index",
  target_count: "Target Count",
  row_index: "Row Index",
  column_index: "Column Index",
  is_miss: "Miss",
  origin_x: "Beam Origin X",
  origin_y: "Beam Origin Y",
  origin_z: "Beam Origin Z",
};

/** Accepted names of each role; case, punctuation and [unit] do not count. */
const ALIASES: Readonly<Record<string, string>> = {
  x: "x easting",
  y: "y northing",
  z: "z height elevation",
  r255: "r red r255 red255",
  g255: "g green g255 green255",
  b255: "b blue b255 blue255",
  intensity: "intensity",
  reflectance: "reflectance reflectivity",
  timestamp: "timestamp gpstime time",
  target_index: "targetindex returnnumber",
  target_count: "targetcount numberofreturns numreturns",
  row_index: "rowindex row scanrow scanrowindex rasterrow",
  column_index: "columnindex column col scancolumn scancol scancolumnindex rastercolumn",
  is_miss: "ismiss miss sky",
  origin_x: "ox xorigin originx beamoriginx",
  origin_y: "oy yorigin originy beamoriginy",
  origin_z: "oz zorigin originz beamoriginz",
};

const ROLE_OF_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(ALIASES).flatMap(([role, names]) => names.split(" ").map((name) => [name, role] as const)),
);
const SINGLETONS: ReadonlySet<string> = new Set([...SINGLETON_ROLES, "r255", "g255", "b255"]);
/** Echo columns: stored under their role unless the user marks the column as a class. */
const MULTI_RETURN: ReadonlySet<string> = new Set(["target_index", "target_count", "timestamp"]);
/** Continuous quantities: stored as floating point even if every value happens to be whole. */
const CONTINUOUS: ReadonlySet<string> = new Set(["nx", "ny", "nz", "curvature", "verticality", "height_above_ground"]);

/** Longer names stand for nothing: brackets that do not close would be looked for to their end, again and again. */
const LONGEST_NAME = 256;

/** Role that a header or legend name stands for, or null. */
export function roleOfName(name: string): string | null {
  if (name.length > LONGEST_NAME) return null;
  const vector = /^\s*xyz\s*\[\s*([012])\s*\]\s*(?:\[[^\]]*\]|\([^)]*\))?\s*$/i.exec(name);
  if (vector) return ["x", "y", "z"][Number(vector[1])] ?? null;
  const bare = name
    .replace(/\[[^\]]*\]|\([^)]*\)/g, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  return ROLE_OF_NAME.get(bare) ?? null;
}

/** True for every role that the import interprets: all but `extra`, `skip` and free text. */
export const isCanonicalRole = (role: string): boolean => SINGLETONS.has(role);

/** True for roles whose column is stored under the role's own name. */
export const isPinnedRole = (role: string): boolean => Object.hasOwn(CANONICAL_LABELS, role);

export const isMultiReturnRole = (role: string): boolean => MULTI_RETURN.has(role);

/** A role without the 255 of a colour channel, for comparisons. */
export const foldRole = (role: string): string => role.replace(/^([rgb])255$/, "$1");

/** Roles that only count together. */
const TRIPLES: readonly (readonly string[])[] = [
  ["r", "g", "b"],
  ["origin_x", "origin_y", "origin_z"],
];

/** Colour channels and coordinates of a beam origin of which `roles` lacks one of the other two: ordinary columns. */
export function incompleteRoles(roles: readonly (string | null)[]): (role: string) => boolean {
  const present = new Set(roles.map((role) => role && foldRole(role)));
  const broken = new Set(TRIPLES.filter((parts) => !parts.every((part) => present.has(part))).flat());
  return (role) => broken.has(foldRole(role));
}

/** How the reader stores a column: see TextColumnType in cpp/io/ascii_table.h. */
export function storageOf(role: string, slug: string): "auto" | "float" | "f64" {
  if (role === "timestamp" || /^origin_[xyz]$/.test(role)) return "f64";
  return CONTINUOUS.has(slug.toLowerCase()) ? "float" : "auto";
}
