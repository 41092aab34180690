import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { PositionFrame } from "../../native/files/readers.ts";
import { type ExtraDim, extraKey } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type ColumnStatistics, measureColumns } from "./column-statistics.ts";
import { CANONICAL_LABELS, isCanonicalRole, isPinnedRole, roleOfName } from "./roles.ts";
import { extraSlug, tidyLabel, uniqueSlug } from "./slugs.ts";
import type { SourceKind } from "./source.ts";
import type { RoledColumn, SourceCloud } from "./source-cloud.ts";

/** What the user wants otherwise than the file says. */
export interface ColumnWishes {
  readonly frame: PositionFrame;
  /** Lower-case slugs to leave out; "colors" and "intensity" too. */
  readonly drop: ReadonlySet<string>;
  /** slug -> canonical role */
  readonly roles: Readonly<Record<string, string>>;
  /** slug -> display label */
  readonly labels: Readonly<Record<string, string>>;
}

/** A source's columns as a session keeps them. The run owns every reference. */
export interface AssignedColumns {
  readonly columns: Map<string, ColumnRef>;
  readonly extra_dims_meta: ExtraDim[];
  /** Statistics over all rows of the scalar columns as they were read. */
  readonly stats: ColumnStatistics;
  readonly warnings: string[];
}

/** LAS standard dimensions that have a place of their own; every other one becomes `las_<name>`. */
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

const CHANNELS = ["r", "g", "b"] as const;
const ORIGIN = ["origin_x", "origin_y", "origin_z"] as const;

/** Formats in which 16 bits are the intensity as it is: their reader scales it scan by scan, or the file says so. */
const SCALED_INTENSITY: ReadonlySet<SourceKind> = new Set(["las", "e57", "ptx", "pcd"]);

interface Candidate {
  readonly source: RoledColumn;
  /** Canonical role, "rgb", or null for an extra. */
  readonly role: string | null;
  readonly slug: string;
  readonly label: string;
  /** The label without the user's wish for another one. */
  readonly own_label: string;
}

/** Gives every column of a file its place: colours, intensity, clock, beam origins, extras. */
export async function assignColumns(cloud: SourceCloud, wishes: ColumnWishes, job: Job): Promise<AssignedColumns> {
  const warnings: string[] = [];
  const scalars = cloud.columns.filter(({ column }) => column.native.dtype !== "rgb16");
  const stats = await measureColumns(
    scalars.map(({ column }) => column.native),
    null,
    job,
  );
  const varies = (source: RoledColumn) => {
    const found = stats.get(source.column.native);
    return found !== undefined && found.finite_count > 0 && !found.is_constant;
  };
  const offered = cloud.columns
    .filter((source) => keeps(source, cloud, varies))
    .map((source) => candidate(source, wishes));
  warnings.push(...unheeded(cloud, offered, wishes));
  const candidates = offered.filter(({ source, slug, role }) => !dropped(wishes.drop, source.name, slug, role));
  const assignment = new Assignment(candidates, cloud, wishes, job, warnings);
  await assignment.colors();
  await assignment.intensity((source) => stats.get(source.column.native)?.max ?? 0);
  await assignment.timestamps();
  await assignment.beamOrigins();
  assignment.extras();
  return { columns: assignment.columns, extra_dims_meta: assignment.extra_dims_meta, stats, warnings };
}

/** LAS fills every field of its format; a constant one says nothing and is left out (a constant echo number would
 * switch leaf area density to full waveform), as E57's echo columns are. Columns a user or program added stay,
 * constant or not. */
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

/** The role the user gives a column, by any of the names it goes under: the file's, or the slug it would have. */
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

