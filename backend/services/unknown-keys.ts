/** What an answer says about request keys that were ignored: a misspelt option must not pass for a heeded one. */
export function unknownKeyWarnings(keys: readonly string[]): string[] {
  if (keys.length === 0) return [];
  const named = keys.slice(0, 10).map((key) => `"${key.slice(0, 60)}"`);
  const more = keys.length > named.length ? ` and ${keys.length - named.length} more` : "";
  return [`The request has keys that mean nothing here and were ignored: ${named.join(", ")}${more}.`];
}
