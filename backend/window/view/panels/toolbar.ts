import type { ViewTexts } from "../../strings.ts";
import { type CloudView, COLOURINGS, type Colouring, TOOLS } from "../cloud-view.ts";
import { CLASS_COLUMNS, columnsFor } from "../colours/resolve.ts";
import { clipPanel } from "./clip-panel.ts";
import { element } from "./elements.ts";

const SIZES = { min: 1, max: 12, step: 1, value: 2 };

/** Fills `holder` with the tools, the colouring, the point size and the clip box. */
export function viewToolbar(holder: HTMLElement, view: CloudView, texts: ViewTexts): void {
  const page = holder.ownerDocument;
  holder.setAttribute("aria-label", texts.toolbar);
  holder.append(
    tools(page, view, texts),
    colouring(page, view, texts),
    sliders(page, view, texts),
    clipPanel(page, view, texts),
  );
}

function tools(page: Document, view: CloudView, texts: ViewTexts): HTMLElement {
  const group = element(page, "div", { className: "tool-group", role: "group", "aria-label": texts.tools });
  const buttons = TOOLS.map((tool) => {
    const { name, hint } = texts.toolNames[tool];
    const button = element(page, "button", { type: "button", title: hint, "aria-pressed": view.tool() === tool }, name);
    button.addEventListener("click", () => view.setTool(tool));
    return { tool, button };
  });
  view.onTool((active) => {
    for (const { tool, button } of buttons) button.setAttribute("aria-pressed", String(tool === active));
  });
  const fit = element(page, "button", { type: "button", title: texts.fitHint }, texts.fit);
  fit.addEventListener("click", () => view.fit());
  const clear = element(page, "button", { type: "button", title: texts.clearMarksHint }, texts.clearMarks);
  clear.addEventListener("click", () => view.clearMarks());
  group.append(...buttons.map(({ button }) => button), fit, clear);
  return group;
}

function colouring(page: Document, view: CloudView, texts: ViewTexts): HTMLElement {
  const kind = element(page, "select", { id: "colouring" });
  for (const name of COLOURINGS) kind.append(element(page, "option", { value: name }, texts.colouringNames[name]));
  kind.value = view.colouring().kind;
  const column = element(page, "select", { id: "colouring-column", "aria-label": texts.column });
  const [low, high] = [texts.rangeMin, texts.rangeMax].map((label) =>
    element(page, "input", { type: "number", step: "any", "aria-label": label, placeholder: label }),
  ) as [HTMLInputElement, HTMLInputElement];
  const range = (): readonly [number, number] | undefined => {
    if (low.value === "" || high.value === "") return undefined;
    const [min, max] = [Number(low.value), Number(high.value)];
    return max > min ? [min, max] : undefined;
  };
  const apply = () => {
    const given = range();
    const chosen: Colouring = {
      kind: kind.value as Colouring["kind"],
      ...(takesColumn(kind.value) && column.value !== "" ? { column: column.value } : {}),
      ...(given ? { range: given } : {}),
    };
    view.setColouring(chosen);
  };
  const refresh = () => {
    const { kind: now, column: named } = view.colouring();
    // A colouring by columns that no cloud has is not offered, and shows no empty list if its last cloud was closed.
    for (const option of kind.options)
      option.disabled =
        takesColumn(option.value) && columnsFor(option.value as Colouring["kind"], view.columns()).length === 0;
    kind.value = now;
    fillColumns(page, column, view, now);
    if (named !== undefined) column.value = named;
    column.hidden = !takesColumn(now) || column.options.length === 0;
    const isRamp = view.legend()?.kind === "ramp" || range() !== undefined;
    low.hidden = !isRamp;
    high.hidden = !isRamp;
  };
  kind.addEventListener("change", () => {
    low.value = "";
    high.value = "";
    column.value = "";
    fillColumns(page, column, view, kind.value as Colouring["kind"]);
    apply();
  });
  column.addEventListener("change", () => {
    low.value = "";
    high.value = "";
    apply();
  });
  for (const input of [low, high]) input.addEventListener("change", apply);
  view.onLegend(refresh);
  refresh();
  const group = element(page, "div", { className: "tool-group", role: "group", "aria-label": texts.colouring });
  group.append(element(page, "label", {}, texts.colouring, kind), column, low, high);
  return group;
}

const takesColumn = (kind: string) => kind === "column" || kind === "class";

/** The columns that can be chosen. The first is chosen for "column"; "class" looks for one itself. */
function fillColumns(page: Document, select: HTMLSelectElement, view: CloudView, kind: Colouring["kind"]): void {
  const before = select.value;
  const columns = columnsFor(kind, view.columns());
  select.replaceChildren(...columns.map(({ name, label }) => element(page, "option", { value: name }, label)));
  if (columns.some(({ name }) => name === before)) select.value = before;
  else if (kind === "class") {
    const first = CLASS_COLUMNS.find((name) => columns.some((one) => one.name === name));
    if (first !== undefined) select.value = first;
  }
}

function sliders(page: Document, view: CloudView, texts: ViewTexts): HTMLElement {
  const group = element(page, "div", { className: "tool-group", role: "group", "aria-label": texts.sizes });
  const slider = (label: string, settings: object, apply: (value: number) => void) => {
    const input = element(page, "input", { type: "range", ...settings });
    input.addEventListener("input", () => apply(input.valueAsNumber));
    return element(page, "label", {}, label, input);
  };
  const size = slider(texts.pointSize, SIZES, (value) => view.setPointSize(value));
  group.append(size);
  return group;
}
