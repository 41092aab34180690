import type { Strings } from "../strings.ts";
import { button, byId } from "./dom.ts";
import type { Edits } from "./edits.ts";

/** Undo, redo and save, also by Ctrl+Z, Ctrl+Y (Ctrl+Shift+Z) and Ctrl+S. */
export function sessionToolbar(
  page: Document,
  edits: Edits,
  save: () => void,
  texts: Strings["workflow"]["edits"],
): void {
  const undo = button(texts.undo, () => void edits.undo(), { "aria-keyshortcuts": "Control+Z" });
  const redo = button(texts.redo, () => void edits.redo(), { "aria-keyshortcuts": "Control+Y" });
  const saveButton = button(texts.save, save, { "aria-keyshortcuts": "Control+S" });
  byId(page, "session-toolbar").append(undo, redo, saveButton);
  edits.history.follow(({ made, undone, pending, waiting }) => {
    const isBehind = pending !== null || waiting.length > 0;
    undo.disabled = made.length === 0 || isBehind;
    redo.disabled = undone.length === 0 || isBehind;
  });
  page.addEventListener("keydown", (event) => {
    const action = actionOf(event);
    if (action === undefined) return;
    event.preventDefault();
    if (action === "undo" && !undo.disabled) void edits.undo();
    if (action === "redo" && !redo.disabled) void edits.redo();
    if (action === "save") save();
  });
}

const TEXT_TYPES: ReadonlySet<string> = new Set(["text", "number", "password", "search"]);

/** In a text field, undo and redo are those of its text; a question comes first. */
function actionOf({
  key,
  ctrlKey,
  metaKey,
  altKey,
  shiftKey,
  target,
}: KeyboardEvent): "undo" | "redo" | "save" | undefined {
  if (!(ctrlKey || metaKey) || altKey) return undefined;
  if (target instanceof Element && target.closest("dialog")) return undefined;
  const letter = key.toLowerCase();
  if (letter === "s" && !shiftKey) return "save";
  if (target instanceof HTMLInputElement && TEXT_TYPES.has(target.type)) return undefined;
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" && !shiftKey ? "redo" : undefined;
}
