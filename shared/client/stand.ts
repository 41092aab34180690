import { INVENTORY_DEFAULTS } from "../contract/cloud-session/tree-inventory.ts";
import { NO_TREE_FLAGS, type StandRecord, type TreeRow } from "../contract/cloud-session/tree-inventory-rows.ts";
import { standsInPlot } from "./in-plot.ts";
import { fittingClassesOf, type HistogramClass } from "./value-classes.ts";

/** Diameter classes, height classes, plot area and biomass of a stand summary. */
export interface StandSettings {
  /** Trees with a smaller diameter at breast height do not count, cm. */
  readonly minDbhCm: number;
  /** m2; null = as measured. */
  readonly plotAreaM2: number | null;
  readonly excludeDead: boolean;
  /** Widths of the histogram classes. */
  readonly dbhClassCm: number;
  readonly heightClassM: number;
  readonly biomassMethod: "none" | "chave2014" | "jenkins2003" | "qsm";
  /** g/cm3 */
  readonly woodDensity: number;
  readonly jenkinsGroup: JenkinsGroup;
}

/** ln(kg) = b0 + b1 ln(cm), up to a diameter of maxCm. Jenkins et al. 2003, Forest Science 49: 12, table 4. */
export const JENKINS_GROUPS = {
  aspen_alder_cottonwood_willow: { b0: -2.2094, b1: 2.3867, maxCm: 70 },
  soft_maple_birch: { b0: -1.9123, b1: 2.3651, maxCm: 66 },
  mixed_hardwood: { b0: -2.48, b1: 2.4835, maxCm: 56 },
  hard_maple_oak_hickory_beech: { b0: -2.0127, b1: 2.4342, maxCm: 73 },
  cedar_larch: { b0: -2.0336, b1: 2.2592, maxCm: 250 },
  douglas_fir: { b0: -2.2304, b1: 2.4435, maxCm: 210 },
  true_fir_hemlock: { b0: -2.5384, b1: 2.4814, maxCm: 230 },
  pine: { b0: -2.5356, b1: 2.4349, maxCm: 180 },
  spruce: { b0: -2.0773, b1: 2.3323, maxCm: 250 },
  woodland_juniper_oak_mesquite: { b0: -0.7152, b1: 1.7029, maxCm: 78 },
} as const;
export type JenkinsGroup = keyof typeof JENKINS_GROUPS;

/** Diameters that Chave's equation was fitted to, cm (Chave et al. 2014, Global Change Biology 20: 3177). */
const CHAVE_CM = { min: 5, max: 212 } as const;
/** Smallest diameter of Jenkins' equations, cm. */
const JENKINS_MIN_CM = 2.5;

export const DEFAULT_STAND_SETTINGS: StandSettings = {
  minDbhCm: 5,
  plotAreaM2: null,
  excludeDead: true,
  dbhClassCm: 5,
  heightClassM: 2,
  biomassMethod: "none",
  woodDensity: 0.5,
  jenkinsGroup: "mixed_hardwood",
};

/** What a person has noted about a tree. */
export interface TreeEdit {
  readonly species: string;
  readonly status: "" | "live" | "dead" | "damaged" | "uncertain";
  readonly label: string;
}
/** By tree_id. */
export type TreeEdits = Readonly<Record<number, TreeEdit>>;

/** Woody volumes of trees with a QSM, m3, by tree_id. */
export type WoodVolumes = Readonly<Record<number, number>>;

/** Values that cannot be computed are null. */
export interface StandSummary {
  readonly plotAreaM2: number | null;
  readonly plotAreaSource: "entered" | "ground_class" | "all_points" | "none";
  readonly treeCount: number;
  /** Stand trees whose stem stands outside the measured plot, as where a border cuts stems: they are in no value. */
  readonly treesOutsidePlot: number;
  /** Share 0..1 of the measured plot that no beam reached near the ground: trees may be hidden there. null = unknown. */
  readonly unseenShare: number | null;
  /** Trees of at least breast height, not dead, not flat, no mirror image, without a diameter: they are in no value that needs one. */
  readonly treesWithoutDiameter: number;
  readonly stemsPerHa: number | null;
  readonly basalAreaPerHaM2: number | null;
  /** Quadratic mean diameter. */
  readonly qmdCm: number | null;
  readonly loreyHeightM: number | null;
  readonly meanHeightM: number | null;
  readonly maxHeightM: number | null;
  /** Share of the plot, 0..1. */
  readonly canopyCover: number | null;
  readonly biomassKg: number | null;
  readonly biomassPerHaMg: number | null;
  /** Stand trees whose biomass is unknown, which are not in the sum; where no tree has a diameter, all that lack one. */
  readonly biomassTreesMissing: number;
  /** Stand trees outside the diameters of the equation; they are in the sum. */
  readonly biomassTreesBeyondRange: number;
  readonly dbhClasses: readonly HistogramClass[];
  readonly heightClasses: readonly HistogramClass[];
}

