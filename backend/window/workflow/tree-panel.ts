import type { TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import type { Strings } from "../strings.ts";
import { button, el } from "./dom.ts";
import { count, measure } from "./format.ts";
import { binsOf, histogram } from "./histogram.ts";
import type { TreeList } from "./scene.ts";
import type { ShownTrees, TreeChoice } from "./tree-choice.ts";

type Texts = Strings["workflow"]["trees"];
type Column = keyof Texts["columns"];

const DIGITS: Readonly<Partial<Record<Column, number>>> = {
  dbh_m: 3,
  lean_deg: 1,
  crown_projected_area_m2: 1,
  height_m: 1,
};

interface Order {
  readonly column: Column;
  readonly ascending: boolean;
}

/** The tree list: sorts by a column, shows the distribution of each, and the chosen tree in the view. */
export class TreePanel {
  readonly element: HTMLElement;
  readonly #choice: TreeChoice;
  readonly #texts: Texts;
  readonly #body = el("div", { class: "tree-list" });
  #shown: ShownTrees | null = null;
  #order: Order = { column: "tree_id", ascending: true };

  constructor(choice: TreeChoice, texts: Texts) {
    this.#choice = choice;
    this.#texts = texts;
    this.element = el("section", { class: "trees" }, el("h2", {}, texts.title), this.#body);
    choice.shown.follow((shown) => {
      const before = this.#shown;
      this.#shown = shown;
      if (before?.list === shown.list && before.is_stale === shown.is_stale) this.#mark(shown.is_picked);
      else this.#draw();
    });
  }

  /** Marks the row of the chosen tree. */
  #mark(scroll: boolean): void {
    const { chosen = null } = this.#shown ?? {};
    for (const row of this.#body.querySelectorAll<HTMLElement>("tbody tr")) {
      const isChosen = row.dataset.tree === String(chosen);
      row.classList.toggle("selected", isChosen);
      row.querySelector("button")?.setAttribute("aria-pressed", String(isChosen));
      if (isChosen && scroll) row.scrollIntoView({ block: "nearest" });
    }
    const clear = this.#body.querySelector<HTMLButtonElement>(".tree-clear");
    if (clear) clear.disabled = chosen === null;
  }
  /** Chooses a tree, or no tree if it was the chosen one. */
  #toggle(id: number): void {
    this.#choice.choose(this.#shown?.chosen === id ? null : id);
  }
  #sort(column: Column): void {
    const isSame = this.#order.column === column;
    this.#order = { column, ascending: isSame ? !this.#order.ascending : true };
    this.#draw();
    this.#body.querySelector<HTMLElement>(`[data-column="${column}"]`)?.focus();
  }

  #draw(): void {
    const { list = null, is_stale = false } = this.#shown ?? {};
    const texts = this.#texts;
    if (!list) {
      this.#body.replaceChildren(el("p", { class: "help" }, texts.none));
      return;
    }
    const columns = (Object.keys(texts.columns) as Column[]).filter(
      (column) => column === "tree_id" || list.trees.some((tree) => typeof tree[column] === "number"),
    );
    const heads = columns.map((column) => this.#head(column, list));
    const rows = sorted(list.trees, this.#order).map((tree) => this.#row(tree, columns, is_stale));
    this.#body.replaceChildren(
      ...(is_stale ? [el("p", { class: "problem", role: "status" }, texts.stale)] : []),
      button(texts.clear, () => this.#choice.choose(null), { class: "tree-clear" }),
      el(
        "div",
        { class: "table-frame", tabindex: 0, role: "region", "aria-label": texts.title },
        el(
          "table",
          {},
          el("caption", {}, texts.caption(count(list.trees.length))),
          el("thead", {}, el("tr", {}, ...heads, el("th", { scope: "col" }, texts.flags))),
          el("tbody", {}, ...rows),
        ),
      ),
    );
    this.#mark(true);
  }
  #head(column: Column, { trees }: TreeList): HTMLElement {
    const [label, unit] = this.#texts.columns[column];
    const isOrder = this.#order.column === column;
    const order = isOrder ? (this.#order.ascending ? "ascending" : "descending") : "none";
    const bins = column === "tree_id" ? null : binsOf(trees.map((tree) => tree[column]));
    const digits = DIGITS[column] ?? 2;
    const words =
      bins && this.#texts.histogram(label, measure(bins.low, unit, digits), measure(bins.high, unit, digits));
    return el(
      "th",
      { scope: "col", "aria-sort": order },
      button(unit === "" ? label : `${label}, ${unit}`, () => this.#sort(column), {
        class: "plain",
        title: this.#texts.sort(label),
        "data-column": column,
      }),
      bins && words !== null && histogram(bins, words),
    );
  }
  #row(tree: TreeRow, columns: readonly Column[], is_stale: boolean): HTMLElement {
    const { tree_id, flags } = tree;
    const choose = button(String(tree_id), () => this.#toggle(tree_id), {
      class: "plain",
      disabled: is_stale,
      "aria-pressed": "false",
      "aria-label": this.#texts.selected(tree_id),
    });
    const cells = columns.map((column) =>
      column === "tree_id"
        ? el("th", { scope: "row" }, choose)
        : el("td", { class: "number" }, measure(tree[column], "", DIGITS[column] ?? 2)),
    );
    const notes = flags.map((flag) => this.#texts.flagNames[flag]).join(", ");
    const row = el("tr", { "data-tree": tree_id }, ...cells, el("td", {}, notes));
    row.addEventListener("click", (event) => {
      if (event.target instanceof HTMLButtonElement) return;
      this.#toggle(tree_id);
    });
    return row;
  }
}

/** Trees without a value come last, equal ones by their number. */
function sorted(trees: readonly TreeRow[], { column, ascending }: Order): TreeRow[] {
  const sign = ascending ? 1 : -1;
  return [...trees].sort((a, b) => {
    const [x, y] = [a[column] ?? null, b[column] ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a.tree_id - b.tree_id;
    return sign * (x - y) || a.tree_id - b.tree_id;
  });
}
