/** What an answer says about request keys that were ignored: a misspelt option must not pass for a heeded one. */
export function unknownKeyWarnings(keys: readonly string[]): string[] {
  if (keys.length === 0) return [];
  const named = keys.slice(0, 10).map((key) => `"${key.slice(0, 60)}"`);
  const more = keys.length > named.length ? ` and ${keys.length - named.length} more` : "";
  return [`The request has keys that mean nothing here and were ignored: ${named.join(", ")}${more}.`];
}

/** An answer that says which keys of its request were ignored, before what it says itself. */
export function withUnknownKeys<A extends { readonly warnings?: string[] | undefined }>(
  answer: A,
  keys: readonly string[],
): A {
  const warnings = [...unknownKeyWarnings(keys), ...(answer.warnings ?? [])];
  return warnings.length > 0 ? { ...answer, warnings } : answer;
}
