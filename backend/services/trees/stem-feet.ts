/** What widens a stem at breast height: cpp/ops/trees/ribbed_foot.h. */
export interface StemFoot {
  readonly tree_id: number;
  /** Along the stem, metres: of its top, and of the section above it; NaN = none is well seen. */
  readonly top_m: number;
  readonly axial_m: number;
  /** Metres: at breast height, and of the section above; NaN = unknown. */
  readonly dbh_m: number;
  readonly above_m: number;
}

const NAMED = 5;
const metres = (value: number) => `${value.toFixed(2)} m`;

function named({ tree_id, axial_m, above_m, dbh_m }: StemFoot): string {
  const at = Number.isFinite(dbh_m) ? metres(dbh_m) : "no circle";
  const above = Number.isFinite(above_m) ? `${metres(above_m)} at ${axial_m.toFixed(1)} m` : "not seen above";
  return `tree ${tree_id}: ${at}, ${above}`;
}

/** That a diameter at breast height is not what a tape or an allometry means. */
export function stemFootWarnings(feet: readonly StemFoot[]): string[] {
  if (feet.length === 0) return [];
  const trees = feet.length === 1 ? "One tree has" : `${feet.length} trees have`;
  const more = feet.length > NAMED ? ", .." : "";
  return [
    `${trees} buttresses, flutes or prop roots at breast height (flags: buttressed; ${feet.slice(0, NAMED).map(named).join("; ")}${more}). dbh_m is the circle between them, no girth of a tape around them, and basal area counts it; foot.diameter_m is the diameter at least 0.5 m above them, which equations for such trees take.`,
  ];
}