/** A wish for a column; a column may be called "constructor". */
const wished = (wishes: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(wishes, name) ? wishes[name] : undefined;

/** Wishes for columns that the file does not have: a misspelt one must not pass for a heeded one. */
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
  if (slug !== null) return null; // the user named it: an extra whatever it is called
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

/** Builds the session's columns; what a role does not take falls through to the extras. */
class Assignment {
  readonly columns = new Map<string, ColumnRef>();
  readonly extra_dims_meta: ExtraDim[] = [];
  readonly #taken = new Set<Candidate>();

  constructor(
    readonly candidates: readonly Candidate[],
    readonly cloud: SourceCloud,
    readonly wishes: ColumnWishes,
    readonly job: Job,
    readonly warnings: string[],
  ) {
    this.columns.set("positions", cloud.positions);
  }

  #find(role: string): Candidate | undefined {
    return this.candidates.find((c) => c.role === role && !this.#taken.has(c));
  }
  #adopt(column: NativeColumn): ColumnRef {
    return this.job.adopt(new ColumnRef(column));
  }

  async colors(): Promise<void> {
    const ready = this.#find("rgb");
    if (ready) {
      this.#taken.add(ready);
      const highest = await this.job.track(() => native.maxChannel(ready.source.column.native));
      if (highest > 0) this.columns.set("colors", ready.source.column);
      return;
    }
    const channels = CHANNELS.map((channel) => this.#find(`${channel}255`) ?? this.#find(channel));
    const [r, g, b] = channels;
    if (!r || !g || !b) return; // a partial triple is no colour; its columns stay extras
    for (const channel of [r, g, b]) this.#taken.add(channel);
    const scale = [r, g, b].some(({ role }) => role?.endsWith("255")) ? "byte" : this.cloud.rgb_scale;
    const merged = await this.job.track(() =>
      native.mergeRgb(r.source.column.native, g.source.column.native, b.source.column.native, scale),
    );
    this.columns.set("colors", this.#adopt(merged));
  }

  /** LAS values are kept; other formats are mapped linearly from their whole range, so that decibels survive the clip. */
  async intensity(max: (source: RoledColumn) => number): Promise<void> {
    const found = this.#find("intensity") ?? this.#find("reflectance");
    if (!found) return;
    // Reflectance is a measured quantity: the display channel is a copy, the values stay as an extra.
    if (found.role === "intensity") this.#taken.add(found);
    const { column } = found.source;
    if (column.native.dtype === "u16" && SCALED_INTENSITY.has(this.cloud.kind)) {
      if (max(found.source) > 0) this.columns.set("intensity", column);
      return;
    }
    this.columns.set("intensity", this.#adopt(await this.job.track(() => native.scaleToU16(column.native))));
  }

  async timestamps(): Promise<void> {
    const found = this.#find("timestamp");
    if (!found) return;
    this.#taken.add(found);
    const { column } = found.source;
    const clock =
      column.native.dtype === "f64" ? column : this.#adopt(await this.job.track(() => native.toF64(column.native)));
    this.columns.set("timestamps", clock);
  }

  async beamOrigins(): Promise<void> {
    const [x, y, z] = ORIGIN.map((role) => this.#find(role));
    if (!x || !y || !z) return; // an incomplete triple stays as extras
    for (const axis of [x, y, z]) this.#taken.add(axis);
    const origins = await this.job.track(() =>
      native.interleaveTriple(
        x.source.column.native,
        y.source.column.native,
        z.source.column.native,
        this.wishes.frame,
      ),
    );
    this.columns.set("beam_origins", this.#adopt(origins));
  }

  extras(): void {
    const used = new Set<string>();
    for (const found of this.candidates) {
      if (this.#taken.has(found) || found.source.column.native.dtype === "rgb16") continue;
      const slug = uniqueSlug(found.slug, used);
      used.add(slug.toLowerCase());
      const { record } = found.source;
      const las_extra = record ? { slug, label: found.own_label, record } : undefined;
      const label = wished(this.wishes.labels, slug) ?? found.label;
      this.extra_dims_meta.push({ slug, label, ...(las_extra ? { las_extra } : {}) });
      this.columns.set(extraKey(slug), found.source.column);
    }
  }
}
