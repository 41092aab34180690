import { bladeOutline, plantPrototypes } from "../../backend/native/plant-shapes.ts";
import { type LeafShape, type LeafTexture, PlantShapes } from "../../shared/contract/plant-shapes.ts";

type Rgb = readonly [number, number, number];

export interface LeafPicture {
  readonly width: number;
  readonly height: number;
  /** 4 bytes per texel, sRGB, rows from the tip to the base. */
  readonly rgba: Uint8Array;
  /** Share of the texels inside the blade's mesh that are opaque (alpha of 128 and more). */
  readonly coverage: number;
}

/** Texels along the longer side. */
const SIZE = 256;
/** Beyond its margin the blade goes on for some texels, so that filters do not see the hole. */
const BLEED_TEXELS = 3;
/** Shades per colour channel: few of them keep the files small. */
const SHADES = 48;

const mix = (a: number, b: number, f: number) => a + (b - a) * Math.min(1, Math.max(0, f));
/** 1 on a line, 0 beyond its width, smooth between. */
const line = (distance: number, width: number) => {
  const t = Math.min(1, Math.max(0, 1.5 - distance / width));
  return t * t * (3 - 2 * t);
};

/** Signed distance to the outline (inside > 0), and where: 0 = base, 1 = tip, along either side. */
function outlineDistance(outline: readonly (readonly [number, number])[]) {
  const half = outline.slice(0, outline.length / 2 + 1); // tip to base, left
  const arc = [0];
  for (let i = 1; i < half.length; i += 1) {
    const [a, b] = [half[i - 1] as [number, number], half[i] as [number, number]];
    arc.push((arc[i - 1] ?? 0) + Math.hypot(a[0] - b[0], a[1] - b[1]));
  }
  const length = arc.at(-1) ?? 1;
  return (x: number, y: number) => {
    let best = Number.POSITIVE_INFINITY;
    let place = 0;
    let inside = false;
    const side = Math.abs(y);
    for (let i = 1; i < half.length; i += 1) {
      const [ax, ay] = half[i - 1] as [number, number];
      const [bx, by] = half[i] as [number, number];
      const [dx, dy] = [bx - ax, by - ay];
      const t = Math.min(1, Math.max(0, ((x - ax) * dx + (side - ay) * dy) / (dx * dx + dy * dy || 1)));
      const d = Math.hypot(x - ax - t * dx, side - ay - t * dy);
      if (d < best) {
        best = d;
        place = 1 - ((arc[i - 1] ?? 0) + t * ((arc[i] ?? 0) - (arc[i - 1] ?? 0))) / length;
      }
      if (ay > side !== by > side && x < ax + ((side - ay) / (by - ay)) * dx) inside = !inside;
    }
    return { distance: inside ? best : -best, place };
  };
}

/** How deep the margin is cut at a place, 0..1: teeth point to the tip. */
function toothCut(texture: LeafTexture, place: number): number {
  if (texture.teeth === 0) return 0;
  const at = place * texture.teeth;
  const saw = 1 - (at - Math.floor(at));
  const small = 1 - (3 * at - Math.floor(3 * at));
  const ends = Math.min(1, 8 * place, 12 * (1 - place));
  return Math.max(0, ends) * (texture.double_teeth ? 0.7 * saw + 0.3 * small : saw);
}

interface Main {
  readonly angle: number;
  readonly length: number;
}
/** Directions of the main veins of one half of a polar blade: to the corners that stand out. */
function palmateVeins(leaf: LeafShape, count: number): Main[] {
  const { outline } = bladeOutline(leaf.blade, 240);
  const half = outline.slice(0, outline.length / 2).map(([x, y]) => ({ angle: Math.atan2(y, x), r: Math.hypot(x, y) }));
  const peaks = half.filter(
    ({ r }, i) => i > 3 && i < half.length - 3 && half.slice(i - 3, i + 4).every((other) => other.r <= r),
  );
  const even = Array.from({ length: count }, (_, i) => {
    const at = half[Math.round(((i + 1) / (count + 0.7)) * half.length)] ?? { angle: 0, r: 1 };
    return { angle: at.angle, length: 0.92 * at.r };
  });
  if (peaks.length < 2) return even;
  return peaks.slice(0, count).map(({ angle, r }) => ({ angle, length: 0.95 * r }));
}

/** Vein strength 0..1 at a place of the blade. */
function veins(leaf: LeafShape, texture: LeafTexture, halfWidth: number): (x: number, y: number) => number {
  const width = (x: number) => Math.max(0.0035, 0.011 * (1 - 0.75 * x)) * Math.min(1, 1.2 * halfWidth + 0.45);
  const angle = (texture.vein_angle_deg * Math.PI) / 180;
  const pairs = texture.vein_pairs;
  /** Side veins that leave a straight main vein of a length; they bend toward its end. */
  const feather = (along: number, across: number, length: number, count: number) => {
    let best = 0;
    for (let k = 0; k < count; k += 1) {
      const from = (0.04 + (0.9 * (k + (across < 0 ? 0.25 : 0))) / count) * length;
      const s = Math.abs(across);
      const at = from + s / Math.tan(angle) + (0.5 * s * s) / length;
      best = Math.max(best, 0.75 * line(Math.abs(along - at) * Math.sin(angle), 0.0045));
    }
    return best;
  };
  if (texture.veins === "parallel")
    return (x, y) => {
      const w = Math.abs(y) / halfWidth;
      const stripe = Math.abs(w * pairs - Math.round(w * pairs)) / pairs;
      return Math.max(line(Math.abs(y), 0.07 * halfWidth * (1.3 - x)), 0.45 * line(stripe, 0.14 / pairs));
    };
  if (texture.veins === "pinnate")
    return (x, y) => Math.max(line(Math.abs(y), width(x)), x > 0 ? feather(x, y, 1, pairs) : 0);
  const mains = [{ angle: 0, length: 1 }, ...palmateVeins(leaf, pairs)];
  return (x, y) => {
    const side = Math.abs(y);
    const own = mains.reduce((a, b) =>
      Math.abs(Math.atan2(side, x) - b.angle) < Math.abs(Math.atan2(side, x) - a.angle) ? b : a,
    );
    let best = 0;
    for (const main of mains) {
      const along = x * Math.cos(main.angle) + side * Math.sin(main.angle);
      const across = side * Math.cos(main.angle) - x * Math.sin(main.angle);
      const t = along / main.length;
      if (t > 0 && t < 1) best = Math.max(best, line(Math.abs(across), 0.011 * (1 - 0.7 * t)));
      if (main === own && t > 0.15) best = Math.max(best, feather(along, across, main.length, 5));
    }
    return best;
  };
}

