import type { ViewTexts } from "../../strings.ts";
import type { CloudView, Legend } from "../cloud-view.ts";
import { element, shownNumber } from "./elements.ts";

/** Keeps `holder` showing what the colours mean. */
export function legendPanel(holder: HTMLElement, view: CloudView, texts: ViewTexts): void {
  holder.setAttribute("aria-label", texts.legend);
  const show = (legend: Legend | null) => {
    holder.hidden = legend === null || view.bounds() === null;
    holder.replaceChildren(...(legend ? contents(holder.ownerDocument, legend, texts) : []));
  };
  view.onLegend(show);
  show(view.legend());
}

function contents(page: Document, legend: Legend, texts: ViewTexts): HTMLElement[] {
  const heading = element(page, "h2", {}, legend.title);
  if (legend.kind === "ramp") {
    const unit = legend.unit === "" ? "" : ` ${legend.unit}`;
    const ends = element(page, "div", { className: "legend-ends" });
    for (const value of [legend.min, (legend.min + legend.max) / 2, legend.max])
      ends.append(element(page, "span", {}, `${shownNumber(value)}${unit}`));
    return [heading, rampCanvas(page, legend.colours), ends];
  }
  const list = element(page, "ul", { className: "legend-classes", tabIndex: 0, "aria-label": legend.title });
  for (const { label, colour } of legend.entries) {
    const swatch = element(page, "span", { className: "swatch" });
    swatch.style.background = colour;
    list.append(element(page, "li", {}, swatch, element(page, "span", {}, label)));
  }
  const more = legend.more > 0 ? [element(page, "p", { className: "soft" }, texts.moreClasses(legend.more))] : [];
  return [heading, list, ...more];
}

function rampCanvas(page: Document, colours: readonly string[]): HTMLCanvasElement {
  const canvas = element(page, "canvas", { className: "legend-ramp", width: 256, height: 1, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const gradient = context.createLinearGradient(0, 0, 256, 0);
  for (const [i, colour] of colours.entries()) gradient.addColorStop(i / (colours.length - 1), colour);
  context.fillStyle = gradient;
  context.fillRect(0, 0, 256, 1);
  return canvas;
}
