import { CLASS_COLORS, GROUND_LAYER_M, type GroundProfile, PROFILE_WIDTH_M } from "../drawing/ground-profile.ts";
import type { RasterPicture } from "../drawing/raster-picture.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { AXIS_NAMES } from "../drawing/view-frame.ts";
import { type FigureBar, figureWidth, framedFigure } from "./figure.ts";
import {
  interpolatedShare,
  isLand,
  type Scene,
  type StepOutcome,
  type SurfaceSummary,
  type TerrainSummary,
  type UsedParameters,
} from "./findings.ts";
import { Html, html } from "./html.ts";
import type { AnalysisSummary, Fact } from "./summary.ts";

export interface TerrainPictures {
  readonly rasters: readonly RasterPicture[];
  readonly profile: GroundProfile | undefined;
}

const share = (part: number, whole: number) => (whole > 0 ? ` (${plainNumber((100 * part) / whole, 1)} %)` : "");
const parameters = (used: UsedParameters) =>
  Object.entries(used)
    .map(([name, value]) => `${name} ${typeof value === "number" ? shortNumber(Number(value.toPrecision(4))) : value}`)
    .join(", ");

const SCENE_NAMES: Readonly<Record<Scene["kind"], string>> = {
  airborne: "land from the air",
  plot: "land from the ground or a low flight",
  tree: "a tree, or trees without ground",
  object: "a thing or a room",
};

/** What the cloud is taken for, and why. */
export const sceneText = ({ kind, asked, reason }: Scene): string =>
  asked ? `${kind} (${SCENE_NAMES[kind]}), given by --scene` : `${kind} (${SCENE_NAMES[kind]}): ${reason}`;

/** The results of the steps, for the terminal and the report; of land only, ground and heights. */
export function terrainFacts(terrain: TerrainSummary, scene: Scene): Fact[] {
  const { noise, left_out_as_noise: left_out, ground, dtm, dsm, chm } = terrain;
  const facts: Fact[] = [];
  const flagged = noise.done ? noise.flagged : 0;
  if (noise.done) facts.push(["Noise points", plainNumber(flagged, 0) + share(flagged, flagged + noise.kept)]);
  else facts.push(["Noise", leftOut(noise)]);
  if (!isLand(scene)) return facts;
  if (left_out === null) facts.push(["Ground and surfaces", "from all points: a scanner makes less noise"]);
  else if (left_out > flagged)
    facts.push(["Noise by the file's classes", `${plainNumber(left_out - flagged, 0)}, left out as well`]);
  if (ground.done) {
    const all = ground.num_ground + ground.num_plant;
    facts.push(
      ["Ground points", plainNumber(ground.num_ground, 0) + share(ground.num_ground, all)],
      ["Points above the ground", plainNumber(ground.num_plant, 0) + share(ground.num_plant, all)],
      ["Points below the ground", plainNumber(ground.low_outliers, 0)],
    );
  } else facts.push(["Ground", leftOut(ground)]);
  facts.push(
    ["Terrain heights (DTM)", surfaceText(dtm)],
    ["Surface heights (DSM)", surfaceText(dsm)],
    ["Canopy heights (CHM)", surfaceText(chm)],
  );
  return facts;
}

function surfaceText(surface: StepOutcome<SurfaceSummary>): string {
  if (!surface.done) return leftOut(surface);
  const { range, cell_m, cells, void_cells, interpolated_cells } = surface;
  const heights = range ? `${plainNumber(range[0], 2)} to ${plainNumber(range[1], 2)} m` : "no cell";
  const guessed = interpolated_cells === null ? 0 : Math.round(100 * interpolatedShare(surface));
  const interpolated = guessed > 0 ? `, ${guessed} % interpolated` : "";
  const voids = void_cells > 0 ? `, ${plainNumber(void_cells, 0)} empty` : "";
  return `${heights}; ${cells[0]} × ${cells[1]} cells of ${shortNumber(Number(cell_m.toPrecision(4)))} m${voids}${interpolated}`;
}

const leftOut = ({ reason, asked }: { readonly reason: string; readonly asked: boolean }) =>
  asked ? `not possible: ${reason}` : reason;