function colorAt(leaf: LeafShape, texture: LeafTexture, x: number, vein: number, toMargin: number): Rgb {
  const tip = texture.tip_color ?? leaf.color;
  return [0, 1, 2].map((k) => {
    const blade = mix(leaf.color[k] ?? 0, tip[k] ?? 0, x) * (0.94 + 0.1 * Math.min(1, 9 * toMargin));
    const shade = mix(blade, texture.vein_color[k] ?? 0, 0.85 * vein);
    return Math.round((Math.round(shade * SHADES) / SHADES) * 255);
  }) as unknown as Rgb;
}

/** Texture coordinates of the triangles of a leaf's mesh, 6 numbers each. */
export async function leafTriangles(leaf: LeafShape): Promise<Float32Array> {
  const { prototypes } = await plantPrototypes(PlantShapes.parse({ leaves: { leaf } }), 1).promise;
  const [prototype] = prototypes;
  if (!prototype?.uvs) throw new Error("the leaf has no texture coordinates");
  const bytes = (column: typeof prototype.indices) => {
    const out = new Uint8Array(column.bytes);
    column.readInto(out, 0);
    return out.buffer;
  };
  const uvs = new Float32Array(bytes(prototype.uvs));
  const indices = new Uint32Array(bytes(prototype.indices));
  for (const { positions, indices: i, colors, uvs: uv } of prototypes)
    for (const column of [positions, i, colors, uv]) column?.release();
  return Float32Array.from({ length: 2 * indices.length }, (_, i) => uvs[2 * (indices[i >> 1] ?? 0) + (i & 1)] ?? 0);
}

/** Marks the texels whose middle lies in a triangle. */
function texelsInside(triangles: Float32Array, width: number, height: number): Uint8Array {
  const inside = new Uint8Array(width * height);
  for (let t = 0; t < triangles.length; t += 6) {
    const [ax, ay, bx, by, cx, cy] = Array.from(triangles.subarray(t, t + 6), (value, k) =>
      k % 2 === 0 ? value * width - 0.5 : value * height - 0.5,
    ) as [number, number, number, number, number, number];
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    for (let y = Math.ceil(Math.min(ay, by, cy)); y <= Math.max(ay, by, cy); y += 1)
      for (let x = Math.ceil(Math.min(ax, bx, cx)); x <= Math.max(ax, bx, cx); x += 1) {
        const b = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area;
        const c = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area;
        if (b >= 0 && c >= 0 && b + c <= 1 && x >= 0 && x < width && y >= 0 && y < height) inside[y * width + x] = 1;
      }
  }
  return inside;
}

/** A picture turned by 90 degrees: the base at the left edge, the midrib along the rows. */
export function lying({ width, height, rgba }: LeafPicture): Pick<LeafPicture, "width" | "height" | "rgba"> {
  const turned = new Uint8Array(rgba.length);
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const from = 4 * (row * width + column);
      turned.set(rgba.subarray(from, from + 4), 4 * (column * height + (height - 1 - row)));
    }
  return { width: height, height: width, rgba: turned };
}

/** Draws the texture of a leaf. `bleed`: texels that the blade goes on beyond an entire margin. */
export async function drawLeafTexture(leaf: LeafShape, bleed = BLEED_TEXELS): Promise<LeafPicture> {
  const texture = leaf.texture;
  if (!texture) throw new Error("the leaf has no texture");
  const { outline, x_min, x_max, half_width } = bladeOutline(leaf.blade, 240);
  const length = x_max - x_min;
  const scale = SIZE / Math.max(length, 2 * half_width);
  const width = Math.max(48, Math.round(2 * half_width * scale));
  const height = Math.round(length * scale);
  const rgba = new Uint8Array(4 * width * height);
  const distanceAt = outlineDistance(outline);
  const veinAt = veins(leaf, texture, half_width);
  const texel = Math.min(length / height, (2 * half_width) / width);
  const inside = texelsInside(await leafTriangles(leaf), width, height);
  let opaque = 0;
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const x = x_max - ((row + 0.5) / height) * length;
      const y = (((column + 0.5) / width) * 2 - 1) * half_width;
      const { distance, place } = distanceAt(x, y);
      const cut = texture.tooth_depth * toothCut(texture, place);
      const edge = cut > 0 ? distance - cut : distance + bleed * texel;
      const alpha = Math.round(255 * Math.min(1, Math.max(0, 0.5 + edge / texel)));
      if (inside[row * width + column] && alpha >= 128) opaque += 1;
      const color = colorAt(leaf, texture, x, distance > -BLEED_TEXELS * texel ? veinAt(x, y) : 0, distance);
      rgba.set([...color, alpha], 4 * (row * width + column));
    }
  const covered = opaque / inside.reduce((sum, value) => sum + value, 0);
  return { width, height, rgba, coverage: Math.round(covered * 1e4) / 1e4 };
}
