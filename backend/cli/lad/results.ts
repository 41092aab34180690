import type { LadProfile } from "../../../shared/client/lad-profile.ts";
import type { LadSuccess } from "../../../shared/contract/lad-compute.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { type Page, smallPage } from "../report/page.ts";
import { optionFacts, versionsFact } from "../report/reproduce.ts";
import type { Fact } from "../report/summary.ts";
import { type FolderRun, REPORT_FILE, SUMMARY_FILE } from "../run/folder-run.ts";
import { type CloudPart, inputFact } from "../run/inputs.ts";
import { reportedWarnings } from "../wording.ts";
import type { LadOptions } from "./options.ts";
import type { NamedFigure } from "./pictures.ts";

export const PROFILE_FILE = "profile.csv";
export const VOXEL_FILE = "voxels.csv";
export const VOXEL_SPACE_FILE = "voxels.vox";

/** Voxel spaces have level columns. */
export const isLevel = ({ terrain_follow }: LadSuccess): boolean => !terrain_follow;

export interface Inverted {
  readonly scans: readonly CloudPart[];
  readonly answer: LadSuccess;
  readonly profile: LadProfile;
}

const short = (value: number, digits = 4) => shortNumber(Number(value.toPrecision(digits)));

/** The numbers for the terminal and the report. */
export function ladFacts({ scans, answer, profile }: Inverted): Fact[] {
  const { nx, ny, nz, grid_size, under_sampled_count, filled_count, filled_leaf_area, fill_method_used } = answer;
  const solved = answer.cells.filter(({ lad_solved }) => lad_solved).length;
  const facts: Fact[] = [
    ["Scans", scans.map(({ file }) => file.name).join(", ")],
    [
      "Grid",
      `${nx} x ${ny} x ${nz} voxels of ${short(grid_size[0] / nx)} m${isLevel(answer) ? "" : ", raised onto the ground"}`,
    ],
    ["Leaf area index", short(profile.lai)],
    ["Leaf area", `${short(profile.leaf_area_m2)} m2 in measured voxels`],
    ["Voxels solved", plainNumber(solved, 0)],
    ["Voxels occluded", `${plainNumber(under_sampled_count, 0)}${occludedArea(answer)}`],
  ];
  if (answer.total_wood_area !== null)
    facts.push(["Wood", `${short(answer.total_wood_area)} m2 of surface in measured voxels`]);
  if (answer.gtheta_common_error !== null)
    facts.push(["Error of G", `${short(100 * answer.gtheta_common_error, 2)} %, common to all voxels`]);
  if (answer.capture_recapture) facts.push(...viewFacts(answer.capture_recapture));
  const { group_lad_mean, group_lad_ci_lower, group_lad_ci_upper } = answer;
  if (group_lad_mean !== null && group_lad_ci_lower !== null && group_lad_ci_upper !== null) {
    const interval = `${short(group_lad_ci_lower)} to ${short(group_lad_ci_upper)}`;
    facts.push(["Mean LAD", `${short(group_lad_mean)} m2/m3 (95 %: ${interval}), voxels with a valid interval`]);
  }
  if (fill_method_used !== null)
    facts.push(["Interpolated", `${short(filled_leaf_area)} m2 in ${filled_count} voxels (${fill_method_used})`]);
  return facts;
}

const occludedArea = ({ occluded_leaf_area }: LadSuccess) =>
  occluded_leaf_area > 0 ? ` (${short(occluded_leaf_area)} m2 by the few beams that reach them)` : "";

type ByViews = NonNullable<LadSuccess["capture_recapture"]>;

function viewFacts({ leaf_area, leaf_area_ci_lower, leaf_area_ci_upper, seen_leaf_area, seen_by }: ByViews): Fact[] {
  const interval =
    leaf_area_ci_lower === null || leaf_area_ci_upper === null
      ? ""
      : ` (scanners left out in turn, error of G: ${short(leaf_area_ci_lower)} to ${short(leaf_area_ci_upper)})`;
  const unknown = "unknown: no place is seen by two scanners";
  return [
    ["Leaf area by views", leaf_area === null ? unknown : `${short(leaf_area)} m2${interval}`],
    ["Seen by any scanner", `${short(seen_leaf_area)} m2; by 1, 2, ..: ${seen_by.map((one) => short(one)).join(", ")}`],
  ];
}

interface Made {
  readonly versions: Record<string, string>;
  readonly seconds: Record<string, number>;
}

