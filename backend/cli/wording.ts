/** Fields of the API and the options of the command line that set them. */
const OPTIONS: Readonly<Record<string, string>> = {
  source_units: "--units",
  world_shift: "--shift",
  ascii_format: "--columns",
  column_plan: "--columns",
  scalar_filters: "--filter",
  cell_size: "--cell",
  max_correspondence_distance: "--max-distance",
  max_iterations: "--iterations",
  normal_radius: "--normal-radius",
  normal_max_nn: "--normal-neighbors",
};

/** A message of the service in the words of the command line: options instead of fields of the API. */
export function commandLineWords(message: string): string {
  return message
    .replaceAll("Import with source_units", "Use --units")
    .replaceAll("enter the plot area", "give --plot-area")
    .replace(/ Try [^.]* before you remove them\./, " None was removed; --no-denoise leaves the labels out.")
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => (Object.hasOwn(OPTIONS, word) ? (OPTIONS[word] ?? word) : word));
}

/** Warnings about things that a report does not contain: the mesh of a terrain, joins with a trajectory. */
const NOT_REPORTED = [/\b32-bit vertices of the mesh\b/, /\bjoined to an absolute trajectory\b/];

/** The warnings that concern the report, each once, in the words of the command line. */
export function reportedWarnings(warnings: readonly string[]): string[] {
  const kept = warnings.filter((text) => !NOT_REPORTED.some((rule) => rule.test(text)));
  return [...new Set(kept.map(commandLineWords))];
}
