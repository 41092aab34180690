/** Warnings for request keys that were ignored, so that a misspelt option does not go unnoticed. */
export function unknownKeyWarnings(keys: readonly string[]): string[] {
  if (keys.length === 0) return [];
  const named = keys.slice(0, 10).map((key) => `"${key.slice(0, 60)}"`);
  const more = keys.length > named.length ? ` and ${keys.length - named.length} more` : "";
  return [`The request has keys that mean nothing here and were ignored: ${named.join(", ")}${more}.`];
}

/** The answer with warnings for ignored request keys before its own warnings. */
export function withUnknownKeys<A extends { readonly warnings?: string[] | undefined }>(
  answer: A,
  keys: readonly string[],
): A {
  const warnings = [...unknownKeyWarnings(keys), ...(answer.warnings ?? [])];
  return warnings.length > 0 ? { ...answer, warnings } : answer;
}
