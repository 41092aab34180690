import { type QsmMesh, qsmCsv, qsmGlb } from "../../../shared/client/index.ts";
import type { QsmBuildTail } from "../../../shared/contract/qsm.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { texturedGlb } from "../meshes/textured-glb.ts";
import { smallPage } from "../report/page.ts";
import { versionsFact } from "../report/reproduce.ts";
import type { Fact } from "../report/summary.ts";
import { unitsFact } from "../report/system-text.ts";
import { type FolderRun, REPORT_FILE, SUMMARY_FILE } from "../run/folder-run.ts";
import { type CloudPart, inputFact } from "../run/inputs.ts";
import { reportedWarnings } from "../wording.ts";
import type { FoundLeaves } from "./leaves.ts";
import type { DiameterClass, TaperStep } from "./measures.ts";
import type { QsmOptions } from "./options.ts";
import type { NamedFigure } from "./pictures.ts";

export interface FoundModel {
  readonly points: CloudPart;
  readonly model: QsmBuildTail;
  readonly metrics: NonNullable<QsmBuildTail["metrics"]>;
  readonly mesh: QsmMesh;
  readonly classes: readonly DiameterClass[];
  readonly taper: readonly TaperStep[];
  readonly leaves: FoundLeaves | null;
  readonly warnings: readonly string[];
}

const FILES = {
  cylinders: "cylinders.csv",
  mesh: "wood.glb",
  ranks: "ranks.csv",
  classes: "diameter_classes.csv",
  taper: "taper.csv",
} as const;
const LEAF_FILE = "leaves.glb";

const count = (value: number) => plainNumber(value, 0);
const short = (value: number) => shortNumber(Number(value.toPrecision(4)));
/** Numbers and words of our own alone: nothing that a spreadsheet takes for a formula. */
const csv = (rows: readonly (readonly (string | number | null)[])[]) =>
  rows.map((row) => `${row.map((cell) => cell ?? "").join(",")}\n`).join("");

const litres = (volume: number, interval: readonly [number, number] | null) =>
  `${short(1000 * volume)} l${interval ? ` (95 % interval ${short(1000 * interval[0])} to ${short(1000 * interval[1])} l)` : ""}`;

/** The numbers for the terminal and the report. */
export function modelFacts({ points, model, metrics, classes, leaves }: FoundModel): Fact[] {
  return [
    ["Cloud", points.file.name],
    unitsFact(points),
    ["Points used", count(model.points_used)],
    ["Cylinders", count(model.n_cylinders)],
    ["Shoots", count(model.n_shoots)],
    ["Wood", litres(metrics.total_woody_volume_m3, metrics.total_woody_volume_ci95_m3)],
    ["Stem", litres(metrics.stem_volume_m3, metrics.stem_volume_ci95_m3)],
    ["Branches", litres(metrics.branch_volume_m3, metrics.branch_volume_ci95_m3)],
    ["Diameter at the base", `${short(metrics.trunk_diameter_mm / 10)} cm`],
    ["Height", `${short(metrics.tree_height_m)} m`],
    ["Length of all axes", `${short(metrics.total_length_m)} m`],
    ...metrics.per_rank.map((rank): Fact => {
      const angle = rank.mean_branch_angle_deg === null ? "" : `, angle ${short(rank.mean_branch_angle_deg)}°`;
      return [
        `Rank ${rank.rank}`,
        `${count(rank.n_shoots)} ${rank.n_shoots === 1 ? "shoot" : "shoots"}, ${short(rank.total_length_m)} m, ${short(1000 * rank.woody_volume_m3)} l, mean diameter ${short(rank.mean_diameter_mm / 10)} cm${angle}`,
      ];
    }),
    ...classes.map((one): Fact => [`Diameter ${one.name}`, litres(one.volume_m3, one.volume_ci95_m3)]),
    ...(leaves ? leafFacts(leaves) : []),
  ];
}

function leafFacts({ leaf_count, leaf_area_m2, phyllotaxis_deg, leaves_per_node, n_parents_sampled }: FoundLeaves) {
  const from = n_parents_sampled > 0 ? `from ${count(n_parents_sampled)} shoots` : "the most common angle";
  return [
    ["Leaves", `${count(leaf_count)}, ${short(leaf_area_m2)} m2 of blades`],
    ["Step from leaf to leaf", `${phyllotaxis_deg}° (${from}), ${leaves_per_node} per node`],
  ] satisfies Fact[];
}

function leafRecord(leaves: FoundLeaves | null) {
  if (!leaves) return null;
  const { leaf_count, leaf_area_m2, phyllotaxis_deg, leaves_per_node, n_parents_sampled } = leaves;
  return { leaf_count, leaf_area_m2, phyllotaxis_deg, leaves_per_node, n_parents_sampled };
}

