import type { Outcome } from "../operations/operation.ts";
import type { Strings } from "../strings.ts";
import type { Cloud, Clouds } from "./clouds.ts";
import { button, download, el } from "./dom.ts";
import { measure } from "./format.ts";
import type { TreeOrigin } from "./scene.ts";
import { isStale } from "./tree-choice.ts";

const KEPT = 6;

export interface ResultsPanel {
  readonly element: HTMLElement;
  readonly add: (title: string, outcome: Outcome) => void;
}

/** Results of operations, the newest first. */
export function resultsPanel(
  texts: Strings["workflow"]["results"],
  clouds: Pick<Clouds, "list">,
  stale: string,
): ResultsPanel {
  const none = el("p", { class: "help" }, texts.none);
  const list = el("div", {});
  const element = el("section", { class: "results" }, el("h2", {}, texts.title), none, list);
  /** Beside files of tree lists: that the cloud has changed. */
  const notes = new WeakMap<Element, { readonly element: HTMLElement; readonly trees: TreeOrigin }>();
  const tellStale = (all: readonly Cloud[]) => {
    for (const child of list.children) {
      const note = notes.get(child);
      if (note) note.element.hidden = !isStale(note.trees, all);
    }
  };
  clouds.list.follow(tellStale);
  const add = (title: string, outcome: Outcome) => {
    none.hidden = true;
    const added = card(title, outcome, texts);
    if (outcome.file?.trees) {
      const note = el("p", { class: "problem", role: "status" }, stale);
      notes.set(added, { element: note, trees: outcome.file.trees });
      added.append(note);
    }
    list.prepend(added);
    tellStale(clouds.list.value);
    while (list.children.length > KEPT) list.lastElementChild?.remove();
  };
  return { element, add };
}

function card(title: string, { facts, bars, file }: Outcome, texts: Strings["workflow"]["results"]): HTMLElement {
  const close = button("×", () => element.remove(), { class: "plain", "aria-label": texts.dismiss(title) });
  const element = el(
    "article",
    { class: "result", "aria-label": title },
    el("div", { class: "panel-head" }, el("h3", {}, title), close),
    el("dl", { class: "readings" }, ...facts.flatMap(([what, value]) => [el("dt", {}, what), el("dd", {}, value)])),
    bars && bars.rows.length > 0 && barTable(bars),
    file && button(texts.save(file.name), () => download(file.name, file.content, file.type)),
  );
  return element;
}

function barTable({ title, unit, rows }: NonNullable<Outcome["bars"]>): HTMLElement {
  const most = Math.max(...rows.map(([, value]) => value), Number.MIN_VALUE);
  return el(
    "table",
    { class: "bars" },
    el("caption", {}, title),
    ...rows.map(([label, value]) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, label),
        el("td", {}, el("meter", { min: 0, max: most, value, "aria-hidden": "true" })),
        el("td", { class: "number" }, measure(value, unit, 3)),
      ),
    ),
  );
}
