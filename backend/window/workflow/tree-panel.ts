import type { TreeRow } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { Strings } from "../strings.ts";
import type { CloudView } from "../view/cloud-view.ts";
import { button, el } from "./dom.ts";
import { count, measure } from "./format.ts";
import { binsOf, histogram } from "./histogram.ts";
import type { Scene, TreeList } from "./scene.ts";

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
  readonly #view: CloudView;
  readonly #texts: Texts;
  readonly #body = el("div", { class: "tree-list" });
  #list: TreeList | null = null;
  #order: Order = { column: "tree_id", ascending: true };
  #selected: number | null = null;

  constructor(view: CloudView, scene: Scene, texts: Texts) {
    this.#view = view;
    this.#texts = texts;
    this.element = el("section", { class: "trees" }, el("h2", {}, texts.title), this.#body);
    scene.trees.follow((list) => {
      this.#list = list;
      if (this.#selected !== null) view.highlightTree(null);
      this.#selected = null;
      this.#draw();
    });
    view.onPick((point) => {
      const id = point?.values.tree_instance;
      if (
        id !== undefined &&
        point?.session_id === this.#list?.session_id &&
        this.#list?.trees.some(({ tree_id }) => tree_id === id)
      )
        this.#select(id, true);
    });
  }

  #select(id: number | null, scroll: boolean): void {
    this.#selected = id;
    this.#view.highlightTree(id);
    for (const row of this.#body.querySelectorAll<HTMLElement>("tbody tr")) {
      const isSelected = row.dataset.tree === String(id);
      row.classList.toggle("selected", isSelected);
      row.querySelector("button")?.setAttribute("aria-pressed", String(isSelected));
      if (isSelected && scroll) row.scrollIntoView({ block: "nearest" });
    }
    const clear = this.#body.querySelector<HTMLButtonElement>(".tree-clear");
    if (clear) clear.disabled = id === null;
  }
  #sort(column: Column): void {
    const isSame = this.#order.column === column;
    this.#order = { column, ascending: isSame ? !this.#order.ascending : true };
    this.#draw();
    this.#body.querySelector<HTMLElement>(`[data-column="${column}"]`)?.focus();
  }

  #draw(): void {
    const list = this.#list;
    const texts = this.#texts;
    if (!list) {
      this.#body.replaceChildren(el("p", { class: "help" }, texts.none));
      return;
    }
    const columns = (Object.keys(texts.columns) as Column[]).filter(
      (column) => column === "tree_id" || list.trees.some((tree) => typeof tree[column] === "number"),
    );
    const heads = columns.map((column) => this.#head(column, list));
    const rows = sorted(list.trees, this.#order).map((tree) => this.#row(tree, columns));
    this.#body.replaceChildren(
      button(texts.clear, () => this.#select(null, false), { class: "tree-clear", disabled: this.#selected === null }),
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
    if (this.#selected !== null) this.#select(this.#selected, true);
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
  #row(tree: TreeRow, columns: readonly Column[]): HTMLElement {
    const { tree_id, flags } = tree;
    const choose = button(String(tree_id), () => this.#select(this.#selected === tree_id ? null : tree_id, false), {
      class: "plain",
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
      this.#select(this.#selected === tree_id ? null : tree_id, false);
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
