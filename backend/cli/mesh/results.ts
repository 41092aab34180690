import { basename } from "node:path";
import type { TriangulateSuccess } from "../../../shared/contract/triangulate.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import type { MeshShape } from "../meshes/shape.ts";
import { type Page, smallPage } from "../report/page.ts";
import { versionsFact } from "../report/reproduce.ts";
import type { Fact } from "../report/summary.ts";
import { type FolderRun, REPORT_FILE, SUMMARY_FILE } from "../run/folder-run.ts";
import { type CloudPart, inputFact } from "../run/inputs.ts";
import { reportedWarnings } from "../wording.ts";
import type { MeshMethod, MeshOptions } from "./options.ts";
import type { NamedFigure } from "./pictures.ts";

export interface FoundMesh {
  readonly points: CloudPart;
  readonly answer: TriangulateSuccess;
  readonly shape: MeshShape;
  /** Added to the coordinates of the file, it gives true world coordinates; null = they are that already. */
  readonly file_shift: readonly number[] | null;
  readonly warnings: readonly string[];
}

const count = (value: number) => plainNumber(value, 0);
const short = (value: number) => shortNumber(Number(value.toPrecision(5)));
const METHODS: Readonly<Record<MeshMethod, string>> = {
  poisson: "screened Poisson reconstruction",
  ball_pivoting: "ball pivoting",
  alpha_shape: "alpha shape",
  delaunay: "Delaunay triangulation in x and y",
};

/** What a user of the mesh may trip over. */
export function shapeWarnings(shape: MeshShape, method: MeshMethod): string[] {
  const warnings: string[] = [];
  if (shape.non_manifold_edge_count > 0)
    warnings.push(
      `${count(shape.non_manifold_edge_count)} edges belong to more than two triangles: programs that need a manifold surface refuse the mesh.`,
    );
  if (shape.volume_m3 !== null && shape.volume_m3 < 0)
    warnings.push("The mesh is turned inside out: its normals point inwards.");
  if (shape.component_count > 1 && method !== "delaunay")
    warnings.push(`The mesh has ${count(shape.component_count)} separate parts.`);
  return warnings;
}

/** Closed or not, and why not. */
export function closedTile({ is_closed, boundary_edge_count, non_manifold_edge_count }: MeshShape): [string, string] {
  if (is_closed) return ["closed", "every edge has two triangles"];
  if (boundary_edge_count > 0) return ["open", `${count(boundary_edge_count)} boundary edges`];
  const edges = non_manifold_edge_count === 1 ? "edge" : "edges";
  return ["not closed", `${count(non_manifold_edge_count)} ${edges} of more than two triangles`];
}

/** The numbers for the terminal and the report. */
export function meshFacts(
  { points, answer, shape }: Pick<FoundMesh, "points" | "answer" | "shape">,
  method: MeshMethod,
): Fact[] {
  const used = count(answer.points_used);
  const facts: Fact[] = [
    ["Cloud", points.file.name],
    ["Method", METHODS[method]],
    ["Points used", used],
    ["Triangles", count(shape.triangle_count)],
    ["Vertices", count(shape.vertex_count)],
    ["Area", `${short(shape.area_m2)} m²`],
    ["Closed", shape.is_closed ? "yes" : "no"],
    ["Boundary edges", count(shape.boundary_edge_count)],
    ["Edges of more than two triangles", count(shape.non_manifold_edge_count)],
    ["Separate parts", count(shape.component_count)],
  ];
  if (shape.volume_m3 !== null) facts.push(["Volume", `${short(shape.volume_m3)} m³`]);
  if (answer.depth_used !== undefined) facts.push(["Depth of the octree", count(answer.depth_used)]);
  if (answer.radii_m !== undefined) facts.push(["Radii of the balls", `${answer.radii_m.map(short).join(", ")} m`]);
  if (answer.tile_count !== undefined && answer.tile_count > 1)
    facts.push(["Tiles with radii of their own", count(answer.tile_count)]);
  if (answer.filled_hole_count !== undefined) facts.push(["Small holes closed", count(answer.filled_hole_count)]);
  if (answer.alpha_m !== undefined) facts.push(["Alpha", `${short(answer.alpha_m)} m`]);
  return facts;
}

interface Made {
  readonly versions: Record<string, string>;
  readonly seconds: Record<string, number>;
}

/** Writes pictures, summary and report. */
export async function writeResults(
  found: FoundMesh,
  figures: readonly NamedFigure[],
  options: MeshOptions,
  { out, progress }: FolderRun,
  { versions, seconds }: Made,
) {
  progress.stage("Writing the report");
  const { points, answer, shape, file_shift } = found;
  const warnings = reportedWarnings(found.warnings);
  for (const { name, png } of figures) await out.write(`${name}.png`, png);
  const document = {
    cloud: { path: points.file.path, bytes: points.file.bytes, points: points.tail.point_count },
    mesh: { ...shape, format: options.format, file_shift },
    reconstruction: answer,
    outputs: {
      mesh: options.file,
      report: out.final(REPORT_FILE),
      summary: out.final(SUMMARY_FILE),
      pictures: figures.map(({ name }) => out.final(`${name}.png`)),
    },
    warnings,
    versions,
    parameters: {
      method: options.method,
      ...options.tuning,
      units: options.reading.units ?? null,
      columns: options.reading.columns ?? null,
      picture_size: options.pictureSize,
    },
    seconds,
  };
  await out.write(SUMMARY_FILE, jsonDocument(document));
  await out.write(REPORT_FILE, await smallPage(page(found, figures, options, warnings, versions)));
  const facts: Fact[] = [
    ...meshFacts(found, options.method),
    ["Mesh", options.file],
    ["Report", out.final(REPORT_FILE)],
    ["Summary", out.final(SUMMARY_FILE)],
  ];
  return { document, facts };
}

function page(
  found: FoundMesh,
  figures: readonly NamedFigure[],
  options: MeshOptions,
  warnings: readonly string[],
  versions: Record<string, string>,
): Page {
  const { shape, points, file_shift } = found;
  const { reading, method, tuning } = options;
  const reproduce: Fact[] = [
    ["Cloud", inputFact(points.file)],
    ["Method (--method)", method],
    ...Object.entries(tuning).map(([name, value]): Fact => [`Parameter ${name}`, String(value)]),
    ["Units (--units)", reading.units ?? "not given"],
    ["Column legend (--columns)", reading.columns ?? "not given"],
    versionsFact(versions),
  ];
  const shifted = file_shift ? `; add ${file_shift.join(", ")} m to its coordinates` : "";
  return {
    kicker: "Mesh report",
    title: points.file.name,
    created: new Date(),
    tiles: [
      [count(shape.triangle_count), "triangles"],
      [`${short(shape.area_m2)} m²`, "area"],
      closedTile(shape),
      [count(shape.component_count), shape.component_count === 1 ? "part" : "separate parts"],
    ],
    warnings,
    sections: [
      { title: "Mesh", facts: meshFacts(found, method), note: NOTE },
      {
        title: "Pictures",
        figures,
        note: "Parallel projections; light from the upper left. Both sides of a triangle are drawn.",
      },
      { title: "Reproduce", facts: reproduce },
    ],
    footer: `The mesh is ${basename(options.file)} beside the folder of this report${shifted}.`,
  };
}

const NOTE =
  "A mesh is closed if every edge belongs to two triangles; boundary edges belong to one and are the rims of holes. Parts share no vertex. Coordinates are metres.";
