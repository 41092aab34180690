const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Control characters and marks that change the writing direction. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Escapes text from a file for HTML and SVG, in elements and in quoted attributes. */
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

/** Template tag: escapes strings and numbers; inserts Html and lists of it unchanged. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const insert = (part: Part): string => {
    if (part instanceof Html) return part.text;
    return typeof part === "object" ? part.map((one) => one.text).join("") : escapeHtml(String(part));
  };
  return new Html(strings.reduce((out, string, i) => out + insert(parts[i - 1] ?? "") + string));
}
