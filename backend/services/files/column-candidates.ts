import type { PositionFrame } from "../../native/files/readers.ts";
import type { ConstantDimension, ExtraDim } from "../../sessions/column-names.ts";
import { columnLabel, columnSlug, lasDimension, roleOf, settleRoles } from "./column-roles.ts";
import { extraSlug } from "./slugs.ts";
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
  const values = cloud.columns.map((source) => constantValue(source, cloud, constant));
  const settled = settleRoles(roles.map((role, i) => (wanted[i] && !values[i] ? role : null)));
  for (const [i, source] of cloud.columns.entries()) {
    const value = values[i] ?? null;
    if (value === null) offered.push(candidate(source, settled[i] ?? null, wishes));
    if (!wanted[i]) continue;
    if (value === null) candidates.push(candidate(source, settled[i] ?? null, wishes));
    else if (source.column.length > 0) constants.push(value);
  }
  return { candidates, constants, warnings: unheeded(cloud, offered, wishes) };
}

/** The field and value of a column that is left out; null for every other column. */
function constantValue(
  source: RoledColumn,
  cloud: SourceCloud,
  constant: (source: RoledColumn) => number | null,
): ConstantDimension | null {
  const name = fieldOf(source, cloud);
  const value = name === null ? null : constant(source);
  return name === null || value === null || (value !== 0 && WAVE_PACKET.has(name)) ? null : { name, value };
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
  const own_label = columnLabel(source, role);
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

function dropped(drop: ReadonlySet<string>, source: RoledColumn, role: string | null): boolean {
  const names = [source.name, columnSlug(source, role)];
  if (role === "rgb" || (role && /^[rgb](255)?$/.test(role))) names.push("colors");
  if (role === "intensity" || role === "reflectance") names.push("intensity");
  return names.some((candidateName) => drop.has(candidateName.toLowerCase()));
}
