import { setImmediate as nextTurn } from "node:timers/promises";
import { PNG } from "pngjs";
import { type RampName, rampTable } from "./color-ramp.ts";
import { eyeDomeShade } from "./eye-dome.ts";
import { type PointSample, sampleBelow, samplePercentiles } from "./point-sample.ts";
import { SUPERSAMPLING, splat } from "./splat.ts";
import { PLAN_VIEW, sceneBox, VIEWS, type View, type ViewFrame, viewFrame } from "./view-frame.ts";
import { NO_POINT, type Visibility } from "./visibility.ts";

export type ColorMode = "height" | "rgb" | "intensity" | "value";

/** The meaning of the colours of a mode. */
export interface ColorScale {
  readonly mode: ColorMode;
  /** undefined for true colours. */
  readonly ramp: RampName | undefined;
  /** Values at the ends of the ramp; heights are stored-frame metres. */
  readonly range: readonly [number, number];
}

export interface Raster {
  readonly width: number;
  readonly height: number;
  /** r g b a, row by row from the upper left. */
  readonly data: Uint8Array;
}

export interface Picture {
  readonly frame: ViewFrame;
  readonly scale: ColorScale;
  readonly png: Uint8Array;
  /** Points of the sample that the view shows, and those of them inside the picture. */
  readonly shown_count: number;
  readonly drawn_count: number;
}

export interface RenderOptions {
  /** Longest side of a picture, pixels. */
  readonly longest_px?: number;
  /** Height of a room's ceiling, metres, stored frame: another picture shows what lies below it. */
  readonly ceiling_stored?: number | undefined;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

const BACKGROUND = 255;
/** A plan is cut so far below the ceiling, which is uneven and carries lamps. */
const BELOW_CEILING_M = 0.3;

/**
 * Draws the top, front and side view, and of a room the plan, in every colour mode of the cloud; no pictures for a cloud
 * without points. Yields to the event loop between steps, each well below a second. Errors: the reason of an aborted signal.
 */
export async function renderPictures(sample: PointSample, options: RenderOptions = {}): Promise<Picture[]> {
  const box = sceneBox(sample);
  if (!box) return [];
  const scales = colorScales(sample);
  const drawn = drawnViews(sample, options.ceiling_stored);
  const total = drawn.length * scales.length;
  const pictures: Picture[] = [];
  for (const { view, sample: shown } of drawn) {
    const frame = viewFrame(view, box, options.longest_px);
    await turn(options.signal);
    const seen = splat(shown, frame);
    await turn(options.signal);
    const shade = eyeDomeShade(seen, frame);
    for (const scale of scales) {
      await turn(options.signal);
      const raster = paint(shown, seen, shade, scale);
      const png = await encodePng(raster);
      pictures.push({ frame, scale, png, shown_count: shown.point_count, drawn_count: seen.drawn_count });
      options.onProgress?.(pictures.length, total);
    }
  }
  return pictures;
}

/** The views of a cloud, each with the points that it shows. */
function drawnViews(
  sample: PointSample,
  ceiling_stored: number | undefined,
): { readonly view: View; readonly sample: PointSample }[] {
  const whole = VIEWS.map((view) => ({ view, sample }));
  if (ceiling_stored === undefined) return whole;
  return [{ view: PLAN_VIEW, sample: sampleBelow(sample, ceiling_stored - BELOW_CEILING_M) }, ...whole];
}

/** Draws one view of the points. Errors: the reason of an aborted signal. */
export async function renderView(
  sample: PointSample,
  frame: ViewFrame,
  scale: ColorScale,
  signal?: AbortSignal,
): Promise<Raster> {
  await turn(signal);
  const seen = splat(sample, frame);
  await turn(signal);
  return paint(sample, seen, eyeDomeShade(seen, frame), scale);
}

async function turn(signal: AbortSignal | undefined): Promise<void> {
  await nextTurn();
  signal?.throwIfAborted();
}

/** The colour modes of a cloud: always height; colours and intensity if they exist and vary. */
export function colorScales(sample: PointSample): ColorScale[] {
  const n = sample.point_count;
  const [low = 0, high = 0] = samplePercentiles(n, (i) => sample.position[3 * i + 2] ?? 0, [0.005, 0.995]) ?? [];
  const scales: ColorScale[] = [{ mode: "height", ramp: "viridis", range: [low, high] }];
  const { rgb, intensity } = sample;
  if (rgb?.some((value, i) => value !== rgb[i % 3])) scales.push({ mode: "rgb", ramp: undefined, range: [0, 255] });
  if (intensity) {
    const [dark = 0, bright = 0] = samplePercentiles(n, (i) => intensity[i] ?? 0, [0.02, 0.98]) ?? [];
    if (bright > dark) scales.push({ mode: "intensity", ramp: "greys", range: [dark, bright] });
  }
  return scales;
}

/** Colours and shades the visible points and averages the subpixels of each pixel on a white background. */
export function paint(sample: PointSample, seen: Visibility, shade: Uint8Array, scale: ColorScale): Raster {
  const colors = pointColors(sample, scale);
  const width = seen.width / SUPERSAMPLING;
  const height = seen.height / SUPERSAMPLING;
  const data = new Uint8Array(4 * width * height);
  const share = 1 / (SUPERSAMPLING * SUPERSAMPLING);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      let r = 0;
      let g = 0;
      let b = 0;
      for (let k = 0; k < SUPERSAMPLING * SUPERSAMPLING; k += 1) {
        const row = y * SUPERSAMPLING + Math.floor(k / SUPERSAMPLING);
        const at = row * seen.width + x * SUPERSAMPLING + (k % SUPERSAMPLING);
        const i = seen.point[at] ?? NO_POINT;
        const isEmpty = i === NO_POINT;
        const light = (shade[at] ?? 255) / 255;
        r += isEmpty ? BACKGROUND : (colors[3 * i] ?? 0) * light;
        g += isEmpty ? BACKGROUND : (colors[3 * i + 1] ?? 0) * light;
        b += isEmpty ? BACKGROUND : (colors[3 * i + 2] ?? 0) * light;
      }
      const to = 4 * (y * width + x);
      data[to] = Math.round(r * share);
      data[to + 1] = Math.round(g * share);
      data[to + 2] = Math.round(b * share);
      data[to + 3] = 255;
    }
  }
  return { width, height, data };
}

