import { basename, dirname } from "node:path";
import type { Client } from "../../../shared/client/index.ts";
import { filterText } from "../report/findings.ts";
import { type Fact, keyFacts } from "../report/summary.ts";
import { terminalTable } from "../report/terminal.ts";
import { sceneText, terrainFacts } from "../report/terrain-report.ts";
import type { AnalyzeOptions, InputFile } from "./options.ts";
import type { AnalyzeResult } from "./run.ts";

/** Inputs and options of a run. */
export interface Recorded {
  readonly input: InputFile;
  readonly merge: readonly InputFile[];
  readonly options: AnalyzeOptions;
}

/** The parameters in the --json document. */
export const recordedParameters = ({ input, merge, options }: Recorded): Record<string, unknown> => ({
  source: input.path,
  source_modified: input.modified,
  units: options.units ?? null,
  up: options.up ?? null,
  shift: options.shift ?? null,
  columns: options.columns ?? null,
  merge: merge.map(({ path }) => path),
  crop: options.crop ?? null,
  filter: options.filters.map(filterText),
  scene: options.scene ?? null,
  cell: options.cell ?? null,
  project: options.project ?? null,
  format: options.format,
  points: options.points,
  picture_size: options.pictureSize,
  denoise: options.denoise,
  ground: options.ground,
  dem: options.dem,
});

export async function describeVersions(
  client: Pick<Client, "version">,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { version } = await client.version({ signal });
  return { service: version, node: process.version, platform: `${process.platform} ${process.arch}` };
}

/** The facts that are needed to reproduce the result. */
export function reproduceFacts({ input, merge, options }: Recorded, versions: Record<string, string>): Fact[] {
  const { crop, filters } = options;
  return [
    ["Source file", input.path],
    ["Size, last change", `${input.bytes} bytes, ${input.modified}`],
    ["Units (--units)", options.units ?? "not given"],
    ["Axis that points upwards (--up)", options.up ?? "not given"],
    ["Scene (--scene)", options.scene ?? "not given"],
    ["Cell size of the rasters (--cell)", options.cell === undefined ? "not given" : `${options.cell} m`],
    ["World shift (--shift)", options.shift ? `${options.shift.join(", ")} m` : "not given"],
    ["Column legend (--columns)", options.columns ?? "not given"],
    ...merge.map(({ path, bytes, modified }): Fact => ["Merged (--merge)", `${path}, ${bytes} bytes, ${modified}`]),
    ...(crop ? [["Box (--crop)", [...crop.min, ...crop.max].join(",")] as const] : []),
    ...filters.map((rule): Fact => ["Filter (--filter)", filterText(rule)]),
    [
      "Steps left out",
      [options.denoise ? "" : "--no-denoise", options.ground ? "" : "--no-ground", options.dem ? "" : "--no-dem"]
        .filter((text) => text !== "")
        .join(", ") || "none",
    ],
    ["Copy (--format)", options.format],
    ...(options.project === undefined ? [] : [["Project (--project)", options.project] as const]),
    ["Points for pictures (--points)", `at most ${options.points}`],
    ["Longest picture side (--picture-size)", `${options.pictureSize} pixels`],
    [
      "Versions",
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", "),
    ],
  ];
}

/** The summary for the terminal. */
export function summaryTable(result: AnalyzeResult): string {
  const facts: Fact[] = [
    ["File", result.file.name],
    ...keyFacts(result),
    ["Scene", sceneText(result.scene)],
    ...terrainFacts(result.terrain, result.scene),
    ["Report", result.outputs.report],
    ["Summary", result.outputs.summary],
  ];
  if (result.outputs.scans !== null) facts.push(["Scan table", result.outputs.scans]);
  const { rasters } = result.outputs;
  const [first] = rasters;
  if (first !== undefined)
    facts.push(["Rasters", `${rasters.map((path) => basename(path)).join(", ")} in ${dirname(first)}`]);
  if (result.outputs.copy !== null) facts.push(["Copy", result.outputs.copy]);
  if (result.outputs.project !== null) facts.push(["Project", result.outputs.project]);
  return terminalTable(facts, result.warnings);
}
