/** Standard error, of the diameter, from which it is doubtful. */
const DOUBTFUL = 0.1;
/** Share of the basal area that is worth a word. */
const NOTABLE = 0.1;
const NAMED = 3;

/** A tree's diameter at breast height, metres. */
export interface Diameter {
  readonly tree_id: number;
  readonly dbh_m: number;
  readonly sigma_m: number;
}

/** Warns where diameters that are hardly known make up much of the basal area: the square of one wrong diameter outweighs many. */
export function doubtfulWarnings(diameters: readonly Diameter[]): string[] {
  const area = (list: readonly Diameter[]) => list.reduce((sum, { dbh_m }) => sum + dbh_m ** 2, 0);
  const doubtful = diameters
    .filter(({ dbh_m, sigma_m }) => sigma_m > DOUBTFUL * dbh_m)
    .toSorted((a, b) => b.dbh_m - a.dbh_m || a.tree_id - b.tree_id);
  const share = area(doubtful) / area(diameters);
  if (!(share > NOTABLE)) return [];
  const named = doubtful.slice(0, NAMED).map(({ tree_id, dbh_m, sigma_m }) => {
    const [diameter, error] = [dbh_m, sigma_m].map((metres) => metres.toFixed(2));
    return `tree ${tree_id}: ${diameter} ± ${error} m`;
  });
  const more = doubtful.length > NAMED ? ", .." : "";
  const who = doubtful.length === 1 ? "One tree whose diameter has" : `${doubtful.length} trees whose diameters have`;
  return [
    `${who} a standard error above a tenth of it (${named.join(", ")}${more}) make${doubtful.length === 1 ? "s" : ""} up ${Math.round(100 * share)} % of the basal area.`,
  ];
}