/** Writes pictures, summary and report. */
export async function writeResults(
  found: Inverted,
  figures: readonly NamedFigure[],
  options: LadOptions,
  { out }: FolderRun,
  { versions, seconds }: Made,
) {
  const { scans, answer, profile } = found;
  const warnings = reportedWarnings([...answer.warnings, ...scans.flatMap((scan) => scan.warnings)]);
  for (const { name, png } of figures) await out.write(`${name}.png`, png);
  const { cells: _, warnings: __, ...totals } = answer;
  const document = {
    scans: scans.map(({ file, tail }) => ({ path: file.path, bytes: file.bytes, points: tail.point_count })),
    leaf_area_index: profile.lai,
    profile: profile.levels,
    result: totals,
    outputs: {
      report: out.final(REPORT_FILE),
      summary: out.final(SUMMARY_FILE),
      profile: out.final(PROFILE_FILE),
      voxels: out.final(VOXEL_FILE),
      voxel_space: isLevel(answer) ? out.final(VOXEL_SPACE_FILE) : null,
      pictures: figures.map(({ name }) => out.final(`${name}.png`)),
    },
    warnings,
    versions,
    parameters: recorded(options),
    seconds,
  };
  await out.write(SUMMARY_FILE, jsonDocument(document));
  await out.write(REPORT_FILE, await smallPage(page(found, figures, options, warnings, versions)));
  const outputs: Fact[] = [
    ["Tables", `${out.final(PROFILE_FILE)}, ${VOXEL_FILE}`],
    ["Voxel space", isLevel(answer) ? out.final(VOXEL_SPACE_FILE) : "none: its columns are level"],
    ["Report", out.final(REPORT_FILE)],
  ];
  return { document, outputs };
}

const recorded = ({
  voxel,
  g,
  lmax,
  multi,
  origins,
  box,
  level,
  minHits,
  leafWidth,
  leafIntensity,
  occlusion,
  fill,
  wood,
  views,
  reading,
}: LadOptions) => ({
  voxel,
  g,
  lmax: lmax ?? null,
  multi,
  origins,
  box: box ?? null,
  level,
  min_hits: minHits ?? null,
  leaf_width: leafWidth ?? null,
  leaf_intensity: leafIntensity ?? null,
  occlusion: occlusion ?? null,
  fill,
  wood,
  views: views !== undefined,
  range_noise: views?.range_noise_m ?? null,
  units: reading.units ?? null,
  columns: reading.columns ?? null,
});

function gFact({ gtheta_profile, gtheta_per_beam }: Inverted["answer"]): string {
  if (!gtheta_profile) return "of each voxel, see voxels.csv";
  const layers = gtheta_profile.map((g) => short(g)).join(", ");
  return gtheta_per_beam ? `${layers} in the mean; each beam has that of its angle` : layers;
}

function page(
  found: Inverted,
  figures: readonly NamedFigure[],
  options: LadOptions,
  warnings: readonly string[],
  versions: Record<string, string>,
): Page {
  const { scans, answer, profile } = found;
  const reproduce: Fact[] = [
    ...scans.map(({ file }): Fact => ["Scan", inputFact(file)]),
    ...optionFacts(recorded(options)),
    ["Occlusion threshold", `${short(answer.occlusion_threshold_m)} m of path`],
    ["G by layer", gFact(answer)],
    versionsFact(versions),
  ];
  return {
    kicker: "Leaf area report",
    title: scans.map(({ file }) => file.name).join(", "),
    created: new Date(),
    tiles: [
      [short(profile.lai, 3), "leaf area index"],
      [`${short(profile.leaf_area_m2, 3)} m2`, "leaf area in measured voxels"],
      [plainNumber(answer.under_sampled_count, 0), "occluded voxels"],
    ],
    warnings,
    sections: [
      {
        title: "Result",
        facts: ladFacts(found),
        note: `${NOTE}${options.wood ? ` ${WOOD_NOTE}` : ""}${options.views ? ` ${VIEWS_NOTE}` : ""}${isLevel(answer) ? "" : ` ${GROUND_NOTE}`}`,
      },
      { title: "Pictures", figures },
      { title: "Reproduce", facts: reproduce },
    ],
    footer: `Tables beside this report: ${[PROFILE_FILE, VOXEL_FILE, ...(isLevel(answer) ? [VOXEL_SPACE_FILE] : [])].join(", ")}.`,
  };
}

const NOTE =
  "One-sided leaf area from the share of beams that pass each voxel (Beer's law). The index counts measured voxels over the footprint of the whole grid; occluded voxels are left out of it, and interpolated ones are listed apart.";
const VIEWS_NOTE =
  "The leaf area by views takes no voxels: each hit stands for the area across its beam over G, shared among the scanners that see its place; what none sees follows from what one and two of them see. Its interval tells how much the scanners differ, without the errors of G and of what counts as seen.";
const GROUND_NOTE =
  "The voxels of a level grid held the ground, whose hits would count as leaves, so each column begins above the ground found in the scans; heights are above it.";
const WOOD_NOTE =
  "What a voxel intercepts is split by the share of wood in its labelled hits; axes of the wood are taken to have any direction.";
