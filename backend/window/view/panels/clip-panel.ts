import type { Point } from "../../../../shared/contract/geometry.ts";
import type { ViewTexts } from "../../strings.ts";
import type { CloudView, WorldBox } from "../cloud-view.ts";
import { element, shownNumber } from "./elements.ts";

const STEPS = 1000;
const AXES = ["x", "y", "z"] as const;

/** The clip box: off, or on with two sliders per axis over the extent of the clouds. */
export function clipPanel(page: Document, view: CloudView, texts: ViewTexts): HTMLElement {
  const box = element(page, "input", { type: "checkbox", id: "clip-on" });
  const grid = element(page, "div", { className: "clip-box popover", hidden: true });
  const select = element(page, "button", { type: "button", title: texts.selectClipHint }, texts.selectClip);
  select.addEventListener("click", () => view.selectClipBox());
  const value = element(page, "output", { className: "clip-value" });
  const rows = AXES.map((axis) => ({
    name: element(page, "span", {}, axis),
    from: slider(page, `${texts.clipFrom} ${axis}`, 0),
    to: slider(page, `${texts.clipTo} ${axis}`, STEPS),
  }));
  let extent: WorldBox | null = null;
  const apply = () => {
    extent ??= view.bounds();
    view.setClipBox(box.checked && extent ? boxOf(extent, rows) : null);
    grid.hidden = !box.checked;
    const clip = view.clipBox();
    value.textContent = clip
      ? AXES.map((axis, i) => `${axis} ${shownNumber(clip.min[i] ?? 0)} – ${shownNumber(clip.max[i] ?? 0)}`).join(", ")
      : "";
  };
  box.addEventListener("change", () => {
    if (box.checked) extent = view.bounds();
    apply();
  });
  view.onLegend(() => {
    if (box.checked && !view.clipBox()) apply(); // it was on before there was a cloud
  });
  for (const { name, from, to } of rows) {
    from.addEventListener("input", () => {
      if (from.valueAsNumber > to.valueAsNumber) to.value = from.value;
      apply();
    });
    to.addEventListener("input", () => {
      if (to.valueAsNumber < from.valueAsNumber) from.value = to.value;
      apply();
    });
    grid.append(name, from, to);
  }
  grid.append(value, select);
  const group = element(page, "div", { className: "tool-group clip", role: "group", "aria-label": texts.clipBox });
  group.append(element(page, "label", {}, box, texts.clipBox), grid);
  return group;
}

function slider(page: Document, label: string, value: number): HTMLInputElement {
  return element(page, "input", { type: "range", min: 0, max: STEPS, step: 1, value, "aria-label": label });
}

/** Sliders at their ends cut nothing off: the box reaches a little beyond the extent. */
function boxOf({ min, max }: WorldBox, rows: readonly { from: HTMLInputElement; to: HTMLInputElement }[]): WorldBox {
  const at = (axis: 0 | 1 | 2, end: "from" | "to") => {
    const share = (rows[axis]?.[end].valueAsNumber ?? 0) / STEPS;
    const margin = 0.001 + 0.001 * (max[axis] - min[axis]);
    return min[axis] - margin + share * (max[axis] - min[axis] + 2 * margin);
  };
  const corner = (end: "from" | "to"): Point => [at(0, end), at(1, end), at(2, end)];
  return { min: corner("from"), max: corner("to") };
}
