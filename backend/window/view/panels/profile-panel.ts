import type { ViewTexts } from "../../strings.ts";
import type { CloudView, Profile } from "../cloud-view.ts";
import { element, shownNumber } from "./elements.ts";

const MARGIN = { left: 52, right: 10, top: 8, bottom: 22 };

/** Shows the last profile as a chart of height over distance, until it is closed. */
export function profilePanel(holder: HTMLElement, view: CloudView, texts: ViewTexts): void {
  const page = holder.ownerDocument;
  const title = element(page, "h2");
  const close = element(page, "button", { type: "button" }, texts.close);
  close.addEventListener("click", () => {
    holder.hidden = true;
    view.clearMarks();
  });
  const canvas = element(page, "canvas", { role: "img" });
  holder.setAttribute("aria-label", texts.profile);
  holder.append(element(page, "div", { className: "panel-head" }, title, close), canvas);
  let last: Profile | null = null;
  const draw = () => {
    if (last && !holder.hidden) drawProfile(canvas, last);
  };
  view.onProfile((profile) => {
    last = profile;
    holder.hidden = false;
    const count = profile.points.length / 2;
    title.textContent = texts.profileTitle(profile.length_m, profile.width_m, count, profile.is_complete);
    canvas.setAttribute("aria-label", describe(profile, texts));
    draw();
  });
  new ResizeObserver(draw).observe(canvas);
}

function heightsOf({ points }: Profile): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 1; i < points.length; i += 2) {
    low = Math.min(low, points[i] ?? 0);
    high = Math.max(high, points[i] ?? 0);
  }
  return low <= high ? [low, high] : [0, 1];
}

const describe = (profile: Profile, texts: ViewTexts) => {
  const [low, high] = heightsOf(profile);
  return texts.profileDescription(profile.length_m, low, high);
};

/** Draws the points with one scale for both axes where that fits, so that slopes look as they are. */
function drawProfile(canvas: HTMLCanvasElement, profile: Profile): void {
  const ratio = Math.min(2, devicePixelRatio);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context || width === 0) return;
  context.scale(ratio, ratio);
  const [low, high] = heightsOf(profile);
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const perMetreX = inner.width / Math.max(profile.length_m, 1e-6);
  const perMetreY = inner.height / Math.max(high - low, 1e-6);
  const scale = Math.min(perMetreX, perMetreY);
  const [sx, sy] = perMetreY / perMetreX > 0.25 && perMetreY / perMetreX < 4 ? [scale, scale] : [perMetreX, perMetreY];
  const x = (along: number) => MARGIN.left + along * sx;
  const y = (z: number) => MARGIN.top + inner.height - (z - low) * sy;
  const style = getComputedStyle(canvas);
  context.font = `11px ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.strokeStyle = style.getPropertyValue("--line");
  axis(low, high, 4, (z, text) => {
    rule(context, [MARGIN.left, y(z)], [x(profile.length_m), y(z)]);
    context.textAlign = "right";
    context.fillText(text, MARGIN.left - 6, y(z) + 4);
  });
  axis(0, profile.length_m, 6, (along, text) => {
    rule(context, [x(along), MARGIN.top], [x(along), MARGIN.top + inner.height]);
    context.textAlign = "center";
    context.fillText(text, x(along), height - 6);
  });
  const { points, colours } = profile;
  for (let i = 0; i < points.length / 2; i += 1) {
    context.fillStyle = `rgb(${colours[3 * i]} ${colours[3 * i + 1]} ${colours[3 * i + 2]})`;
    context.fillRect(x(points[2 * i] ?? 0), y(points[2 * i + 1] ?? 0), 1.3, 1.3);
  }
}

function rule(context: CanvasRenderingContext2D, from: [number, number], to: [number, number]): void {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/** Calls `put` at round values: steps of 1, 2 or 5 times a power of ten, about `count` of them. */
function axis(low: number, high: number, count: number, put: (value: number, text: string) => void): void {
  const rough = Math.max(1e-6, (high - low) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9; i += 1) put(i * step, shownNumber(i * step));
}
