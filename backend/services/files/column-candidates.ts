import type { PositionFrame } from "../../native/files/readers.ts";
import { CANONICAL_LABELS, isCanonicalRole, isPinnedRole, roleOfName } from "./roles.ts";
import { extraSlug, tidyLabel } from "./slugs.ts";
import type { RoledColumn, SourceCloud } from "./source-cloud.ts";

/** The user's changes to what the file declares. */
export interface ColumnWishes {
  readonly frame: PositionFrame;
  /** Lower-case slugs to leave out; "colors" and "intensity" too. */
  readonly drop: ReadonlySet<string>;
  /** slug -> canonical role */
  readonly roles: Readonly<Record<string, string>>;
  /** slug -> display label */
  readonly labels: Readonly<Record<string, string>>;
}

/** LAS standard dimensions with a role; every other dimension becomes `las_<name>`. */
const LAS_ROLES: ReadonlyMap<string, string> = new Map([
  ["rgb", "rgb"],
  ["intensity", "intensity"],
  ["gps_time", "timestamp"],
  ["return_number", "target_index"],
  ["number_of_returns", "target_count"],
]);

/** Slug and label of a LAS standard dimension once it is a column of its own. */
export function lasDimension(name: string): { readonly slug: string; readonly label: string } {
  const role = LAS_ROLES.get(name) ?? "";
  return isPinnedRole(role)
    ? { slug: role, label: CANONICAL_LABELS[role] ?? role }
    : { slug: `las_${name}`, label: name };
}

/** The reader's names for an E57 scan's echo number and count. */
const ECHO_COLUMNS: ReadonlySet<string> = new Set(["target_index", "target_count"]);

export interface Candidate {
  readonly source: RoledColumn;
  /** Canonical role, "rgb", or null for an extra. */
  readonly role: string | null;
  readonly slug: string;
  readonly label: string;
  /** The label before the user's override. */
  readonly own_label: string;
}

/** The columns of a file to import, in file order. `varies` tells whether a column has more than one value. */
export function columnCandidates(
  cloud: SourceCloud,
  wishes: ColumnWishes,
  varies: (source: RoledColumn) => boolean,
): { readonly candidates: Candidate[]; readonly warnings: string[] } {
  const offered = cloud.columns
    .filter((source) => keeps(source, cloud, varies))
    .map((source) => candidate(source, wishes));
  const candidates = offered.filter(({ source, slug, role }) => !dropped(wishes.drop, source.name, slug, role));
  return { candidates, warnings: unheeded(cloud, offered, wishes) };
}

/** A LAS record has every field of its format, used or not. A constant field is left out, and so is a constant echo
 * column of E57: a constant echo number would switch leaf area density to full-waveform analysis. Extra bytes stay. */
function keeps(source: RoledColumn, cloud: SourceCloud, varies: (source: RoledColumn) => boolean): boolean {
  if (cloud.kind === "e57" && ECHO_COLUMNS.has(source.name)) return varies(source);
  if (cloud.kind !== "las" || !source.role?.startsWith("las:")) return true;
  return source.role === "las:rgb" || source.role === "las:intensity" || varies(source);
}

function candidate(source: RoledColumn, wishes: ColumnWishes): Candidate {
  const role = overrideOf(source, wishes) ?? roleOf(source);
  const slug = columnSlug(source, role);
  const canonical = role === null ? undefined : CANONICAL_LABELS[role];
  const own_label = canonical ?? tidyLabel(source.label);
  return { source, role, slug, label: wished(wishes.labels, slug) ?? own_label, own_label };
}

/** The role that the user assigns to a column, by its name in the file or by the slug it would get. */
function overrideOf(source: RoledColumn, { roles }: ColumnWishes): string | undefined {
  return namesOf(source)
    .map((name) => wished(roles, name))
    .find((role) => role !== undefined);
}

const columnSlug = (source: RoledColumn, role: string | null): string =>
  role !== null && isPinnedRole(role) ? role : (source.slug ?? slugOf(source));

const namesOf = (source: RoledColumn): string[] => [
  columnSlug(source, roleOf(source)),
  source.name,
  extraSlug(source.name),
];

/** The user's entry for a column. Own keys only: a column may be called "constructor". */
export const wished = (wishes: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(wishes, name) ? wishes[name] : undefined;

/** Warnings for entries that match no column of the file, so that a misspelt name does not go unnoticed. */
function unheeded(
  cloud: SourceCloud,
  candidates: readonly Candidate[],
  { roles, labels, drop }: ColumnWishes,
): string[] {
  const names = new Set([...cloud.columns.flatMap(namesOf), ...candidates.map(({ slug }) => slug)]);
  const lower = new Set(["colors", "intensity", ...[...names].map((name) => name.toLowerCase())]);
  const missing = {
    role_overrides: Object.keys(roles).filter((name) => !names.has(name)),
    scalar_labels: Object.keys(labels).filter((name) => !names.has(name)),
    drop_slugs: [...drop].filter((name) => !lower.has(name)),
  };
  return Object.entries(missing)
    .filter(([, list]) => list.length > 0)
    .map(([field, list]) => `${field} names columns that the file does not have: ${list.slice(0, 10).join(", ")}.`);
}

function roleOf({ role, name, slug }: RoledColumn): string | null {
  if (role?.startsWith("las:")) return LAS_ROLES.get(name) ?? null;
  if (role !== null) return role;
  if (slug !== null) return null; // the user chose the slug: an extra, whatever its name
  const resolved = roleOfName(name.replace(/^scalar_/i, ""));
  return resolved !== null && isCanonicalRole(resolved) ? resolved : null;
}

function slugOf({ role, name }: RoledColumn): string {
  return role?.startsWith("las:") ? lasDimension(name).slug : extraSlug(name.replace(/^scalar_/i, ""));
}

function dropped(drop: ReadonlySet<string>, name: string, slug: string, role: string | null): boolean {
  const names = [name, slug];
  if (role === "rgb" || (role && /^[rgb](255)?$/.test(role))) names.push("colors");
  if (role === "intensity" || role === "reflectance") names.push("intensity");
  return names.some((candidateName) => drop.has(candidateName.toLowerCase()));
}
