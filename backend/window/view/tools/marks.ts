import { type PerspectiveCamera, Vector3 } from "three";
import type { Point } from "../../../../shared/contract/geometry.ts";

/** Something drawn over the picture. Places in world metres stay on their points; pixels stay on the screen. */
export type Mark =
  | { readonly kind: "line"; readonly points: readonly Point[]; readonly label?: string }
  | { readonly kind: "shape"; readonly pixels: readonly (readonly [number, number])[]; readonly isClosed: boolean }
  | {
      readonly kind: "squares";
      readonly centers: readonly (readonly [number, number])[];
      readonly half_size: number;
    }
  | { readonly kind: "cross" };

interface Look {
  readonly accent: string;
  readonly halo: string;
}

/** Draws marks on a canvas over the view. */
export class MarkLayer {
  readonly canvas: HTMLCanvasElement;
  /** Marks that stay until they are cleared, by who made them. */
  readonly kept = new Map<string, Mark>();
  /** What is being drawn. */
  draft: Mark | null = null;

  constructor(page: Document) {
    this.canvas = page.createElement("canvas");
    this.canvas.className = "marks";
    this.canvas.setAttribute("aria-hidden", "true");
  }

  /** `origin`: world position of the scene's zero. */
  draw(camera: PerspectiveCamera, origin: Point, width: number, height: number, ratio: number): void {
    const { canvas } = this;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const look = { accent: style.getPropertyValue("--focus"), halo: style.getPropertyValue("--panel") };
    const project = projector(camera, origin, width, height);
    for (const mark of [...this.kept.values(), ...(this.draft ? [this.draft] : [])]) {
      if (mark.kind === "line") drawLine(context, mark.points.map(project), mark.label, look);
      else if (mark.kind === "shape") drawShape(context, mark.pixels, mark.isClosed, look);
      else if (mark.kind === "squares") drawSquares(context, mark.centers, mark.half_size, look);
      else drawCross(context, width / 2, height / 2, look);
    }
  }
}

type Place = readonly [number, number] | null;

/** Null behind the camera. */
function projector(camera: PerspectiveCamera, origin: Point, width: number, height: number): (at: Point) => Place {
  return (at) => {
    const place = new Vector3(at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]);
    const depth = place.clone().applyMatrix4(camera.matrixWorldInverse).z;
    if (depth >= 0) return null;
    place.project(camera);
    return [((place.x + 1) / 2) * width, ((1 - place.y) / 2) * height];
  };
}

function stroke(context: CanvasRenderingContext2D, { accent, halo }: Look): void {
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = halo;
  context.stroke();
  context.lineWidth = 2;
  context.strokeStyle = accent;
  context.stroke();
}

function drawLine(context: CanvasRenderingContext2D, places: readonly Place[], label: string | undefined, look: Look) {
  const seen = places.filter((place): place is readonly [number, number] => place !== null);
  context.beginPath();
  for (const [i, [x, y]] of seen.entries()) {
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  stroke(context, look);
  for (const [x, y] of seen) {
    context.beginPath();
    context.arc(x, y, 4, 0, 2 * Math.PI);
    stroke(context, look);
  }
  const [a, b] = [seen[0], seen.at(-1)];
  if (label === undefined || !a || !b) return;
  context.font = '600 13px system-ui, "Liberation Sans", sans-serif';
  context.textAlign = "center";
  const [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 - 10];
  context.lineWidth = 5;
  context.strokeStyle = look.halo;
  context.strokeText(label, x, y);
  context.fillStyle = look.accent;
  context.fillText(label, x, y);
}

function drawShape(
  context: CanvasRenderingContext2D,
  pixels: readonly (readonly [number, number])[],
  isClosed: boolean,
  look: Look,
): void {
  context.beginPath();
  for (const [i, [x, y]] of pixels.entries()) {
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  if (isClosed) context.closePath();
  context.globalAlpha = 0.15;
  context.fillStyle = look.accent;
  context.fill("evenodd");
  context.globalAlpha = 1;
  stroke(context, look);
}

function drawSquares(
  context: CanvasRenderingContext2D,
  centers: readonly (readonly [number, number])[],
  half: number,
  look: Look,
): void {
  context.beginPath();
  for (const [x, y] of centers) context.rect(x - half, y - half, 2 * half, 2 * half);
  context.globalAlpha = 0.35;
  context.fillStyle = look.accent;
  context.fill("nonzero");
  context.globalAlpha = 1;
}

function drawCross(context: CanvasRenderingContext2D, x: number, y: number, look: Look): void {
  context.beginPath();
  context.moveTo(x - 12, y);
  context.lineTo(x + 12, y);
  context.moveTo(x, y - 12);
  context.lineTo(x, y + 12);
  stroke(context, look);
}