function tables({ metrics, classes, taper }: FoundModel): Record<string, string> {
  const ranks = metrics.per_rank.map((rank) => Object.values(rank));
  return {
    [FILES.ranks]: csv([Object.keys(metrics.per_rank[0] ?? {}), ...ranks]),
    [FILES.classes]: csv([
      ["diameter", "n_cylinders", "length_m", "volume_m3", "volume_low_m3", "volume_high_m3"],
      ...classes.map(({ name, n_cylinders, length_m, volume_m3, volume_ci95_m3: ci }) => [
        name,
        n_cylinders,
        length_m,
        volume_m3,
        ci?.[0] ?? null,
        ci?.[1] ?? null,
      ]),
    ]),
    [FILES.taper]: csv([
      ["along_m", "radius_m", "radius_se_m", "measured_m"],
      ...taper.map(({ along_m, radius_m, radius_se_m, measured_m }) => [along_m, radius_m, radius_se_m, measured_m]),
    ]),
  };
}

/** Writes tables, mesh, pictures, summary and report. */
export async function writeModel(
  found: FoundModel,
  figures: readonly NamedFigure[],
  options: QsmOptions,
  { out }: FolderRun,
  versions: Record<string, string>,
) {
  const { points, model, metrics } = found;
  const warnings = reportedWarnings(found.warnings);
  for (const { name, png } of figures) await out.write(`${name}.png`, png);
  await out.write(FILES.cylinders, [...qsmCsv(model)].join(""));
  await out.write(FILES.mesh, qsmGlb(found.mesh));
  if (found.leaves) await out.write(LEAF_FILE, await texturedGlb(found.leaves.mesh, "leaves", found.mesh.origin));
  for (const [name, text] of Object.entries(tables(found))) await out.write(name, text);
  const { twig_radius_mm, radius_model, align, leaves, reading, pictureSize } = options;
  const outputs = Object.fromEntries(
    Object.entries({
      report: REPORT_FILE,
      summary: SUMMARY_FILE,
      ...FILES,
      ...(found.leaves ? { leaves: LEAF_FILE } : {}),
    }).map(([key, name]) => [key, out.final(name)]),
  );
  const document = {
    cloud: { path: points.file.path, bytes: points.file.bytes, points: points.tail.point_count },
    model: {
      points_used: model.points_used,
      n_cylinders: model.n_cylinders,
      n_shoots: model.n_shoots,
      view_fit: model.view_fit,
      enlarged_by: model.enlarged_by,
      metrics,
    },
    diameter_classes: found.classes,
    leaves: leafRecord(found.leaves),
    outputs: { ...outputs, pictures: figures.map(({ name }) => out.final(`${name}.png`)) },
    warnings,
    versions,
    parameters: {
      twig_radius_mm,
      radius_model,
      align,
      leaves,
      units: reading.units ?? null,
      up: reading.up ?? null,
      columns: reading.columns ?? null,
      picture_size: pictureSize,
    },
  };
  await out.write(SUMMARY_FILE, jsonDocument(document));
  const facts = modelFacts(found);
  const reproduce: Fact[] = [
    ["Cloud", inputFact(points.file)],
    ["Radius of twigs (--species-twig)", `${twig_radius_mm} mm`],
    ["Model of the radii (--radius-model)", radius_model],
    ...(leaves
      ? ([
          ["Leaves (--leaves)", leaves.texture],
          ["Length of a leaf (--leaf-size)", `${leaves.leaf_size_m} m`],
          ["Spacing of leaves (--leaf-spacing)", `${leaves.leaf_spacing} m`],
        ] satisfies Fact[])
      : []),
    versionsFact(versions),
  ];
  await out.write(
    REPORT_FILE,
    await smallPage({
      kicker: "Wood model report",
      title: points.file.name,
      created: new Date(),
      tiles: [
        [`${short(1000 * metrics.total_woody_volume_m3)} l`, "wood"],
        [`${short(metrics.trunk_diameter_mm / 10)} cm`, "diameter at the base"],
        [`${short(metrics.tree_height_m)} m`, "height"],
        [count(model.n_cylinders), "cylinders"],
      ],
      warnings,
      sections: [
        { title: "Model", facts },
        { title: "Pictures", figures, note: NOTE },
        { title: "Reproduce", facts: reproduce },
      ],
      footer: `Cylinders: ${FILES.cylinders}; surface: ${FILES.mesh}.`,
    }),
  );
  const written: Fact[] = [
    ["Report", out.final(REPORT_FILE)],
    ["Cylinders", out.final(FILES.cylinders)],
    ["Mesh", out.final(FILES.mesh)],
    ...(found.leaves ? ([["Leaves", out.final(LEAF_FILE)]] satisfies Fact[]) : []),
  ];
  return { document, facts: [...facts, ...written] };
}

const NOTE =
  "Cloud and model are drawn at the same place and scale. Dots of the taper are medians of the distances of the points beside the stem from the model's axis; they are not what the model was fitted to. The interval of a diameter class takes the errors of all of its stem wood, and of all of its branch wood, as going the same way.";
