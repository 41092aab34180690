import { type CreateSessionRequest, SOURCE_UNITS } from "../../../../shared/contract/cloud-session/create.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { PositionFrame } from "../../../native/files/readers.ts";
import type { Triple } from "../../../sessions/column-names.ts";
import { isCanonicalRole } from "../../files/roles.ts";
import { kindOfFile, SCAN_KINDS, type SourceKind, sourceFile } from "../../files/source.ts";

/** A create request that passed the checks before the run. */
export interface CheckedCreate {
  readonly request: CreateSessionRequest;
  readonly path: string;
  readonly kind: SourceKind;
  readonly frame: PositionFrame;
  /** Scanner position sent by the user, stored frame. */
  readonly origin: Triple | null;
  readonly unit_scale: number | null;
  /** Why `world_shift` is invalid. By contract, this refusal is reported in `error` of the tail. */
  readonly shift_problem: AppError | null;
  /** Unknown keys of the request. */
  readonly unknown_keys: readonly string[];
}

/** All checks that do not read the file. Errors: not_found, invalid_argument, unsupported. */
export async function checkCreateRequest(
  request: CreateSessionRequest,
  unknown_keys: readonly string[] = [],
): Promise<CheckedCreate> {
  const path = await sourceFile(request.source_path);
  const kind = kindOfFile(path);
  const unit_scale = unitScale(request.source_units);
  const shift_problem = tripleProblem("world_shift", request.world_shift);
  const shift = shift_problem ? ([0, 0, 0] as const) : (triple("world_shift", request.world_shift) ?? [0, 0, 0]);
  const frame: PositionFrame = { unit_scale: unit_scale ?? 1, shift };
  const given = triple("origin", request.origin);
  if ((request.scan_index ?? 0) > 0 && !SCAN_KINDS.has(kind)) {
    throw new AppError(
      "invalid_argument",
      `scan_index ${request.scan_index}: a file of this format (${kind}) contains one scan, with index 0`,
    );
  }
  for (const [slug, role] of Object.entries(request.role_overrides ?? {})) {
    if (!isCanonicalRole(role) || ["x", "y", "z"].includes(role)) {
      const rule = isCanonicalRole(role)
        ? "positions always come from the file"
        : "it is not a role of the column plan";
      throw new AppError("invalid_argument", `role_overrides.${slug}: "${role}" cannot be assigned here, ${rule}`);
    }
  }
  const origin = given && toStored(given, frame);
  return { request, path, kind, frame, origin, unit_scale, shift_problem, unknown_keys };
}

function unitScale(unit: string | null | undefined): number | null {
  if (unit === null || unit === undefined) return null;
  if (Object.hasOwn(SOURCE_UNITS, unit)) return SOURCE_UNITS[unit as keyof typeof SOURCE_UNITS];
  throw new AppError(
    "invalid_argument",
    `source_units "${unit}" is not one of ${Object.keys(SOURCE_UNITS).join(", ")}`,
  );
}

function tripleProblem(name: string, values: readonly number[] | null | undefined): AppError | null {
  if (!values || (values.length === 3 && values.every(Number.isFinite))) return null;
  return new AppError("invalid_argument", `${name} must be three finite numbers, not [${values.join(", ")}]`);
}

function triple(name: string, values: readonly number[] | null | undefined): Triple | null {
  const problem = tripleProblem(name, values);
  if (problem) throw problem;
  const [x = 0, y = 0, z = 0] = values ?? [];
  return values ? [x, y, z] : null;
}

const toStored = ([x, y, z]: Triple, { unit_scale, shift }: PositionFrame): Triple => [
  x * unit_scale - shift[0],
  y * unit_scale - shift[1],
  z * unit_scale - shift[2],
];
/** A stored position in true world coordinates. */
export const toWorld = ([x, y, z]: Triple, { shift }: PositionFrame): [number, number, number] => [
  x + shift[0],
  y + shift[1],
  z + shift[2],
];
