import type { ViewTexts } from "../../strings.ts";
import type { CloudView, Measurement, PickedPoint } from "../cloud-view.ts";
import { element, shownNumber } from "./elements.ts";

type Row = readonly [string, string];

/** Shows the last measurement and the last picked point. */
export function readingsPanel(holder: HTMLElement, view: CloudView, texts: ViewTexts): void {
  const page = holder.ownerDocument;
  holder.setAttribute("aria-live", "polite");
  const measured = element(page, "div", { hidden: true });
  const picked = element(page, "div", { hidden: true });
  holder.append(measured, picked);
  const show = (part: HTMLElement, title: string, rows: readonly Row[]) => {
    const list = element(page, "dl", { className: "readings" });
    for (const [name, value] of rows) list.append(element(page, "dt", {}, name), element(page, "dd", {}, value));
    part.replaceChildren(element(page, "h2", {}, title), list);
    part.hidden = rows.length === 0;
  };
  view.onMeasure((measurement) => show(measured, texts.measurement, measureRows(measurement, texts)));
  view.onPick((point) => show(picked, texts.pickedPoint, point ? pointRows(point, view) : []));
}

const metres = (value: number) => `${value.toFixed(3)} m`;

function measureRows({ distance_m, horizontal_m, vertical_m }: Measurement, texts: ViewTexts): Row[] {
  return [
    [texts.distance, metres(distance_m)],
    [texts.horizontal, metres(horizontal_m)],
    [texts.vertical, metres(vertical_m)],
  ];
}

function pointRows({ position, values }: PickedPoint, view: CloudView): Row[] {
  const labels = new Map(view.columns().map(({ name, label }) => [name, label]));
  return [
    ...(["x", "y", "z"] as const).map((axis, i): Row => [axis, metres(position[i] ?? 0)]),
    ...Object.entries(values).map(([name, value]): Row => [labels.get(name) ?? name, shownNumber(value)]),
  ];
}
