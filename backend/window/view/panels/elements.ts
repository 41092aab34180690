type Child = Node | string;

/** Makes an element with properties, attributes (names with a dash, role) and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  page: Document,
  name: K,
  properties: Readonly<Record<string, unknown>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = page.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role") made.setAttribute(key, String(value));
    else Object.assign(made, { [key]: value });
  }
  made.append(...children);
  return made;
}

/** A number of the view: four digits that count, without trailing zeros, and no exponent where it can be read. */
export function shownNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(2);
  const digits = size >= 1000 ? 1 : size >= 10 ? 2 : 4;
  return String(Number(value.toFixed(digits)));
}
