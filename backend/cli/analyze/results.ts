import type { Picture } from "../drawing/render.ts";
import type { TerrainSummary } from "../report/findings.ts";
import { scansCsv } from "../report/scan-table.ts";
import type { AnalysisSummary } from "../report/summary.ts";
import type { TerrainPictures } from "../report/terrain-report.ts";
import type { Copy } from "./cloud-copy.ts";
import { jsonDocument } from "./json-document.ts";
import { pictureFiles, smallReport } from "./picture-files.ts";
import { describeVersions, recordedParameters, reproduceFacts } from "./record.ts";
import type { AnalyzeResult, Run } from "./run.ts";
import type { Stopwatch } from "./stopwatch.ts";

export const REPORT_FILE = "report.html";
const SUMMARY_FILE = "summary.json";
const SCANS_FILE = "scans.csv";

interface Drawn {
  readonly pictures: readonly Picture[];
  readonly terrain: TerrainSummary;
  readonly drawn: TerrainPictures;
  /** Names of the rasters that are already in the folder. */
  readonly rasters: readonly string[];
}

/** Writes pictures, report, tables and the summary to the folder of the run. */
export async function writeResults(
  run: Run,
  summary: AnalysisSummary,
  { pictures, terrain, drawn, rasters }: Drawn,
  copy: Copy,
  clock: Stopwatch,
): Promise<AnalyzeResult> {
  const { options, client, out, progress, signal } = run;
  progress.stage("Writing the report");
  const versions = await describeVersions(client, signal);
  const parameters = recordedParameters(run);
  const files = await pictureFiles(pictures, drawn, summary.world_shift);
  for (const { name, png } of files) await out.write(name, png);
  const report = await smallReport({
    summary,
    pictures,
    terrain,
    terrainPictures: drawn,
    reproduce: reproduceFacts(run, versions),
    copy: copy.name === null ? null : { name: copy.name, format: options.format, point_count: copy.point_count },
    created: new Date(),
  });
  await out.write(REPORT_FILE, report);
  if (summary.scans.length > 0) await out.write(SCANS_FILE, scansCsv(summary.scans));
  clock.lap("report");
  const result: AnalyzeResult = {
    ...summary,
    terrain,
    copy: copy.name === null ? null : { format: options.format, point_count: copy.point_count },
    outputs: {
      report: out.final(REPORT_FILE),
      summary: out.final(SUMMARY_FILE),
      scans: summary.scans.length > 0 ? out.final(SCANS_FILE) : null,
      copy: copy.name === null ? null : out.final(copy.name),
      project: run.project ? run.project.folder.final(run.project.name) : null,
      pictures: files.map(({ name }) => out.final(name)),
      rasters: rasters.map((name) => out.final(name)),
    },
    versions,
    parameters,
    seconds: clock.seconds(),
  };
  await out.write(SUMMARY_FILE, jsonDocument(result));
  return result;
}
