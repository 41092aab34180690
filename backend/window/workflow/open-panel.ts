import { button, byId, el } from "./dom.ts";
import { type DesktopBridge, type OpenParts, openFiles, openPath } from "./open-files.ts";

/** The panel that opens files, and the window as a place to drop them. */
export function openPanel(page: Document, parts: OpenParts, desktop: DesktopBridge | undefined): void {
  const { texts } = parts;
  const panel = byId(page, "open-panel");
  const path = el("input", {
    id: "open-path",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "open-help",
  });
  const form = el(
    "form",
    {
      class: "row",
      on: {
        submit: (event) => {
          event.preventDefault();
          const wanted = path.value.trim();
          if (wanted === "") path.focus();
          else {
            void openPath(wanted, parts).then((isOpen) => {
              if (isOpen) path.value = "";
            });
          }
        },
      },
    },
    path,
    el("button", { type: "submit", class: "primary" }, texts.open.open),
  );
  panel.append(
    el("h2", {}, texts.open.title),
    el("label", { for: "open-path" }, texts.open.path),
    form,
    el("p", { class: "help", id: "open-help" }, texts.open.pathHelp),
    el("div", { class: "row" }, ...chooser(parts, desktop), el("span", { class: "help" }, texts.open.drop)),
  );
  emptyHint(page, parts);
  takeDrops(page, parts, desktop);
  desktop?.onOpenFiles((paths) => void openAll(paths, parts));
}

/** What to do while the view is empty. */
function emptyHint(page: Document, { clouds, scene, texts }: OpenParts): void {
  const hint = el("p", { class: "view-message" }, texts.open.empty);
  byId(page, "view").append(hint);
  const update = () => {
    hint.hidden = clouds.list.value.some(({ octree }) => octree !== null) || scene.objects.value.length > 0;
  };
  clouds.list.follow(update);
  scene.objects.follow(update);
}

function chooser(parts: OpenParts, desktop: DesktopBridge | undefined): HTMLElement[] {
  if (desktop) {
    return [button(parts.texts.open.choose, () => void desktop.openFiles().then((paths) => openAll(paths, parts)))];
  }
  const input = el("input", {
    type: "file",
    id: "open-files",
    multiple: true,
    hidden: true,
    "aria-label": parts.texts.open.choose,
  });
  input.addEventListener("change", () => {
    const files = [...(input.files ?? [])];
    input.value = "";
    void openFiles(files, parts);
  });
  return [button(parts.texts.open.choose, () => input.click()), input];
}

async function openAll(paths: readonly string[], parts: OpenParts): Promise<void> {
  for (const path of paths) await openPath(path, parts);
}

function takeDrops(page: Document, parts: OpenParts, desktop: DesktopBridge | undefined): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
  page.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    page.body.classList.add("dropping");
  });
  page.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) page.body.classList.remove("dropping");
  });
  page.addEventListener("drop", (event) => {
    page.body.classList.remove("dropping");
    if (!hasFiles(event)) return;
    event.preventDefault();
    void openFiles([...(event.dataTransfer?.files ?? [])], parts, desktop);
  });
}