export interface TreeBiomass {
  /** null = unknown. */
  readonly kg: number | null;
  /** Outside the diameters that the equation was fitted to. */
  readonly beyondRange: boolean;
}

/**
 * Biomass above the ground of a tree: Chave 2014 0.0673 (density D^2 H)^0.976, Jenkins 2003 exp(b0 + b1 ln D) with D in
 * cm and H in metres, or the wood's volume times its density.
 */
export function treeBiomass(
  { tree_id, dbh_m, height_m }: Pick<TreeRow, "tree_id" | "dbh_m" | "height_m">,
  { biomassMethod, woodDensity, jenkinsGroup }: StandSettings,
  volumes: WoodVolumes = {},
): TreeBiomass {
  const unknown = { kg: null, beyondRange: false };
  if (biomassMethod === "none") return unknown;
  if (biomassMethod === "qsm") {
    const volume = volumes[tree_id];
    return volume === undefined ? unknown : { kg: volume * woodDensity * 1000, beyondRange: false };
  }
  if (typeof dbh_m !== "number" || !(dbh_m > 0)) return unknown;
  const cm = 100 * dbh_m;
  if (biomassMethod === "jenkins2003") {
    const { b0, b1, maxCm } = JENKINS_GROUPS[jenkinsGroup];
    return { kg: Math.exp(b0 + b1 * Math.log(cm)), beyondRange: cm < JENKINS_MIN_CM || cm > maxCm };
  }
  if (height_m === undefined || !(height_m > 0)) return unknown;
  const kg = 0.0673 * (woodDensity * cm ** 2 * height_m) ** 0.976;
  return { kg, beyondRange: cm < CHAVE_CM.min || cm > CHAVE_CM.max };
}

/** A wall, a roof, a vehicle, a wire or rain that the segmentation took for a tree, or what glass shows of one: it is no tree of the stand. */
export const isNoTree = ({ flags }: Pick<TreeRow, "flags">): boolean =>
  flags.some((flag) => NO_TREE_FLAGS.includes(flag));

/** The trees that count: large enough, and not dead unless wanted. */
export function standTrees(trees: readonly TreeRow[], settings: StandSettings, edits: TreeEdits = {}): TreeRow[] {
  return trees.filter(({ tree_id, dbh_m }) => {
    if (typeof dbh_m !== "number" || 100 * dbh_m < settings.minDbhCm) return false;
    return !(settings.excludeDead && edits[tree_id]?.status === "dead");
  });
}

export interface StandInput {
  readonly trees: readonly TreeRow[];
  readonly stand: StandRecord | null;
  /** Those of the inventory; without: its defaults. */
  readonly params?: { readonly breast_height_m: number } | null;
}

/** The trees that a diameter may be missing of: lower than breast height they have none by definition. */
function withoutDiameter({ trees, params }: StandInput, settings: StandSettings, edits: TreeEdits): TreeRow[] {
  const { breast_height_m } = params ?? INVENTORY_DEFAULTS;
  return trees.filter(
    ({ tree_id, dbh_m, flags, height_m = breast_height_m }) =>
      typeof dbh_m !== "number" &&
      !isNoTree({ flags }) &&
      height_m >= breast_height_m &&
      !(settings.excludeDead && edits[tree_id]?.status === "dead"),
  );
}

/** Of a smaller plot there are no values per hectare, m2. */
export const LEAST_PLOT_M2 = 1;

/**
 * Values of the stand per hectare, from a tree list and what a person has noted. Trees that stand outside the measured plot do
 * not count (with an area that was entered, all do). Where no tree of the list has a diameter,
 * as in clouds from the air, the values that need one are unknown, not 0.
 */
