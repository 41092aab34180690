/* Small helpers that make elements. The page's policy allows no inline styles and no markup from strings. */

export type Child = Node | string | null | undefined | false;

export interface Props {
  readonly class?: string;
  readonly id?: string;
  /** Listeners by event name. */
  readonly on?: Readonly<Record<string, (event: Event) => void>>;
  /** Other attributes; true sets it empty, false and undefined leave it out. */
  readonly [attribute: string]: unknown;
}

/** An element with attributes, listeners and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { on, ...attributes }: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  for (const [name, handler] of Object.entries(on ?? {})) element.addEventListener(name, handler);
  element.append(...children.filter(isShown));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Props = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  setAttributes(element, attributes);
  element.append(...children.filter(isShown));
  return element;
}

function setAttributes(element: Element, attributes: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

const isShown = (child: Child): child is Node | string => child !== null && child !== undefined && child !== false;

/** A push button. */
export function button(text: string, onClick: () => void, props: Props = {}): HTMLButtonElement {
  return el("button", { type: "button", ...props, on: { click: onClick } }, text);
}

/** The element of index.html with this id. */
export function byId(page: Document, id: string): HTMLElement {
  const element = page.getElementById(id);
  if (!element) throw new Error(`index.html has no element #${id}`);
  return element;
}

/** Replaces the children and keeps the focus where an element with the same id or data-key had it. */
export function replaceChildren(parent: HTMLElement, ...children: readonly Child[]): void {
  const focused = parent.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const key = focused?.dataset.key;
  parent.replaceChildren(...children.filter(isShown));
  if (key === undefined) return;
  for (const candidate of parent.querySelectorAll<HTMLElement>("[data-key]")) {
    if (candidate.dataset.key === key) candidate.focus({ preventScroll: true });
  }
}

/** Lets the browser save a file that the page made. */
export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
