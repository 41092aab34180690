import {
  DEFAULT_STAND_SETTINGS,
  JENKINS_GROUPS,
  type JenkinsGroup,
  type StandSettings,
} from "../../../shared/client/stand.ts";
import { TREE_METHODS, type TreeMethod } from "../../../shared/contract/segment-trees.ts";
import { WOOD_METHODS, type WoodMethod } from "../../../shared/contract/segment-wood.ts";
import { AppError } from "../../../shared/errors.ts";
import { type GroundChoice, parseGround } from "../analyze/ground.ts";
import { DEFAULT_SAMPLE_POINTS, parsePictureSize, parseSamplePoints, type ReadingOptions } from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { checkedReading, parseMetres } from "../run/inputs.ts";

/** Options from commander, before their values are checked. */
export interface RawInventoryOptions {
  readonly out: string;
  readonly method?: string;
  readonly scene?: string;
  readonly crownWidth?: string;
  readonly ground?: string;
  readonly breastHeight?: string;
  readonly minDbh?: string;
  readonly plotArea?: string;
  readonly biomass?: string;
  readonly woodDensity?: string;
  readonly jenkinsGroup?: string;
  readonly qsm?: true;
  readonly align?: boolean;
  readonly scanColumn?: string;
  readonly wood?: string;
  readonly units?: string;
  readonly up?: string;
  readonly columns?: string;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface InventoryOptions {
  readonly out: string;
  /** undefined: by the kind of cloud. */
  readonly method: TreeMethod | undefined;
  /** undefined: method auto, in clouds that are no single tree. */
  readonly ground: GroundChoice | undefined;
  /** undefined: as the points look. */
  readonly scene: PlotScene | undefined;
  /** Of the smaller crowns, for method chm, metres. */
  readonly crownWidth: number | undefined;
  /** Metres. */
  readonly breastHeight: number | undefined;
  /** What the stand table counts. */
  readonly settings: StandSettings;
  /** Model the wood of every tree. */
  readonly qsm: boolean;
  /** Move scans that do not fit each other. */
  readonly align: boolean;
  /** Tells scans apart; undefined: as the cloud names it. */
  readonly scanColumn: string | undefined;
  /** How wood is told from leaves before it is modelled; undefined: as the cloud has it. */
  readonly wood: WoodMethod | undefined;
  readonly reading: ReadingOptions;
  readonly points: number;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

function parseMethod(text: string): TreeMethod {
  const method = TREE_METHODS.find((name) => name === text.toLowerCase());
  if (!method) throw bad(`--method "${text}" is none of ${TREE_METHODS.join(", ")}`);
  return method;
}

/** What an inventory is made of. */
const PLOT_SCENES = ["airborne", "plot", "tree"] as const;
export type PlotScene = (typeof PLOT_SCENES)[number];

function parsePlotScene({ scene: text = "", method }: RawInventoryOptions): PlotScene {
  const scene = PLOT_SCENES.find((name) => name === text);
  if (!scene) throw bad(`--scene "${text}" is none of ${PLOT_SCENES.join(", ")}`);
  if (scene === "tree" && method !== undefined)
    throw bad("--scene tree takes the whole cloud as one tree, which needs no segmentation: leave --method out");
  return scene;
}

function parsePlotGround(text: string, { scene }: RawInventoryOptions): GroundChoice {
  if (scene === "tree") throw bad("--scene tree looks for no ground: leave --ground out");
  return parseGround(text);
}

function parseCrownWidth(text: string, { method, scene }: RawInventoryOptions): number {
  if (method !== undefined && method.toLowerCase() !== "chm")
    throw bad(`--crown-width belongs to --method chm, not to ${method}`);
  if (scene === "tree") throw bad("--scene tree takes the whole cloud as one tree: leave --crown-width out");
  return positive("--crown-width", text, "metres");
}

const EQUATIONS = ["chave2014", "jenkins2003"] as const;

const groupOf = (text: string): JenkinsGroup | undefined =>
  (Object.keys(JENKINS_GROUPS) as JenkinsGroup[]).find((name) => name === text.toLowerCase());

function positive(option: string, text: string, what: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw bad(`${option} "${text}" must be a positive number of ${what}`);
  return value;
}

/** Equation, density and group; refuses what the equation does not use. */
function biomassOf({ biomass, woodDensity, jenkinsGroup, qsm }: RawInventoryOptions): Partial<StandSettings> {
  const fromVolume = qsm === true && biomass === undefined;
  if (woodDensity !== undefined && biomass !== "chave2014" && !fromVolume)
    throw bad("--wood-density needs --biomass chave2014, or --qsm without --biomass");
  if (jenkinsGroup !== undefined && biomass !== "jenkins2003") throw bad("--jenkins-group needs --biomass jenkins2003");
  const given = woodDensity === undefined ? {} : { woodDensity: positive("--wood-density", woodDensity, "g/cm3") };
  if (biomass === undefined) return fromVolume ? { biomassMethod: "qsm", ...given } : {};
  const biomassMethod = EQUATIONS.find((name) => name === biomass);
  if (!biomassMethod) throw bad(`--biomass "${biomass}" is none of ${EQUATIONS.join(", ")}`);
  const group = jenkinsGroup === undefined ? DEFAULT_STAND_SETTINGS.jenkinsGroup : groupOf(jenkinsGroup);
  if (!group) throw bad(`--jenkins-group "${jenkinsGroup}" is none of ${Object.keys(JENKINS_GROUPS).join(", ")}`);
  return { biomassMethod, jenkinsGroup: group, ...given };
}

function settingsOf(raw: RawInventoryOptions): StandSettings {
  return {
    ...DEFAULT_STAND_SETTINGS,
    ...(raw.minDbh === undefined ? {} : { minDbhCm: parseCentimetres(raw.minDbh) }),
    ...(raw.plotArea === undefined ? {} : { plotAreaM2: positive("--plot-area", raw.plotArea, "m2") }),
    ...biomassOf(raw),
  };
}

function parseCentimetres(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= 0 && Number.isFinite(value)))
    throw bad(`--min-dbh "${text}" must be a number of centimetres from 0 on`);
  return value;
}

function parseWood(text: string, qsm: boolean): WoodMethod {
  const method = WOOD_METHODS.find((name) => name === text.toLowerCase());
  if (!method) throw bad(`--wood "${text}" is none of ${WOOD_METHODS.join(", ")}`);
  if (!qsm) throw bad("--wood belongs to --qsm; give both, or leave it out");
  return method;
}

/** Errors: invalid_argument. */
export function checkedInventory(raw: RawInventoryOptions): InventoryOptions {
  const { method, breastHeight, points, pictureSize } = raw;
  return {
    out: raw.out,
    method: method === undefined ? undefined : parseMethod(method),
    scene: raw.scene === undefined ? undefined : parsePlotScene(raw),
    ground: raw.ground === undefined ? undefined : parsePlotGround(raw.ground, raw),
    crownWidth: raw.crownWidth === undefined ? undefined : parseCrownWidth(raw.crownWidth, raw),
    breastHeight: breastHeight === undefined ? undefined : parseMetres("--breast-height", breastHeight),
    settings: settingsOf(raw),
    qsm: raw.qsm ?? false,
    align: raw.align ?? true,
    scanColumn: raw.scanColumn,
    wood: raw.wood === undefined ? undefined : parseWood(raw.wood, raw.qsm ?? false),
    reading: checkedReading(raw),
    points: points === undefined ? DEFAULT_SAMPLE_POINTS : parseSamplePoints(points),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}