export function standSummary(
  list: StandInput,
  settings: StandSettings = DEFAULT_STAND_SETTINGS,
  edits: TreeEdits = {},
  volumes: WoodVolumes = {},
): StandSummary {
  const { trees, stand } = list;
  const all = standTrees(trees, settings, edits);
  // An area that was entered is not that of the outline.
  const counted = stand && settings.plotAreaM2 === null ? all.filter((tree) => standsInPlot(tree, stand)) : all;
  const area = settings.plotAreaM2 ?? stand?.plot_area_m2 ?? null;
  const perHa = (value: number) => (area !== null && area >= LEAST_PLOT_M2 ? (value / area) * 1e4 : null);
  const hasCover = stand !== null && stand.cover_cell_m > 0; // crowns are only measured inside a plot
  const hasDiameters = trees.length === 0 || trees.some(({ dbh_m }) => typeof dbh_m === "number");
  const diameters = counted.map(({ dbh_m }) => dbh_m as number);
  const squares = sum(diameters.map((d) => d * d));
  const tall = counted.filter((tree): tree is TreeRow & { height_m: number } => tree.height_m !== undefined);
  const weights = sum(tall.map(({ dbh_m }) => (dbh_m as number) ** 2));
  const heights = tall.map(({ height_m }) => height_m);
  const biomass = counted.map((tree) => treeBiomass(tree, settings, volumes));
  const known = biomass.flatMap(({ kg }) => (kg === null ? [] : [kg]));
  const noBiomass = settings.biomassMethod === "none" || !hasDiameters || (known.length === 0 && counted.length > 0);
  const kg = noBiomass ? null : sum(known);
  const without = withoutDiameter(list, settings, edits).length;
  const missing = hasDiameters ? biomass.length - known.length : without;
  return {
    plotAreaM2: area,
    plotAreaSource: settings.plotAreaM2 === null ? (stand?.plot_source ?? "none") : "entered",
    treeCount: counted.length,
    treesOutsidePlot: all.length - counted.length,
    unseenShare: stand?.unseen_share ?? null,
    treesWithoutDiameter: without,
    stemsPerHa: hasDiameters ? perHa(counted.length) : null,
    basalAreaPerHaM2: hasDiameters ? perHa((Math.PI / 4) * squares) : null,
    qmdCm: counted.length > 0 ? 100 * Math.sqrt(squares / counted.length) : null,
    loreyHeightM:
      weights > 0 ? sum(tall.map(({ dbh_m, height_m }) => (dbh_m as number) ** 2 * height_m)) / weights : null,
    meanHeightM: heights.length > 0 ? sum(heights) / heights.length : null,
    maxHeightM: heights.length > 0 ? heights.reduce((most, height) => Math.max(most, height)) : null,
    canopyCover: hasCover && area !== null && area > 0 ? Math.min(1, stand.crown_union_area_m2 / area) : null,
    biomassKg: kg,
    biomassPerHaMg: kg === null ? null : perHa(kg / 1000),
    biomassTreesMissing: settings.biomassMethod === "none" ? 0 : missing,
    biomassTreesBeyondRange: biomass.filter(({ beyondRange }) => beyondRange).length,
    dbhClasses: fittingClassesOf(
      diameters.map((d) => 100 * d),
      settings.dbhClassCm,
    ),
    heightClasses: fittingClassesOf(heights, settings.heightClassM),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Furthest that the stem base of one tree moves between two runs, metres. */
const MAX_BASE_SHIFT_M = 0.5;

/**
 * The edits that still mean the same tree after a new run: its id exists, and its stem base moved at most 0.5 m, or
 * neither run has one. A new segmentation gives other ids.
 */
export function keepTreeEdits(edits: TreeEdits, before: readonly TreeRow[], after: readonly TreeRow[]): TreeEdits {
  const bases = (trees: readonly TreeRow[]) => new Map(trees.map(({ tree_id, stem_base }) => [tree_id, stem_base]));
  const [old, now] = [bases(before), bases(after)];
  return Object.fromEntries(
    Object.entries(edits).filter(([key]) => {
      const id = Number(key);
      if (!old.has(id) || !now.has(id)) return false;
      const [from, to] = [old.get(id), now.get(id)];
      if (!from || !to) return !from && !to;
      return Math.hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]) <= MAX_BASE_SHIFT_M;
    }),
  );
}
