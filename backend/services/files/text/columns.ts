import type { ColumnPlan } from "../../../../shared/contract/column-plan.ts";
import {
  CANONICAL_LABELS,
  foldRole,
  incompleteRoles,
  isCanonicalRole,
  isMultiReturnRole,
  isPinnedRole,
  roleOfName,
  storageOf,
} from "../roles.ts";
import { extraSlug, tidyLabel, uniqueSlug } from "../slugs.ts";
import { isInteger, isNumber, toNumber } from "./fields.ts";
import { resolvesPosition, type TextHead } from "./head.ts";

/** One column of a text file and how it is imported. */
export interface TextColumn {
  /** 0-based. */
  readonly index: number;
  /** Name in the file or the legend. */
  readonly header_name: string | null;
  /** Canonical role, "extra" or "skip". */
  readonly role: string;
  /** Stored name; "" for positions, colours, intensity, reflectance and skipped columns. */
  readonly slug: string;
  readonly label: string;
  readonly categorical: boolean;
  /** How the reader stores it. */
  readonly type: "auto" | "float" | "f64";
}

/** A column before it has a slug. */
interface Draft {
  readonly index: number;
  readonly name: string | null;
  readonly role: string;
  readonly slug?: string | undefined;
  readonly label?: string | undefined;
  readonly categorical?: boolean;
}

const POSITION_SAMPLE = 64;
const HIGHEST_GRID_INDEX = 100_000;

/** Assigns the slugs. A second column with the same singleton role becomes an extra, and so do the columns of an
 * incomplete colour or beam origin; equal slugs are numbered. */
function finish(given: readonly Draft[]): TextColumn[] {
  const isIncomplete = incompleteRoles(given.map(({ role }) => role));
  const drafts = given.map((draft) => (isIncomplete(draft.role) ? plain(draft) : draft));
  const roles = new Set<string>();
  const slugs = new Set(drafts.map(({ role }) => role).filter(isPinnedRole));
  return drafts.map((draft) => {
    const { index, name, categorical = false } = draft;
    const single = foldRole(draft.role);
    const role = isCanonicalRole(draft.role) && roles.has(single) ? "extra" : draft.role;
    if (isCanonicalRole(role)) roles.add(single);
    const canonical = CANONICAL_LABELS[role];
    const label = canonical ?? draft.label ?? (name === null ? role : tidyLabel(name) || role);
    if (canonical !== undefined)
      return { index, header_name: name, role, slug: role, label, categorical, type: storageOf(role, role) };
    if (role !== "extra") return { index, header_name: name, role, slug: "", label, categorical, type: "auto" };
    const slug = uniqueSlug(draft.slug ?? extraSlug(name ?? label), slugs);
    slugs.add(slug.toLowerCase());
    return { index, header_name: name, role, slug, label, categorical, type: storageOf(role, slug) };
  });
}

/** A column whose role does not count, kept under its own name. */
function plain({ role, slug, label, ...draft }: Draft): Draft {
  const name = draft.name ?? role;
  return { ...draft, role: "extra", slug: slug ?? extraSlug(name), label: label ?? tidyLabel(name) };
}

