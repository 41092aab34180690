/** What may cover a stem: cpp/ops/trees/covered_stem.h. */
export interface StemCover {
  readonly tree_id: number;
  /** No bark was seen between the leaves at breast height. */
  readonly covered: boolean;
  /** Ribs scatter, too: they are told by themselves. */
  readonly buttressed: boolean;
  /** Metres; NaN without a circle at breast height. */
  readonly dbh_m: number;
  /** Of the points about that circle, and of the best sections of the stem, metres; NaN = unknown. */
  readonly scatter_m: number;
  readonly bare_scatter_m: number;
}

/** Scatter of leaves: above that of bark, of stems, and of the noise that bare sections show. */
const LEAST_M = 0.02;
const LEAST_PART = 0.03;
const LEAST_RATIO = 3;
/** The trunks of giants are lobed: their points scatter about a circle by their form, metres of diameter. */
export const THICK_M = 1.33;
const NAMED = 5;

function named(stems: readonly StemCover[]): string {
  const more = stems.length > NAMED ? ", .." : "";
  return `tree ${stems
    .slice(0, NAMED)
    .map(({ tree_id }) => tree_id)
    .join(", ")}${more}`;
}

/** Scatter of a bare stem: the quarter of the trees with the least; infinite where none is known. */
function noiseOf(stems: readonly StemCover[]): number {
  const known = stems.map(({ bare_scatter_m }) => bare_scatter_m).filter(Number.isFinite);
  return known.sort((a, b) => a - b)[Math.floor(known.length / 4)] ?? Number.POSITIVE_INFINITY;
}

/** The stems whose diameter may be that of leaves around them. */
export function leafyStems(stems: readonly StemCover[]): StemCover[] {
  const noise = noiseOf(stems);
  return stems.filter(
    ({ dbh_m, scatter_m, buttressed }) =>
      !buttressed && dbh_m <= THICK_M && scatter_m > Math.max(LEAST_M, LEAST_PART * dbh_m, LEAST_RATIO * noise),
  );
}

/** That stems have no diameter, or a doubtful one, as leaves cover them. */
export function coverWarnings(stems: readonly StemCover[]): string[] {
  const covered = stems.filter((stem) => stem.covered);
  const leafy = leafyStems(stems);
  const measured = stems.filter(({ dbh_m }) => dbh_m > 0).length;
  const warnings: string[] = [];
  if (covered.length > 0)
    warnings.push(
      `${covered.length} of ${stems.length} stems ${covered.length === 1 ? "is" : "are"} covered at breast height by leaves, as of ivy, between which no bark is seen (flags: covered; ${named(covered)}). They have no diameter; stem_curve has those of the bare stem above.`,
    );
  if (leafy.length > 0)
    warnings.push(
      `${leafy.length} of ${measured} diameters may be those of leaves, as of ivy, around the stem, or of scans that do not fit each other (${named(leafy)}): points scatter ${Math.round(1000 * Math.min(...leafy.map(({ scatter_m }) => scatter_m)))} mm and more about their circles, and ${Math.round(1000 * noiseOf(stems))} mm about bare stems. Such diameters are up to twice as large as the stem's, which sigma_m does not tell: look at them. Where scans lie beside each other by a few centimetres, diameters are circles through the points of both, and uncertain by the scatter.`,
    );
  return warnings;
}
