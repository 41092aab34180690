import type { Strings } from "./strings.ts";

/** The element of index.html with this id. Errors: Error, which only a broken build can cause. */
export function byId(page: Document, id: string): HTMLElement {
  const found = page.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

/** Writes the texts that belong to the page itself. */
export function namePage(page: Document, { appTitle, skipToView, regions }: Strings): void {
  page.title = appTitle;
  const heading = page.createElement("h1");
  heading.textContent = appTitle;
  byId(page, "brand").append(heading);
  const skip = page.createElement("a");
  skip.className = "skip";
  skip.href = "#view";
  skip.textContent = skipToView;
  skip.addEventListener("click", (event) => {
    event.preventDefault(); // the address stays as it is
    byId(page, "view").querySelector("canvas")?.focus();
  });
  page.body.prepend(skip);
  const names = {
    left: regions.left,
    right: regions.right,
    centre: regions.centre,
    notices: regions.notices,
    "session-toolbar": regions.sessionToolbar,
  };
  for (const [id, name] of Object.entries(names)) byId(page, id).setAttribute("aria-label", name);
}
