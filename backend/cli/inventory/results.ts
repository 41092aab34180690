import { fittingClassesOf, isNoTree, type StandSettings } from "../../../shared/client/index.ts";
import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { TreeFlag } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { plainNumber } from "../drawing/round-steps.ts";
import { type Page, smallPage } from "../report/page.ts";
import { optionFacts, versionsFact } from "../report/reproduce.ts";
import type { Fact } from "../report/summary.ts";
import { unitsFact } from "../report/system-text.ts";
import { type FolderRun, REPORT_FILE, SUMMARY_FILE } from "../run/folder-run.ts";
import { inputFact } from "../run/inputs.ts";
import { reportedWarnings } from "../wording.ts";
import type { InventoryOptions } from "./options.ts";
import type { NamedFigure } from "./pictures.ts";
import { known, type MeasuredPlot, sceneWarnings, short, standFacts, standWarnings } from "./stand-facts.ts";
import { WOOD_FILE } from "./wood.ts";

export const TREE_FILE = "trees.csv";
export const STEM_FILE = "stem_curve.csv";
export const STAND_FILE = "stand.csv";
export const CROWN_FILE = "crowns.geojson";

export interface Figures {
  readonly maps: readonly NamedFigure[];
  readonly histograms: readonly NamedFigure[];
  readonly trees: readonly NamedFigure[];
}

/** Height classes of all trees, also of those without a diameter. */
export const heightClassesOf = (list: TreeInventoryTail, { heightClassM }: StandSettings) =>
  fittingClassesOf(heightsOf(list), heightClassM);

const mean = (values: readonly number[]) =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
const largest = (values: readonly number[]) =>
  values.length > 0 ? values.reduce((most, value) => Math.max(most, value)) : null;
const heightsOf = ({ trees }: TreeInventoryTail) =>
  trees.flatMap((tree) => (tree.height_m === undefined || isNoTree(tree) ? [] : [tree.height_m]));
const flagged = ({ trees }: TreeInventoryTail, flag: TreeFlag) =>
  trees.filter(({ flags }) => flags.includes(flag)).length;
const treeCount = ({ trees }: TreeInventoryTail) => trees.filter((tree) => !isNoTree(tree)).length;

/** What was found, for the terminal and the report. */
export function plotFacts({ cloud, plot, list }: MeasuredPlot): Fact[] {
  const heights = heightsOf(list);
  const [flat, wires, images] = [flagged(list, "flat"), flagged(list, "wire"), flagged(list, "mirror_image")];
  const [drops, repeats] = [flagged(list, "scattered"), flagged(list, "repeated")];
  const diameters = list.trees.filter(({ dbh_m }) => typeof dbh_m === "number").length;
  const facts: Fact[] = [
    ["Cloud", `${plot.scene.kind}: ${plot.scene.reason}`],
    unitsFact(cloud),
    ["Trees", plainNumber(treeCount(list), 0)],
    ...(flat > 0 ? [["Flat, as walls and roofs: no trees", plainNumber(flat, 0)] as const] : []),
    ...(wires > 0 ? [["Wires: no trees", plainNumber(wires, 0)] as const] : []),
    ...(images > 0 ? [["Images of trees in glass: no trees", plainNumber(images, 0)] as const] : []),
    ...(drops > 0 ? [["Rain, snow or insects: no trees", plainNumber(drops, 0)] as const] : []),
    ...(repeats > 0 ? [["Seen twice, as scans do not fit: not counted", plainNumber(repeats, 0)] as const] : []),
    ["Segmentation", plot.method === "one_tree" ? "none: the cloud is one tree" : `method ${plot.method}`],
    ["With a diameter", plainNumber(diameters, 0)],
    ["Skipped", plainNumber(list.skipped.length, 0)],
  ];
  if (plot.stems) facts.push(["Stems at breast height", plainNumber(plot.stems.seeds.length, 0)]);
  facts.push(["Mean, largest height of all trees", `${known(mean(heights), "m")}, ${known(largest(heights), "m")}`]);
  return facts;
}

interface Made {
  readonly versions: Record<string, string>;
  readonly seconds: Record<string, number>;
  /** Name of the labelled cloud. */
  readonly copy: string;
  readonly warnings: readonly string[];
}

