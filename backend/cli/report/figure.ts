import { axisTitle, barTicks, fittingTicks, lengthLabel, scaleBarLength } from "../drawing/axes.ts";
import { type RampName, rampColor } from "../drawing/color-ramp.ts";
import type { ColorMode, Picture } from "../drawing/render.ts";
import { isFromAbove, type ViewFrame } from "../drawing/view-frame.ts";
import { Html, html } from "./html.ts";

/** Largest picture in drawing units, which are CSS pixels. */
const MAX_WIDTH = 910;
const MAX_HEIGHT = 760;
const MARGIN = { left: 112, right: 100, top: 14, bottom: 62 } as const;
/** Width of a digit in labels. */
const DIGIT = 7.4;
/** Height of a label. */
const LINE = 16;
/** Minimum width, for the labels of a narrow picture. */
const MIN_WIDTH = 250;
const BAR_STEPS = 32;

export interface FigureLabels {
  /** Added to stored coordinates to get true world coordinates, metres. */
  readonly world_shift: readonly [number, number, number];
}

export const MODE_TITLES: Readonly<Record<ColorMode, string>> = {
  height: "coloured by height",
  rgb: "true colours",
  intensity: "coloured by intensity",
  value: "coloured by value",
};

interface Layout {
  readonly frame: ViewFrame;
  /** Drawing units per picture pixel. */
  readonly unit: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Drawing units per picture pixel. */
const pixelUnit = ({ width_px, height_px }: ViewFrame) => Math.min(MAX_WIDTH / width_px, MAX_HEIGHT / height_px);

/** Width of the whole figure, CSS pixels. */
export function figureWidth(frame: ViewFrame): number {
  return MARGIN.left + Math.max(MIN_WIDTH, frame.width_px * pixelUnit(frame)) + MARGIN.right;
}

/** Colour bar beside a picture, with the displayed values at its ends. */
export interface FigureBar {
  readonly ramp: RampName;
  readonly range: readonly [number, number];
  readonly unit: string;
}

export interface FigureParts {
  readonly frame: ViewFrame;
  readonly png: Uint8Array;
  readonly title: string;
  readonly bar: FigureBar | null;
}

/** The colour bar of a picture of points; null for true colours. */
export function pointBar(
  { ramp, mode, range }: Picture["scale"],
  world_shift: FigureLabels["world_shift"],
): FigureBar | null {
  if (!ramp) return null;
  const shift = mode === "height" ? world_shift[2] : 0;
  return { ramp, range: [range[0] + shift, range[1] + shift], unit: mode === "height" ? "z, m" : "intensity" };
}

/** A picture of the cloud with axes, scale bar and colour bar. */
export function figureSvg({ frame, scale, png }: Picture, labels: FigureLabels): Html {
  const bar = pointBar(scale, labels.world_shift);
  return framedFigure({ frame, png, title: `${frame.view.title}, ${MODE_TITLES[scale.mode]}`, bar }, labels);
}

/** One picture with axes, scale bar, colour bar and, in the top view, a north arrow: inline SVG around the PNG. */
export function framedFigure({ frame, png, title, bar }: FigureParts, labels: FigureLabels): Html {
  const unit = pixelUnit(frame);
  const width = frame.width_px * unit;
  const layout: Layout = {
    frame,
    unit,
    x: MARGIN.left + Math.max(0, (MIN_WIDTH - width) / 2),
    y: MARGIN.top,
    width,
    height: frame.height_px * unit,
  };
  const total = {
    width: figureWidth(frame),
    height: MARGIN.top + layout.height + MARGIN.bottom,
  };
  const image = Buffer.from(png.buffer, png.byteOffset, png.byteLength).toString("base64");
  return html`<svg viewBox="0 0 ${round(total.width)} ${round(total.height)}" role="img" aria-label="${title}">
<image x="${round(layout.x)}" y="${layout.y}" width="${round(layout.width)}" height="${round(layout.height)}"
 href="data:image/png;base64,${new Html(image)}"/>
<rect class="frame" x="${round(layout.x)}" y="${layout.y}" width="${round(layout.width)}" height="${round(layout.height)}"/>
${horizontalAxis(layout, labels)}${verticalAxis(layout, labels)}${scaleBar(layout)}${bar ? colorBar(layout, bar) : html``}
${isFromAbove(frame.view) ? northArrow(layout) : html``}
</svg>`;
}

function horizontalAxis({ frame, unit, x, y, width, height }: Layout, { world_shift }: FigureLabels): Html {
  const axis = frame.view.right;
  const low = frame.left_stored + world_shift[axis];
  const metres = frame.width_px * frame.metres_per_px;
  const fitted = fittingTicks(low, low + metres, width, (text) => DIGIT * text.length, 8);
  const base = y + height;
  const ticks = fitted.map(({ value, text }) => {
    const at = round(x + ((value - low) / frame.metres_per_px) * unit);
    return html`<path class="tick" d="M${at} ${round(base)}v5"/><text x="${at}" y="${round(base + 18)}"
 text-anchor="middle">${text}</text>`;
  });
  return html`<g>${ticks}<text class="axis" x="${round(x + width / 2)}" y="${round(base + 38)}"
 text-anchor="middle">${axisTitle(axis)}</text></g>`;
}

function verticalAxis({ frame, unit, x, y, height }: Layout, { world_shift }: FigureLabels): Html {
  const axis = frame.view.up;
  const high = frame.top_stored + world_shift[axis];
  const low = high - frame.height_px * frame.metres_per_px;
  const fitting = fittingTicks(low, high, height, () => LINE, 12);
  const texts = fitting.map(({ text }) => text);
  const ticks = fitting.map(({ value, text }) => {
    const at = round(y + ((high - value) / frame.metres_per_px) * unit);
    return html`<path class="tick" d="M${round(x)} ${at}h-5"/><text x="${round(x - 9)}" y="${round(at + 4)}"
 text-anchor="end">${text}</text>`;
  });
  const middle = round(y + height / 2);
  const left = round(Math.max(12, x - 22 - DIGIT * Math.max(...texts.map(({ length }) => length), 0)));
  return html`<g>${ticks}<text class="axis" text-anchor="middle" x="${left}" y="${middle}"
 transform="rotate(-90 ${left} ${middle})">${axisTitle(axis)}</text></g>`;
}

/** Scale bar below the right end of the picture, where it hides no points. */
function scaleBar({ frame, unit, x, y, width, height }: Layout): Html {
  const metres = scaleBarLength(frame);
  const length = (metres / frame.metres_per_px) * unit;
  const right = x + width;
  const base = y + height + 44;
  return html`<g class="scale"><path d="M${round(right - length)} ${round(base - 5)}v5h${round(length)}v-5"/>
<text x="${round(right - length / 2)}" y="${round(base + 14)}" text-anchor="middle">${lengthLabel(metres)}</text></g>`;
}

function northArrow({ x, y, width }: Layout): Html {
  const at = round(x + width + 22);
  return html`<g class="north"><path d="M${at} ${y + 18}l9 28l-9 -7l-9 7z"/><text x="${at}" y="${y + 12}"
 text-anchor="middle">N</text></g>`;
}

/** Colour bar to the right of the picture, with round labels. */
function colorBar({ frame, x, y, width, height }: Layout, { ramp, range: [low, high], unit }: FigureBar): Html {
  const length = Math.min(260, height - 100);
  const top = y + (isFromAbove(frame.view) ? 78 : 26);
  const left = round(x + width + 18);
  const steps = Array.from({ length: BAR_STEPS }, (_, k) => {
    const [r, g, b] = rampColor(ramp, 1 - (k + 0.5) / BAR_STEPS);
    return html`<rect x="${left}" y="${round(top + (k * length) / BAR_STEPS)}" width="14"
 height="${round(length / BAR_STEPS + 0.6)}" fill="rgb(${r},${g},${b})"/>`;
  });
  const marks = barTicks(low, high, length, LINE).map(({ value, text }) => {
    const share = high > low ? (high - value) / (high - low) : 0.5;
    const at = round(top + share * length);
    return html`<path class="tick" d="M${left + 14} ${at}h4"/><text x="${left + 22}" y="${round(at + 4)}">${text}</text>`;
  });
  return html`<g>${steps}${marks}<text class="axis" x="${left}" y="${round(top - 10)}">${unit}</text></g>`;
}

const round = (value: number) => Math.round(value * 10) / 10;
