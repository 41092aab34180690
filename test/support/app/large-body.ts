import { MAX_BODY_BYTES } from "../../../shared/limits.ts";

/** The JSON text of `value` with blanks inside its first list, so that it exceeds MAX_BODY_BYTES. */
export function padded(value: unknown): string {
  const text = JSON.stringify(value);
  const at = text.indexOf("[") + 1;
  if (at === 0) throw new Error("no list to pad");
  return `${text.slice(0, at)}${" ".repeat(MAX_BODY_BYTES)}${text.slice(at)}`;
}