/** Writes pictures, summary and report. */
export async function writeResults(
  found: MeasuredPlot,
  figures: Figures,
  options: InventoryOptions,
  { out }: FolderRun,
  { versions, seconds, copy, warnings: more }: Made,
) {
  const { cloud, plot, list, stand, settings } = found;
  const warnings = reportedWarnings([
    ...cloud.warnings,
    ...sceneWarnings(plot.scene),
    ...plot.warnings,
    ...list.warnings,
    ...standWarnings(found),
    ...more,
  ]);
  const all = [...figures.maps, ...figures.histograms, ...figures.trees];
  for (const { name, png } of all) await out.write(`${name}.png`, png);
  const document = {
    cloud: { path: cloud.file.path, bytes: cloud.file.bytes, points: cloud.tail.point_count },
    scene: plot.scene,
    method: plot.method,
    tree_count: treeCount(list),
    flat_count: flagged(list, "flat"),
    wire_count: flagged(list, "wire"),
    scattered_count: flagged(list, "scattered"),
    mirror_image_count: flagged(list, "mirror_image"),
    repeated_count: flagged(list, "repeated"),
    skipped: list.skipped,
    ground_sources: list.ground_sources,
    scan_offsets: list.scan_offsets,
    view_fit: list.view_fit,
    ground_layers: list.ground_layers,
    scan_layers: list.scan_layers,
    scans_moved: found.scans_moved,
    stems: plot.stems && { seeds: plot.stems.seeds.length, rejected: plot.stems.rejected },
    stand,
    stand_settings: settings,
    plot: list.stand,
    inventory_params: list.params,
    segmentation_params: plot.segmented?.params ?? null,
    outputs: {
      report: out.final(REPORT_FILE),
      summary: out.final(SUMMARY_FILE),
      trees: out.final(TREE_FILE),
      stem_curve: out.final(STEM_FILE),
      stand: out.final(STAND_FILE),
      crowns: out.final(CROWN_FILE),
      ...(found.wood ? { wood: out.final(WOOD_FILE) } : {}),
      cloud: out.final(copy),
      pictures: all.map(({ name }) => out.final(`${name}.png`)),
    },
    warnings,
    versions,
    parameters: recorded(options),
    seconds,
  };
  await out.write(SUMMARY_FILE, jsonDocument(document));
  await out.write(REPORT_FILE, await smallPage(page(found, figures, options, warnings, { versions, copy })));
  const outputs: Fact[] = [
    ["Tables", `${out.final(TREE_FILE)}, ${STEM_FILE}, ${STAND_FILE}`],
    ["Crowns", out.final(CROWN_FILE)],
    ["Labelled cloud", out.final(copy)],
    ["Report", out.final(REPORT_FILE)],
  ];
  return { document, outputs };
}

const recorded = ({
  method,
  scene,
  ground,
  crownWidth,
  breastHeight,
  settings,
  qsm,
  ...options
}: InventoryOptions) => ({
  method: method ?? null,
  scene: scene ?? null,
  ground: ground ?? null,
  crown_width: crownWidth ?? null,
  breast_height: breastHeight ?? null,
  min_dbh: settings.minDbhCm,
  plot_area: settings.plotAreaM2,
  biomass: settings.biomassMethod,
  qsm,
  wood: options.wood ?? null,
  align: options.align,
  scan_column: options.scanColumn ?? null,
  wood_density: ["chave2014", "qsm"].includes(settings.biomassMethod) ? settings.woodDensity : null,
  jenkins_group: settings.biomassMethod === "jenkins2003" ? settings.jenkinsGroup : null,
  units: options.reading.units ?? null,
  up: options.reading.up ?? null,
  columns: options.reading.columns ?? null,
  points: options.points,
  picture_size: options.pictureSize,
});

function page(
  found: MeasuredPlot,
  { maps, histograms, trees }: Figures,
  options: InventoryOptions,
  warnings: readonly string[],
  { versions, copy }: Pick<Made, "versions" | "copy">,
): Page {
  const { cloud, plot, list, stand } = found;
  const params = { ...(plot.segmented?.params ?? {}), ...(list.params ?? {}) };
  const reproduce: Fact[] = [
    ["Cloud", inputFact(cloud.file)],
    ...optionFacts(recorded(options)),
    ...Object.entries(params).map(([name, value]): Fact => [name, value === null ? "none" : JSON.stringify(value)]),
    versionsFact(versions),
  ];
  const tallest = largest(heightsOf(list));
  const tiles: (readonly [string, string])[] = [
    [plainNumber(treeCount(list), 0), treeCount(list) === 1 ? "tree" : "trees"],
  ];
  if (stand.basalAreaPerHaM2 !== null && stand.treeCount > 0)
    tiles.push([`${short(stand.basalAreaPerHaM2, 3)} m²/ha`, "basal area"]);
  if (stand.qmdCm !== null) tiles.push([`${short(stand.qmdCm, 3)} cm`, "quadratic mean diameter"]);
  if (tallest !== null) tiles.push([`${short(tallest, 3)} m`, "largest height"]);
  return {
    kicker: "Tree inventory",
    title: cloud.file.name,
    created: new Date(),
    tiles,
    warnings,
    sections: [
      { title: "Trees", facts: plotFacts(found) },
      { title: "Stand", facts: standFacts(found), note: STAND_NOTE },
      ...(maps.length > 0 ? [{ title: "Maps", figures: maps }] : []),
      ...(histograms.length > 0 ? [{ title: "Classes", figures: histograms }] : []),
      ...(trees.length > 0 ? [{ title: "Largest trees", figures: trees, note: TREES_NOTE }] : []),
      { title: "Reproduce", facts: reproduce },
    ],
    footer: `Beside this report: ${TREE_FILE}, ${STEM_FILE}, ${STAND_FILE}, ${CROWN_FILE} and the cloud with its labels, ${copy}.`,
  };
}

const STAND_NOTE =
  "Per hectare of the plot: the area that was entered, else the convex hull of the ground points, or of all points where few trees stand on ground that was seen. Basal area, mean diameter and Lorey's height (mean height weighted by basal area) count the trees from the smallest diameter on; cover counts all crowns once.";
const TREES_NOTE =
  "By diameter, else by height. Bars are sections of the stem as wide as their diameters; orange ones have few points, large residuals or a sudden radius.";
