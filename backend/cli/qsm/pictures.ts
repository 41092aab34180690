import type { QsmMesh } from "../../../shared/client/index.ts";
import { frameCamera, obliqueCamera } from "../drawing/camera.ts";
import { Canvas } from "../drawing/canvas.ts";
import { type Chart, type ChartSeries, chartPicture } from "../drawing/chart.ts";
import type { RampName, Rgb } from "../drawing/color-ramp.ts";
import { captionedPicture } from "../drawing/framed-picture.ts";
import { drawMesh, SOFT_LIGHT } from "../drawing/mesh-picture.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { renderView } from "../drawing/render.ts";
import { sceneBox, VIEWS, type ViewFrame, viewFrame } from "../drawing/view-frame.ts";
import { NO_TEXTURE, type TexturedMesh } from "../meshes/textured.ts";
import type { PageFigure } from "../report/page.ts";
import type { DiameterClass, TaperStep } from "./measures.ts";

export interface NamedFigure extends PageFigure {
  /** Name of the file without extension. */
  readonly name: string;
}

const BARK = [0.55, 0.42, 0.3] as const;
const GAP_PX = 16;
const [BLUE, RED, GREEN]: readonly [Rgb, Rgb, Rgb] = [
  [0x1f, 0x77, 0xb4],
  [0xd6, 0x27, 0x28],
  [0x4f, 0x8a, 0x46],
];

/** Cloud and model in the same place of the same picture, left and right. */
export async function sideBySide(
  sample: PointSample,
  mesh: QsmMesh,
  longestPx: number,
  signal: AbortSignal,
): Promise<NamedFigure[]> {
  const local = moved(sample, mesh.origin);
  const box = sceneBox(local);
  if (!box) return [];
  const colors = mesh.vertices.map((_, i) => BARK[(i % 3) as 0 | 1 | 2]);
  const figures: NamedFigure[] = [];
  for (const view of VIEWS.filter(({ name }) => name !== "top")) {
    const frame: ViewFrame = viewFrame(view, box, longestPx);
    const scale = { ramp: "greys" as RampName, range: [box.min[2], box.max[2]] as const };
    const cloud = await renderView(local, frame, { mode: "height", ...scale }, signal);
    const model = await drawMesh({ ...mesh, colors }, frameCamera(frame), signal);
    const canvas = new Canvas(cloud.width + GAP_PX + model.width, Math.max(cloud.height, model.height));
    canvas.place(cloud, 0, 0);
    canvas.place(model, cloud.width + GAP_PX, 0);
    const title = `Cloud and model, ${view.title.replace(/^.* view, /, "")}`;
    figures.push({
      name: `cloud_and_model_${view.name}`,
      title,
      png: await captionedPicture(canvas, { title, frame }),
    });
  }
  return figures;
}

/** Direction to the viewer of the leaves: from the side, 12 degrees above the ground. */
const FROM = [0.5, -0.85, 0.21] as const;

/** The wood with its leaves; both meshes have the same origin. */
export async function leafFigure(
  wood: QsmMesh,
  leaves: TexturedMesh,
  longestPx: number,
  signal: AbortSignal,
): Promise<NamedFigure> {
  const woodVertices = wood.vertices.length / 3;
  const vertices = joined(wood.vertices, leaves.vertices);
  const colors = wood.vertices.map((_, i) => BARK[(i % 3) as 0 | 1 | 2]);
  const indices = new Uint32Array(wood.indices.length + leaves.indices.length);
  indices.set(wood.indices);
  indices.set(
    leaves.indices.map((vertex) => vertex + woodVertices),
    wood.indices.length,
  );
  const triangle_image = new Uint32Array(indices.length / 3);
  triangle_image.fill(NO_TEXTURE, 0, wood.indices.length / 3);
  const camera = obliqueCamera(FROM, vertices, longestPx);
  const uvs = joined(new Float32Array(2 * woodVertices), leaves.uvs ?? new Float32Array());
  const textures = leaves.textures.map(({ picture }) => picture);
  const drawn = { vertices, indices, colors: joined(colors, leaves.colors), uvs, triangle_image, textures };
  const raster = await drawMesh(drawn, camera, signal, SOFT_LIGHT);
  const title = "Model with leaves";
  return { name: "leaves", title, png: await captionedPicture(raster, { title, frame: camera }) };
}

function joined(a: Float32Array, b: Float32Array): Float32Array {
  const out = new Float32Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}

/** The sample relative to a place: float32 in the renderer is exact enough there. */
function moved(sample: PointSample, origin: readonly number[]): PointSample {
  return { ...sample, position: sample.position.map((value, i) => value - (origin[i % 3] ?? 0)) };
}

/** The radius of the stem along its axis: of the model with its 95 % interval, and of the points beside it. */
export async function taperFigure(steps: readonly TaperStep[]): Promise<NamedFigure> {
  const cm = (metres: number) => 100 * metres;
  const measured = steps.flatMap(({ along_m, measured_m }) =>
    measured_m === null ? [] : [[along_m, cm(measured_m)] as const],
  );
  const limit = (sign: 1 | -1) =>
    steps.flatMap(({ along_m, radius_m, radius_se_m }) =>
      radius_se_m === null ? [] : [[along_m, Math.max(0, cm(radius_m + sign * 1.96 * radius_se_m))] as const],
    );
  const fit = steps.map(({ along_m, radius_m }) => [along_m, cm(radius_m)] as const);
  const all: ChartSeries[] = [
    { color: BLUE, points: measured, is_dots: true },
    { color: RED, points: fit, is_line: true },
    { color: GREEN, points: limit(1), is_line: true },
    { color: GREEN, points: limit(-1), is_line: true },
  ];
  const series = all.filter(({ points }) => points.length > 0);
  const highest = Math.max(...series.flatMap(({ points }) => points.map(([, radius]) => radius)), 0.1);
  const chart: Chart = {
    title: "Taper of the stem: points beside it (dots), model (red), its 95 % interval (green)",
    x: { title: "Distance from the base along the stem, m", range: [0, Math.max(...fit.map(([at]) => at), 0.1)] },
    y: { title: "Radius, cm", range: [0, 1.05 * highest] },
    series,
  };
  return { name: "taper", title: "Taper of the stem", png: await chartPicture(chart) };
}

/** Volume by diameter class. */
export async function classFigure(classes: readonly DiameterClass[]): Promise<NamedFigure> {
  // A bar ends where the next one begins: the last one at a bar of nothing.
  const litres = [...classes.map(({ volume_m3 }) => 1000 * volume_m3), 0].map((value, i) => [i, value] as const);
  const highest = Math.max(
    ...classes.map(({ volume_m3, volume_ci95_m3 }) => 1000 * (volume_ci95_m3?.[1] ?? volume_m3)),
    1e-3,
  );
  const whiskers = classes.flatMap(({ volume_ci95_m3 }, i): ChartSeries[] =>
    volume_ci95_m3
      ? [{ color: RED, is_line: true, points: volume_ci95_m3.map((value) => [i + 0.5, 1000 * value] as const) }]
      : [],
  );
  const chart: Chart = {
    title: "Volume by diameter, with 95 % intervals",
    x: { title: "Class, in the order of the table", range: [0, Math.max(1, classes.length)] },
    y: { title: "Volume, litres", range: [0, 1.05 * highest] },
    series: [{ color: BLUE, points: litres, is_bars: true }, ...whiskers],
    marks: classes.map(({ name }, at) => ({ at, text: name })),
  };
  return { name: "volume_by_diameter", title: "Volume by diameter", png: await chartPicture(chart) };
}