/** r g b per point. */
function pointColors(sample: PointSample, { mode, ramp, range }: ColorScale): Uint8Array {
  if (!ramp) return sample.rgb ?? new Uint8Array(3 * sample.point_count);
  const table = rampTable(ramp);
  const values = mode === "intensity" ? sample.intensity : mode === "value" ? sample.value : undefined;
  const [low, high] = range;
  // A cloud with a single value gets the middle of the ramp, as its colour bar shows.
  const perUnit = high > low ? 255 / (high - low) : 0;
  const first = high > low ? 0 : 128;
  const out = new Uint8Array(3 * sample.point_count);
  for (let i = 0; i < sample.point_count; i += 1) {
    const value = (values ? values[i] : sample.position[3 * i + 2]) ?? low;
    const step = Math.min(255, Math.max(0, first + (Math.round((value - low) * perUnit) || 0)));
    out[3 * i] = table[3 * step] ?? 0;
    out[3 * i + 1] = table[3 * step + 1] ?? 0;
    out[3 * i + 2] = table[3 * step + 2] ?? 0;
  }
  return out;
}

/** Encodes the raster as PNG, true colour without alpha. */
export async function encodePng({ width, height, data }: Raster): Promise<Uint8Array> {
  // Sub filter, medium effort: more effort makes noisy pictures 2 % smaller in four times the time.
  const png = new PNG({ width, height, colorType: 2, inputColorType: 6, filterType: 1, deflateLevel: 5 });
  png.data = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  // pngjs has the old stream interface without async iteration. Compression runs in libuv's pool.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    png.on("data", (chunk: Buffer) => chunks.push(chunk));
    png.on("end", () => resolve(Buffer.concat(chunks)));
    png.on("error", reject);
    png.pack();
  });
}
