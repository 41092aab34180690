import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";

const addon = addonAs<MasksNative>();

/** One operand: the rows whose byte is non-zero; with `invert`, the other rows. */
export interface MaskTerm {
  readonly mask: NativeColumn;
  readonly invert: boolean;
}

export interface CombinedMask {
  /** u8 per row, 0 or 1. */
  readonly mask: NativeColumn;
  readonly count: number;
}

export interface MasksNative {
  combineMasks(terms: readonly MaskTerm[], how: "and" | "or"): NativeJob<CombinedMask>;
}

/** Rows in all ("and") or in any ("or") of the terms. Needs at least one term; all have the same length. */
export const combineMasks: MasksNative["combineMasks"] = (terms, how) => addon.combineMasks(terms, how);
