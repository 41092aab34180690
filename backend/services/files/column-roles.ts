import { CANONICAL_LABELS, foldRole, incompleteRoles, isCanonicalRole, isPinnedRole, roleOfName } from "./roles.ts";
import { extraSlug, tidyLabel, uniqueSlug } from "./slugs.ts";

/** What a file says about a column. */
export interface NamedColumn {
  readonly name: string;
  readonly label: string;
  /** Role that the format or a column plan gives it, "rgb" for merged colours, "las:" and the name for a standard
   * dimension of LAS; null: the name decides. */
  readonly role: string | null;
  /** Slug chosen by the user, used without further resolution; else null. */
  readonly slug: string | null;
}

/** LAS standard dimensions with a role; every other dimension becomes `las_<name>`. */
const LAS_ROLES: ReadonlyMap<string, string> = new Map([
  ["rgb", "rgb"],
  ["intensity", "intensity"],
  ["gps_time", "timestamp"],
  ["return_number", "target_index"],
  ["number_of_returns", "target_count"],
]);

/** LAS fields of the returns of a pulse, and the extra dimensions that say the same of scans that count otherwise. */
export const RETURN_EXTRAS: ReadonlyMap<string, string> = new Map([
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

/** Canonical role of a column on its own, "rgb", or null for an extra. Positions never come from a column. */
export function roleOf({ role, name, slug }: NamedColumn): string | null {
  if (role?.startsWith("las:")) return LAS_ROLES.get(name) ?? null;
  if (role !== null) return role;
  if (slug !== null) return null; // the user chose the slug: an extra, whatever its name
  const resolved = roleOfName(name.replace(/^scalar_/i, ""));
  return resolved !== null && isCanonicalRole(resolved) && !/^[xyz]$/.test(resolved) ? resolved : null;
}

/** The roles that count: of columns with the same one only the first has it, and triples need all three columns. */
export function settleRoles(roles: readonly (string | null)[]): (string | null)[] {
  const isIncomplete = incompleteRoles(roles);
  const seen = new Set<string>(roles.includes("rgb") ? ["r", "g", "b"] : []);
  return roles.map((role) => {
    if (role === null || isIncomplete(role) || seen.has(foldRole(role))) return null;
    seen.add(foldRole(role));
    return role;
  });
}

/** Stored name of a column with a role; two columns may share it before they are numbered. */
export const columnSlug = (column: NamedColumn, role: string | null): string =>
  role !== null && isPinnedRole(role) ? role : (column.slug ?? plainSlug(column));

function plainSlug({ role, name }: NamedColumn): string {
  return role?.startsWith("las:") ? lasDimension(name).slug : extraSlug(name.replace(/^scalar_/i, ""));
}

/** Display label of a column with a role. */
export const columnLabel = ({ label }: NamedColumn, role: string | null): string =>
  (role === null ? undefined : CANONICAL_LABELS[role]) ?? tidyLabel(label);

/** True if a column with this role is stored as one of its own and under its slug; reflectance is, beside the intensity
 * that is made from it. */
const isExtra = (role: string | null): boolean =>
  role === null ||
  role === "reflectance" ||
  (isPinnedRole(role) && role !== "timestamp" && !role.startsWith("origin_"));

export interface ExpectedColumn {
  /** Role, or "extra". */
  readonly role: string;
  /** "" for colours and intensity. */
  readonly slug: string;
  readonly label: string;
}

/** Roles, slugs and labels that an import without wishes gives the columns of a file. */
export function expectedColumns(columns: readonly NamedColumn[]): ExpectedColumn[] {
  const roles = settleRoles(columns.map(roleOf));
  const used = new Set<string>();
  return columns.map((column, i) => {
    const role = roles[i] ?? null;
    const label = columnLabel(column, role);
    if (!isExtra(role)) return { role: role ?? "extra", slug: role !== null && isPinnedRole(role) ? role : "", label };
    const slug = uniqueSlug(columnSlug(column, role), used);
    used.add(slug.toLowerCase());
    return { role: role ?? "extra", slug, label };
  });
}
