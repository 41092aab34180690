import type { Fact } from "./summary.ts";

/** Options by their names in a document (min_hits), as a report lists them (--min-hits). */
export const optionFacts = (options: Readonly<Record<string, unknown>>): Fact[] =>
  Object.entries(options).map(([name, value]): Fact => [`--${name.replaceAll("_", "-")}`, optionText(value)]);

function optionText(value: unknown): string {
  if (value === null || value === undefined) return "not given";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Versions of what made a report. */
export const versionsFact = (versions: Readonly<Record<string, string>>): Fact => [
  "Versions",
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", "),
];
