import type { ViewTexts } from "../../strings.ts";
import type { CloudView, ViewStats } from "../cloud-view.ts";

/** Keeps `holder` showing how many points are drawn and how fast. Not announced: it changes all the time. */
export function statsLine(holder: HTMLElement, view: CloudView, texts: ViewTexts): void {
  const show = (stats: ViewStats) => {
    holder.textContent = texts.stats(stats);
  };
  view.onStats(show);
  show(view.stats());
}
