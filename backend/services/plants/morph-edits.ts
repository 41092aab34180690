import type { ParamDistribution } from "../../../shared/contract/plant-morph.ts";
import type { PlantGrowth } from "../../../shared/contract/plant-species.ts";
import type { NativeMorphEdit } from "../../native/plants/morph.ts";
import { expressionError, type ParsedEdit } from "./expression.ts";
import {
  EDITABLE,
  type EditableParameter,
  type GeometryScale,
  isEditable,
  isGeometryScale,
  READ_ONLY,
  representative,
  representativeOf,
  SCALE_RANGE,
} from "./parameters.ts";

/** Edits for the native op, and what was left out of them. */
export interface ResolvedEdits {
  readonly edits: readonly NativeMorphEdit[];
  readonly warnings: readonly string[];
}

/**
 * Turns values of parameters into factors of the document's values: new / default. Errors: invalid_argument with the
 * column for unknown names, read-only parameters and values that make no sense.
 */
export function resolveEdits(parsed: readonly ParsedEdit[], species: PlantGrowth): ResolvedEdits {
  const state: State = { values: new Map(), warnings: [], species };
  const edits = parsed.flatMap((edit) => {
    const { shoot_type, param, target_column } = edit;
    if (shoot_type !== null && !Object.hasOwn(species.shoot_types, shoot_type)) {
      const known = Object.keys(species.shoot_types).join(", ");
      throw expressionError(target_column, `${species.id} has no shoot type "${shoot_type}"; it has ${known}`);
    }
    if (isGeometryScale(param)) return [scaled(edit, param, state)];
    if (isEditable(param)) {
      const types = shoot_type === null ? Object.keys(species.shoot_types) : [shoot_type];
      return types.flatMap((type) => grown(edit, param, type, state));
    }
    const read_only = (READ_ONLY as readonly string[]).includes(param);
    throw expressionError(
      target_column,
      read_only
        ? `${param} is read-only: it acts while a plant grows`
        : `"${param}" is none of ${[...Object.keys(EDITABLE), "leaf_scale", "petiole_length", "petiole_radius", "internode_radius"].join(", ")}`,
    );
  });
  return { edits, warnings: state.warnings };
}

interface State {
  /** Representative value of each parameter after the edits so far. */
  readonly values: Map<string, number>;
  readonly warnings: string[];
  readonly species: PlantGrowth;
}

const OPS = { "=": "set", "*=": "scale", "+=": "add" } as const;

function scaled(edit: ParsedEdit, param: GeometryScale, state: State): NativeMorphEdit {
  const { least, most } = SCALE_RANGE;
  const types = edit.shoot_type === null ? ["", ...Object.keys(state.species.shoot_types)] : [edit.shoot_type];
  for (const type of types) note(edit, `${type}.${param}`, 1, { least, most }, state);
  return {
    shoot_type: edit.shoot_type ?? "",
    parameter: param,
    op: OPS[edit.op],
    value: dividedBy(edit.value, 1),
    least,
    most,
  };
}

function grown(edit: ParsedEdit, param: EditableParameter, type: string, state: State): NativeMorphEdit[] {
  const shoot = state.species.shoot_types[type];
  if (!shoot) return [];
  const standard = representativeOf(shoot, param);
  if (standard === 0 && edit.op !== "*=") {
    state.warnings.push(`${type}.${param} is 0 for ${state.species.id}: it cannot be scaled and was left alone.`);
    return [];
  }
  const range = EDITABLE[param];
  if (standard !== 0) note(edit, `${type}.${param}`, standard, range, state);
  const ends = standard === 0 ? [0, 1e3] : [range.least / standard, range.most / standard];
  return [
    {
      shoot_type: type,
      parameter: param,
      op: OPS[edit.op],
      value: dividedBy(edit.value, edit.op === "*=" ? 1 : standard),
      least: Math.max(-1e6, Math.min(...ends)),
      most: Math.min(1e6, Math.max(...ends)),
    },
  ];
}

/** Follows the representative value. Errors: it leaves its range. */
function note(
  { op, value, value_column, param }: ParsedEdit,
  key: string,
  standard: number,
  { least, most }: { readonly least: number; readonly most: number },
  { values }: State,
): void {
  const before = values.get(key) ?? standard;
  const given = representative(value);
  const after = op === "=" ? given : op === "*=" ? before * given : before + given;
  if (!(after >= least && after <= most)) {
    throw expressionError(value_column, `${param} would become ${after}; it must be from ${least} to ${most}`);
  }
  values.set(key, after);
}

function dividedBy(value: number | ParamDistribution, by: number): NativeMorphEdit["value"] {
  const { distribution, parameters } =
    typeof value === "number" ? { distribution: "constant" as const, parameters: [value] } : value;
  const [a = 0, b = 0] = parameters;
  return { kind: distribution, a: a / by, b: distribution === "normal" ? b / Math.abs(by) : b / by };
}