const AXES: ReadonlySet<string> = new Set(["x", "y", "z"]);
/** Whether a column is named x, y or z itself, with or without a unit, and not by another word for it. */
const isExact = ({ name, role }: Draft) =>
  name
    ?.replace(/[[(].*$/, "")
    .trim()
    .toLowerCase() === role;

/** A column named x, y or z is that coordinate; then easting, height and the like are columns of their own. */
function exactAxes(drafts: readonly Draft[]): Draft[] {
  const exact = new Set(drafts.filter((draft) => AXES.has(draft.role) && isExact(draft)).map(({ role }) => role));
  return drafts.map((draft) => (exact.has(draft.role) && !isExact(draft) ? plain(draft) : draft));
}

/** Columns that could have been a coordinate, too, by their names. */
export function contestedAxes(columns: readonly TextColumn[]): string[] {
  const nameOf = ({ header_name, index }: TextColumn) => `"${header_name ?? index + 1}"`;
  return [...AXES].flatMap((axis) => {
    const taken = columns.find(({ role }) => role === axis);
    const others = columns.filter(
      ({ role, header_name }) => role === "extra" && roleOfName(header_name ?? "") === axis,
    );
    if (!taken || others.length === 0) return [];
    return [`${axis} is column ${nameOf(taken)}; ${others.map(nameOf).join(", ")} stayed a column beside it`];
  });
}

/** An unnamed column, kept under its number. */
const numbered = (index: number): Draft => ({
  index,
  name: null,
  role: "extra",
  slug: `col_${index + 1}`,
  label: `Column ${index + 1}`,
});

/** A named column: the role that its name stands for, else an extra of that name. */
function namedDraft(index: number, name: string): Draft {
  return name === "" ? numbered(index) : { index, name, role: roleOfName(name) ?? "extra" };
}

/** Columns by an explicit plan. Columns that it does not list are left out. */
export function planColumns(plan: ColumnPlan, head: TextHead): TextColumn[] {
  const taken = new Set(plan.columns.map(({ role }) => foldRole(role.toLowerCase())));
  const drafts = plan.columns.map((entry): Draft => {
    const role = entry.role.trim().toLowerCase();
    const { index, categorical } = entry;
    const name = head.names[index] || null;
    if (isCanonicalRole(role))
      return { index, name, role, slug: extraSlug(entry.slug || role), categorical, label: entry.label ?? undefined };
    const own = role === "extra" ? entry.slug || entry.label : entry.slug || role;
    if (role === "skip" || !own) return { index, name, role: "skip" };
    const label = tidyLabel(entry.label || (role === "extra" ? own : name || own)) || own;
    const alias = roleOfName(own);
    if (alias === null || !isPinnedRole(alias))
      return { index, name, role: "extra", slug: extraSlug(own), label, categorical };
    // A rename must not hide a canonical column; a class column must not turn on full-waveform analysis.
    const pinned = !(categorical && isMultiReturnRole(alias));
    if (pinned && !taken.has(alias)) {
      taken.add(alias);
      return { index, name, role: alias, slug: extraSlug(own), label, categorical };
    }
    return { index, name, role: "extra", slug: pinned ? alias : classSlug(label), label, categorical };
  });
  return finish(drafts);
}

/** Slug, made from the label, of a class column that is named like an echo column. */
function classSlug(label: string): string {
  const slug = extraSlug(label);
  const alias = roleOfName(slug);
  return alias !== null && isPinnedRole(alias) ? uniqueSlug(`${slug}_class`, new Set()) : slug;
}

/** Columns by a legend of names; columns beyond the legend are kept as extras. */
export function legendColumns(names: readonly string[], width: number): TextColumn[] {
  const known = names.map((name, index): Draft => {
    const word = name.toLowerCase();
    if (word === "skip") return { index, name, role: "skip" };
    const role = roleOfName(name) ?? (isCanonicalRole(word) ? word : null);
    return role === null
      ? { index, name, role: "extra", slug: extraSlug(word), label: tidyLabel(word) }
      : { index, name, role, slug: extraSlug(word) };
  });
  const rest = Array.from({ length: Math.max(0, width - names.length) }, (_, i) => numbered(names.length + i));
  return finish(exactAxes([...known, ...rest]));
}

/** Columns by a header that names x, y and z; `axes`: coordinates that other names stand for, by index. */
export function headerColumns(
  head: TextHead,
  width: number,
  axes: ReadonlyMap<number, string> = new Map(),
): TextColumn[] {
  const drafts = Array.from({ length: width }, (_, index): Draft => {
    const draft = namedDraft(index, head.names[index] ?? "");
    return { ...draft, role: axes.get(index) ?? draft.role };
  });
  return finish(axes.size > 0 ? unitColors(drafts, head) : exactAxes(unitColors(drafts, head)));
}

/** Treats colours written as fractions as 0..1, whatever their header says: read as 0..255, all would be black. */
function unitColors(drafts: Draft[], head: TextHead): Draft[] {
  const channels = drafts.filter(({ role }) => /^[rgb]255$/.test(role));
  const values = channels.flatMap(({ index }) =>
    head.rows.map((row) => toNumber(row[index] ?? "", head.decimal_comma)),
  );
  const numbers = values.filter(Number.isFinite);
  const fractions = numbers.some((v) => !Number.isInteger(v)) && numbers.every((v) => v >= 0 && v <= 1);
  if (!fractions) return drafts;
  return drafts.map((draft) => (channels.includes(draft) ? { ...draft, role: foldRole(draft.role) } : draft));
}

/** True if triples are colours 0..255: whole numbers, also written with decimals ("255.000000"). Whole numbers with
 * decimals that are all 0 or 1 are not: axis-aligned normals look the same. */
function isByteColor(triples: readonly (readonly string[])[]): boolean {
  const fields = triples.flat();
  const whole = fields.every((field) => /^\+?\d{1,3}(?:[.,]0*)?$/.test(field) && Number.parseInt(field, 10) <= 255);
  const decimals = fields.some((field) => !isInteger(field));
  return fields.length > 0 && whole && (!decimals || fields.some((field) => Number.parseInt(field, 10) > 1));
}

/** Columns by position and values, for tables without usable names. `width` >= 3. `extension`: of the file, with dot. */
export function positionColumns(head: TextHead, width: number, extension = ""): TextColumn[] {
  const numeric = head.rows.filter((row) => row.every((field) => field === "" || isNumber(field, head.decimal_comma)));
  const rows = numeric.slice(0, POSITION_SAMPLE);
  const column = (index: number) => rows.map((row) => row[index] ?? "");
  const whole = (index: number) => rows.length > 0 && column(index).every(isInteger);
  const gridIndex = (index: number) =>
    whole(index) && column(index).every((field) => Number(field) >= 0 && Number(field) < HIGHEST_GRID_INDEX);
  const colorAt = (index: number) =>
    index + 3 <= width && isByteColor(rows.map((row) => [0, 1, 2].map((i) => row[index + i] ?? "")));

  const roles: string[] = [];
  while (roles.length < Math.min(2, width - 3) && gridIndex(roles.length)) {
    const later = Array.from({ length: width - roles.length - 1 }, (_, i) => roles.length + 1 + i);
    if (later.every(whole)) break;
    roles.push(roles.length === 0 ? "row_index" : "column_index");
  }
  roles.push("x", "y", "z");
  // PTS stores intensity before the colours.
  const pts = head.declared_count !== null || extension === ".pts" || !colorAt(roles.length);
  if (pts && width - roles.length === 4 && colorAt(roles.length + 1)) roles.push("intensity");
  if (colorAt(roles.length)) roles.push("r255", "g255", "b255");
  if (width - roles.length === 1) roles.push("intensity");
  const drafts = Array.from({ length: width }, (_, index): Draft => {
    const role = roles[index];
    return role === undefined ? numbered(index) : { index, name: null, role };
  });
  if (head.names.length === 0 || resolvesPosition(head.names)) return finish(drafts);
  // Names that do not identify x, y and z still identify the other columns.
  const first = roles.indexOf("x");
  return finish(
    drafts.map((draft, index) => {
      const name = head.names[index] ?? "";
      if (index >= first && index < first + 3) return { ...draft, name: name || null };
      return name === "" ? draft : namedDraft(index, name);
    }),
  );
}
