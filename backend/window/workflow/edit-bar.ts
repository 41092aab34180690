import { DEFAULT_LABEL_SLUG } from "../../../shared/contract/cloud-session/label-summary.ts";
import type { Strings } from "../strings.ts";
import type { CloudView, Selection } from "../view/cloud-view.ts";
import type { Clouds } from "./clouds.ts";
import { ask } from "./dialog.ts";
import { button, byId, el } from "./dom.ts";
import type { Edit, Edits } from "./edits.ts";

export interface EditBarParts {
  readonly page: Document;
  readonly view: CloudView;
  readonly clouds: Clouds;
  readonly edits: Edits;
  readonly texts: Strings["workflow"]["edits"];
}

/** Appears when something was drawn with box, lasso or brush: deletes these points or gives them a class. */
export function editBar(parts: EditBarParts): void {
  const { page, view, clouds, texts } = parts;
  const bar = byId(page, "edit-bar");
  const where = el("strong", {});
  const slug = el("input", {
    id: "edit-slug",
    type: "text",
    value: DEFAULT_LABEL_SLUG,
    autocomplete: "off",
    spellcheck: "false",
  });
  const toClass = el("input", {
    id: "edit-class",
    type: "text",
    inputmode: "numeric",
    value: "1",
    autocomplete: "off",
  });
  const problem = el("span", { class: "problem", role: "alert" });
  let selection: Selection | null = null;
  const end = () => {
    selection = null;
    bar.hidden = true;
    view.clearMarks();
  };
  const make = (label: Edit["label"]) => {
    if (!selection) return;
    const edit: Edit = { id: crypto.randomUUID(), label, parts: selection.entries };
    end();
    void parts.edits.make(edit);
  };
  const remove = async () => {
    if (
      selection?.entries.some(({ region, limit_box }) => limit_box !== null && limit_box !== region) &&
      !(await askToCut(parts))
    )
      return;
    make(null);
  };
  const paint = () => {
    const value = Number(toClass.value);
    const isClass = Number.isInteger(value) && value >= 0 && value <= 255 && toClass.value.trim() !== "";
    problem.textContent = isClass ? "" : texts.badClass;
    if (isClass) make({ slug: slug.value.trim(), to_class: value });
    else toClass.focus();
  };
  bar.append(
    where,
    button(texts.delete, () => void remove(), { class: "danger" }),
    el("label", { for: "edit-slug" }, texts.slug),
    slug,
    el("label", { for: "edit-class" }, texts.toClass),
    toClass,
    button(texts.paint, paint, { class: "primary" }),
    button(texts.discard, end),
    problem,
  );
  view.onSelection((drawn) => {
    if (drawn.entries.length === 0) return end();
    selection = drawn;
    where.textContent = texts.selected(
      drawn.entries.map(({ session_id }) => clouds.find(session_id)?.name ?? "").join(", "),
    );
    bar.hidden = false;
  });
}

function askToCut({ page, texts }: EditBarParts): Promise<boolean> {
  return ask(byId(page, "dialogs"), {
    title: texts.clipTitle,
    content: [el("p", {}, texts.clipText)],
    yes: texts.clipYes,
    no: texts.clipNo,
  });
}
