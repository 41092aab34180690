import { isNoTree, LEAST_PLOT_M2, type StandSettings, type StandSummary } from "../../../shared/client/index.ts";
import type { ScanMove } from "../../../shared/contract/cloud-session/align-scans.ts";
import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import type { Fact } from "../report/summary.ts";
import type { CloudPart } from "../run/inputs.ts";
import type { LabelledPlot } from "./steps.ts";
import type { WoodOfTrees } from "./wood.ts";

export interface MeasuredPlot {
  readonly cloud: CloudPart;
  readonly plot: LabelledPlot;
  readonly list: TreeInventoryTail;
  /** How scans were moved; empty: they were not. */
  readonly scans_moved: readonly ScanMove[];
  readonly stand: StandSummary;
  readonly settings: StandSettings;
  /** Models of the wood were asked for. */
  readonly qsm: boolean;
  /** Null: not asked for, or seen from the air. */
  readonly wood: WoodOfTrees | null;
}

export const short = (value: number, digits = 4) => shortNumber(Number(value.toPrecision(digits)));
export const known = (value: number | null, unit: string, digits = 4) =>
  value === null ? "not known" : `${short(value, digits)} ${unit}`.trim();

/** Of a thing or a room every column of points would pass for a tree. */
export function sceneWarnings({ kind, reason }: LabelledPlot["scene"]): string[] {
  if (kind !== "object") return [];
  return [
    `This does not look like a plot or a tree but like a thing or a room (${reason}): what is listed as trees may be none.`,
  ];
}

/** The stand table: values of the trees from a diameter on, with their units. */
export function standFacts({ stand, list, settings, plot }: MeasuredPlot): Fact[] {
  if (plot.method === "one_tree") return [["Plot", "none: the cloud is one tree"]];
  const area = stand.plotAreaM2;
  const perHa =
    area !== null && area >= LEAST_PLOT_M2 ? (list.trees.filter((tree) => !isNoTree(tree)).length / area) * 1e4 : null;
  const source = {
    entered: "entered",
    ground_class: "hull of the ground points",
    all_points: "hull of all points",
    none: "",
  };
  const facts: Fact[] = [
    ["Plot area", area === null ? "not known" : `${known(area, "m²")} (${source[stand.plotAreaSource]})`],
    ["Trees per hectare", known(perHa, "/ha")],
    ["Canopy cover", stand.canopyCover === null ? "not known" : `${short(100 * stand.canopyCover, 3)} %`],
  ];
  if (plot.is_airborne) return [...facts, ["Diameters", "absent: from the air, too few returns reach the stems"]];
  return [
    ...facts,
    [`Trees of ${shortNumber(settings.minDbhCm)} cm and more`, plainNumber(stand.treeCount, 0)],
    ["Stems per hectare", known(stand.stemsPerHa, "/ha")],
    ...(stand.treesOutsidePlot > 0
      ? [["Outside the plot, not counted", plainNumber(stand.treesOutsidePlot, 0)] as const]
      : []),
    ["Without a diameter, not counted", plainNumber(stand.treesWithoutDiameter, 0)],
    ...(stand.unseenShare === null
      ? []
      : [["Plot that no beam reached near the ground", `${short(100 * stand.unseenShare, 2)} %`] as const]),
    ["Basal area", known(stand.basalAreaPerHaM2, "m²/ha")],
    ["Quadratic mean diameter", known(stand.qmdCm, "cm")],
    ["Lorey's height", known(stand.loreyHeightM, "m")],
    ["Mean, largest height of counted trees", `${known(stand.meanHeightM, "m")}, ${known(stand.maxHeightM, "m")}`],
    ...biomassFacts(stand, settings),
  ];
}

const EQUATION_NAMES = {
  chave2014: "Chave et al. 2014",
  jenkins2003: "Jenkins et al. 2003",
  qsm: "volume and density",
};

function biomassFacts(stand: StandSummary, { biomassMethod, woodDensity, jenkinsGroup }: StandSettings): Fact[] {
  if (biomassMethod === "none") return [];
  const of = biomassMethod === "jenkins2003" ? jenkinsGroup : `${shortNumber(woodDensity)} g/cm³`;
  return [
    ["Biomass above the ground", `${known(stand.biomassKg, "kg")} (${EQUATION_NAMES[biomassMethod]}, ${of})`],
    ["Biomass per hectare", known(stand.biomassPerHaMg, "Mg/ha")],
  ];
}

const trees = (count: number) => `${plainNumber(count, 0)} ${count === 1 ? "tree" : "trees"}`;

/** What cannot be known of trees that were seen from the air. */
function airborneWarnings({ stand, plot, settings: { biomassMethod }, qsm }: MeasuredPlot): string[] {
  const warnings: string[] = [];
  if (qsm)
    warnings.push(
      `No wood was modelled: the cloud is taken as airborne (${plot.scene.reason}), and from the air too few returns reach the wood. If it was scanned from the ground, give --scene plot.`,
    );
  if (biomassMethod !== "none") {
    const needs = biomassMethod === "qsm" ? "it needs models of their wood" : "its equation needs their diameters";
    warnings.push(`The biomass of ${trees(stand.biomassTreesMissing)} is not known: ${needs}.`);
  }
  return warnings;
}

/** What the stand table leaves out, or takes from beyond where an equation holds. */
export function standWarnings(found: MeasuredPlot): string[] {
  const { stand, plot, wood } = found;
  if (plot.is_airborne) return airborneWarnings(found);
  const warnings: string[] = [...(wood?.warnings ?? [])];
  if (plot.method === "one_tree") return warnings;
  if (stand.treesWithoutDiameter > 0)
    warnings.push(
      `${trees(stand.treesWithoutDiameter)} of breast height and more without a diameter: stems, basal area and biomass per hectare leave them out and are too small by them.`,
    );
  if (stand.biomassTreesMissing > 0) warnings.push(`The biomass of ${trees(stand.biomassTreesMissing)} is not known.`);
  if (stand.biomassTreesBeyondRange > 0)
    warnings.push(
      `${trees(stand.biomassTreesBeyondRange)} outside the diameters that the equation of the biomass was fitted to.`,
    );
  return warnings;
}