function parameterFacts({ noise, ground, dtm }: TerrainSummary): Fact[] {
  const facts: Fact[] = [];
  if (noise.done) facts.push([`Noise, method ${noise.method}`, parameters(noise.params_used)]);
  if (ground.done) {
    const { point_spacing_m: spacing } = ground;
    facts.push([`Ground, method ${ground.method}`, parameters(ground.params_used)]);
    if (spacing !== null) facts.push(["Point spacing from above", `${shortNumber(Number(spacing.toPrecision(4)))} m`]);
  }
  if (dtm.done && dtm.ground_source)
    facts.push(["Ground of the terrain", GROUND_SOURCES[dtm.ground_source] ?? dtm.ground_source]);
  return facts;
}
const GROUND_SOURCES: Readonly<Record<string, string>> = {
  column: "column ground_class",
  csf_auto: "found by cloth simulation, for the terrain only",
  all_points: "all points",
};

/** Padding to the left and right of a drawing in total, pixels; see style.ts. */
const FIGURE_PADDING = 22;

/** The report's section on noise, ground, terrain and canopy. */
export function terrainSection(
  terrain: TerrainSummary,
  { rasters, profile }: TerrainPictures,
  labels: Pick<AnalysisSummary, "world_shift" | "scene">,
): Html {
  const land = isLand(labels.scene);
  const rows = [
    ["Scene", sceneText(labels.scene)] as const,
    ...terrainFacts(terrain, labels.scene),
    ...parameterFacts(terrain),
  ].map(([label, value]) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`);
  const figures = [
    ...(profile ? [profileFigure(profile, terrain, labels)] : []),
    ...rasters.map((picture) => rasterFigure(picture, labels)),
  ];
  const canopy = terrain.left_out_as_noise ? "without noise" : "from all points";
  const grids = terrain.dtm.done
    ? " Terrain, surface and canopy are in the folder of this report as GeoTIFF and ASCII grid (dtm, dsm, chm)."
    : "";
  const note = land
    ? `Labels are columns of the copy (noise_class, ground_class, height_above_ground); no point was deleted. Surface and canopy are computed ${canopy}. Heights outside a colour bar have its end colours; empty cells are white.${grids}`
    : "Ground and heights above it belong to scans of land: --scene airborne or --scene plot asks for them.";
  return html`<h2>${land ? "Ground and canopy" : "Scene"}</h2>
<table><tbody>${rows}</tbody></table>
<p class="note">${note}</p>
<div class="figures">${figures}</div>`;
}

const figure = (drawing: Html, width: number, title: string, text: string) =>
  html`<figure style="width:${Math.ceil(width) + FIGURE_PADDING}px">${drawing}
<figcaption><b>${title}</b>${text}</figcaption></figure>`;

/** The colour bar of a raster, in true world heights. */
export function rasterBar(
  { bar, is_height }: RasterPicture,
  world_shift: readonly [number, number, number],
): FigureBar {
  const shift = is_height ? world_shift[2] : 0;
  return { ...bar, range: [bar.range[0] + shift, bar.range[1] + shift] };
}

function rasterFigure(picture: RasterPicture, labels: Pick<AnalysisSummary, "world_shift">) {
  const { frame, png, title } = picture;
  const bar = rasterBar(picture, labels.world_shift);
  return figure(framedFigure({ frame, png, title, bar }, labels), figureWidth(frame), title, "");
}

function profileFigure(
  { frame, png, counts, terrain, at_stored }: GroundProfile,
  { ground, noise }: TerrainSummary,
  labels: Pick<AnalysisSummary, "world_shift">,
): Html {
  const across = frame.view.right === 0 ? 1 : 0;
  const at = plainNumber(at_stored + labels.world_shift[across], 1);
  const title = "Profile of the ground";
  const legend = (["ground", "plant", "noise"] as const)
    .filter((name) => (name === "noise" ? noise.done : ground.done))
    .map(
      (name) =>
        html` <span class="key" style="color:rgb(${CLASS_COLORS[name].join(",")})">■</span> ${name} ${plainNumber(counts[name], 0)}`,
    );
  const text = html`: ${PROFILE_WIDTH_M} m wide slice at ${AXIS_NAMES[across]} = ${at} m; same scale on both axes.${legend}
${
  terrain.length > 0
    ? html`${new Html('<span class="key">—</span>')} terrain; what lies below it or at most ${GROUND_LAYER_M} m above is drawn as ground`
    : html``
}`;
  return html`<figure style="width:${Math.ceil(figureWidth(frame)) + FIGURE_PADDING}px">${framedFigure({ frame, png, title, bar: null }, labels)}
<figcaption><b>${title}</b>${text}</figcaption></figure>`;
}
