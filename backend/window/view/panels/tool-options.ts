import type { ViewTexts } from "../../strings.ts";
import type { CloudView } from "../cloud-view.ts";
import { element } from "./elements.ts";

const BRUSH = { min: 4, max: 80, step: 2, value: 16 };

/** Shows what the active tool can be set to and how it is used, over the view: the toolbar stays as it is. */
export function toolOptions(holder: HTMLElement, view: CloudView, texts: ViewTexts): void {
  const page = holder.ownerDocument;
  const size = element(page, "input", { type: "range", ...BRUSH });
  size.addEventListener("input", () => view.setBrushSize(size.valueAsNumber));
  const brush = element(page, "label", {}, texts.brushSize, size);
  const width = element(page, "input", { type: "number", min: 0.01, step: "any", value: "1" });
  width.addEventListener("change", () => {
    if (width.valueAsNumber > 0) view.setProfileWidth(width.valueAsNumber);
  });
  const band = element(page, "label", {}, texts.profileWidth, width);
  const hint = element(page, "span");
  holder.setAttribute("role", "status");
  holder.append(hint, brush, band);
  view.onTool((tool) => {
    holder.hidden = tool === "navigate";
    hint.textContent = texts.toolNames[tool].hint;
    brush.hidden = tool !== "brush";
    band.hidden = tool !== "profile";
  });
}
