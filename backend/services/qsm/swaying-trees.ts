import type { TreeViewFit } from "../../../shared/contract/qsm-records.ts";

interface Seen {
  readonly tree_id: number;
  readonly view_fit: TreeViewFit | null;
}

const millimetres = (metres: number) => `${(1000 * metres).toFixed(0)} mm`;

/** What a person must know about trees that scans show at different places: that wind moved them, and what became of it. */
export function swayingTreeWarnings(results: readonly Seen[]): string[] {
  const swaying = results.flatMap(({ tree_id, view_fit }) => (view_fit?.sways ? [{ tree_id, ...view_fit }] : []));
  const [first] = swaying;
  if (!first) return [];
  const most = swaying.reduce((a, b) => (b.spread_m > a.spread_m ? b : a), first);
  const seen = results.filter(({ view_fit }) => view_fit !== null).length;
  const who = `${swaying.length} of ${seen} ${seen === 1 ? "tree stands" : "trees stand"} at different places in different scans, or visits of the scanner, as in wind: up to ${millimetres(most.spread_m)} root mean square (tree ${most.tree_id}).`;
  if (!first.aligned)
    return [
      `${who} Their branches come out too thick or too thin, and volumes have no intervals; align_scans true moves the scans of each tree onto each other.`,
    ];
  return [
    `${who} The scans of each were moved onto each other along its branches before its model was made, which intervals of volumes take into account; crowns, heights and labels are of points as they were scanned. align_scans false leaves them (view_fit has the figures of each tree).`,
  ];
}

/** The same of the one tree of a build. */
export function swayingTreeWarning(view_fit: TreeViewFit | null): string[] {
  if (!view_fit?.sways) return [];
  const what = `The tree stands at different places in its ${view_fit.n_views} scans, as in wind: ${millimetres(view_fit.spread_m)} root mean square (view_fit).`;
  return [
    view_fit.aligned
      ? `${what} The scans were moved onto each other along the branches before the model was made, which intervals of volumes take into account; align_scans false leaves them.`
      : `${what} Branches come out too thick or too thin, and volumes have no intervals; align_scans true moves the scans onto each other.`,
  ];
}
