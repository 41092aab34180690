const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Control characters, and the marks that turn the writing direction. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Text from a file, made safe for HTML and SVG, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  const visible = text.replace(UNPRINTABLE, (character) => (/[\t\n]/.test(character) ? character : "\ufffd"));
  return visible.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** HTML that is already safe. */
export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

type Part = Html | string | number | readonly Html[];

/** Template tag: strings and numbers are escaped, Html and lists of it go in as they are. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const insert = (part: Part): string => {
    if (part instanceof Html) return part.text;
    return typeof part === "object" ? part.map((one) => one.text).join("") : escapeHtml(String(part));
  };
  return new Html(strings.reduce((out, string, i) => out + insert(parts[i - 1] ?? "") + string));
}
