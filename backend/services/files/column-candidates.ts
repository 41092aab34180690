import type { PositionFrame } from "../../native/files/readers.ts";
import type { ConstantDimension, ExtraDim } from "../../sessions/column-names.ts";
import { CANONICAL_LABELS, isCanonicalRole, isIncomplete, isPinnedRole, roleOfName } from "./roles.ts";
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

/** The session column of a LAS standard dimension with several values. */
export function lasExtraDim(name: string): ExtraDim {
  return { ...lasDimension(name), las_field: name, ...(FLAGS.has(name) ? { hidden: true } : {}) };
}

/** The reader's names for an E57 scan's echo number and count, and the LAS fields for them. */
const ECHO_COLUMNS: ReadonlyMap<string, string> = new Map([
  ["target_index", "return_number"],
  ["target_count", "number_of_returns"],
]);

/** Flags of a LAS point: kept for exports and edits, and shown only if the user gives them a label or a role. */
const FLAGS: ReadonlySet<string> = new Set([
  "scan_direction_flag",
  "edge_of_flight_line",
  "synthetic",
  "key_point",
  "withheld",
  "overlap",
]);

/** Fields that an export writes as extra dimensions: columns unless they are all 0. */
const WAVE_PACKET: ReadonlySet<string> = new Set(
  "wave_packet_index wave_packet_offset wave_packet_size return_point_location x_t y_t z_t".split(" "),
);

export interface Candidate {
  readonly source: RoledColumn;
  /** Canonical role, "rgb", or null for an extra. */
  readonly role: string | null;
  readonly slug: string;
  readonly label: string;
  /** The label before the user's override. */
  readonly own_label: string;
  /** ExtraDim.las_field */
  readonly las_field: string | null;
  /** ExtraDim.hidden */
  readonly hidden: boolean;
}

export interface Candidates {
  /** The columns to import, in file order. */
  readonly candidates: Candidate[];
  /** Fields that are no columns because every point has the same value. */
  readonly constants: ConstantDimension[];
  readonly warnings: string[];
}

/** The columns of a file to import. `constant`: the only value of a column, null if there are several. */
export function columnCandidates(
  cloud: SourceCloud,
  wishes: ColumnWishes,
  constant: (source: RoledColumn) => number | null,
): Candidates {
  const offered: Candidate[] = [];
  const candidates: Candidate[] = [];
  const constants: ConstantDimension[] = [];
  const roles = cloud.columns.map((source) => overrideOf(source, wishes) ?? roleOf(source));
  const wanted = cloud.columns.map((source, i) => !dropped(wishes.drop, source, roles[i] ?? null));
  const wanted_roles = roles.filter((_, i) => wanted[i]);
  for (const [i, source] of cloud.columns.entries()) {
    const role = roles[i] ?? null;
    const found = candidate(source, role === null || isIncomplete(role, wanted_roles) ? null : role, wishes);
    const field = fieldOf(source, cloud);
    const value = field === null ? null : constant(source);
    const is_column = field === null || value === null || (value !== 0 && WAVE_PACKET.has(field));
    if (is_column) offered.push(found);
    if (!wanted[i]) continue;
    if (is_column) candidates.push(found);
    else if (source.column.length > 0) constants.push({ name: field, value });
  }
  return { candidates, constants, warnings: unheeded(cloud, offered, wishes) };
}

/** The LAS field of a column that is left out if it is constant: a LAS record has every field of its format, used or
 * not, and a constant echo number would switch leaf area density to full-waveform analysis. Null: always a column. */
function fieldOf({ name, role }: RoledColumn, { kind }: SourceCloud): string | null {
  if (kind === "e57") return ECHO_COLUMNS.get(name) ?? null;
  if (kind !== "las" || !role?.startsWith("las:")) return null;
  return role === "las:rgb" || role === "las:intensity" ? null : name;
}

function candidate(source: RoledColumn, role: string | null, wishes: ColumnWishes): Candidate {
  const slug = columnSlug(source, role);
  const canonical = role === null ? undefined : CANONICAL_LABELS[role];
  const own_label = canonical ?? tidyLabel(source.label);
  const label = wished(wishes.labels, slug);
  const las_field = source.role?.startsWith("las:") && !WAVE_PACKET.has(source.name) ? source.name : null;
  const hidden = las_field !== null && FLAGS.has(las_field) && role === null && label === undefined;
  return { source, role, slug, label: label ?? own_label, own_label, las_field, hidden };
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

function dropped(drop: ReadonlySet<string>, source: RoledColumn, role: string | null): boolean {
  const names = [source.name, columnSlug(source, role)];
  if (role === "rgb" || (role && /^[rgb](255)?$/.test(role))) names.push("colors");
  if (role === "intensity" || role === "reflectance") names.push("intensity");
  return names.some((candidateName) => drop.has(candidateName.toLowerCase()));
}
