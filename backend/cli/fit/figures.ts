import type { z } from "zod";
import type { FitResponse } from "../../../shared/contract/fit.ts";
import type { CurveModelRecord } from "../../../shared/contract/models.ts";
import { type Chart, chartPicture } from "../drawing/chart.ts";
import type { Rgb } from "../drawing/color-ramp.ts";
import type { PageFigure } from "../report/page.ts";

export type Model = z.infer<typeof CurveModelRecord>;
export type Curve = FitResponse["curves"][number];

export interface NamedFigure extends PageFigure {
  /** Name of the file without extension. */
  readonly name: string;
}

/** Curves beyond these are in the tables only. */
export const MOST_DRAWN = 20;

const DOTS: Rgb = [0x1d, 0x4f, 0x91];
const LINE: Rgb = [0xc2, 0x41, 0x0c];
const BAND: Rgb = [0xf2, 0xb8, 0x8f];
const ZERO: Rgb = [0x8a, 0x94, 0x8e];
const NORMAL_95 = 1.96;

/** The column along which a model is drawn: the one that varies, for models of one independent variable. */
const ALONG: Readonly<Record<string, string>> = { A: "Ci", K: "psi", psi: "w", y: "x" };

/** A column with its unit. */
function titleOf({ columns }: Model, column: string): string {
  const unit = columns.find(({ name }) => name === column)?.unit ?? null;
  return unit === null ? column : `${column} (${unit})`;
}

type Point = readonly [number, number];

/** A range with room around the values. */
function padded(values: readonly number[]): readonly [number, number] {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const room = 0.06 * (high - low) || Math.abs(high) || 1;
  return [low - room, high + room];
}

/** Two pictures of each curve: the fit and its residuals. */
export async function curveFigures(model: Model, curves: readonly Curve[]): Promise<NamedFigure[]> {
  const figures: NamedFigure[] = [];
  for (const [k, curve] of curves.slice(0, MOST_DRAWN).entries()) {
    const name = curve.curve_id === null ? "" : `_${k + 1}`;
    const title = curve.curve_id === null ? model.name : `${model.name}, curve ${curve.curve_id}`;
    const along = ALONG[model.output];
    const chart = along && curve.columns[along] ? alongChart(model, curve, along) : agreementChart(model, curve);
    figures.push(
      { name: `fit${name}`, title, text: chart.title, png: await chartPicture({ ...chart, title }) },
      await residualFigure(model, curve, `residuals${name}`, title),
    );
  }
  return figures;
}

/** Measured values, the curve and its band against one column. */
function alongChart(model: Model, curve: Curve, along: string): Chart {
  const x = curve.columns[along] ?? [];
  const y = curve.columns[model.output] ?? [];
  const order = x.map((_, row) => row).sort((a, b) => (x[a] ?? 0) - (x[b] ?? 0));
  const { fitted_values, fitted_std_errors } = curve;
  const offset = (side: number): Point[] =>
    order.map((row) => [x[row] ?? 0, (fitted_values[row] ?? 0) + side * NORMAL_95 * (fitted_std_errors?.[row] ?? 0)]);
  const dots = x.map((value, row): Point => [value, y[row] ?? 0]);
  const bands = fitted_std_errors ? [offset(-1), offset(1)] : [];
  const all = [...dots, ...offset(0), ...bands.flat()];
  return {
    title: "points: measured; line: fitted, with 1.96 standard errors to both sides",
    x: { title: titleOf(model, along), range: padded(x) },
    y: { title: titleOf(model, model.output), range: padded(all.map(([, value]) => value)) },
    series: [
      ...bands.map((points) => ({ color: BAND, points, is_line: true })),
      { color: LINE, points: offset(0), is_line: true },
      { color: DOTS, points: dots, is_dots: true },
    ],
  };
}

/** Measured against fitted, for models of several independent variables. */
function agreementChart(model: Model, curve: Curve): Chart {
  const y = curve.columns[model.output] ?? [];
  const range = padded([...y, ...curve.fitted_values]);
  return {
    title: "measured against fitted; on the line, both agree",
    x: { title: `${model.output}, fitted`, range },
    y: { title: `${model.output}, measured`, range },
    series: [
      { color: LINE, points: range.map((end): Point => [end, end]), is_line: true },
      { color: DOTS, points: y.map((value, row): Point => [curve.fitted_values[row] ?? 0, value]), is_dots: true },
    ],
  };
}

async function residualFigure(model: Model, curve: Curve, name: string, of: string): Promise<NamedFigure> {
  const { fitted_values, residuals } = curve;
  const title = `Residuals: ${of}`;
  const x = padded(fitted_values);
  const png = await chartPicture({
    title,
    x: { title: `${model.output}, fitted`, range: x },
    y: { title: "measured - fitted", range: padded([...residuals, 0]) },
    series: [
      { color: ZERO, points: x.map((end): Point => [end, 0]), is_line: true },
      { color: DOTS, points: residuals.map((value, row): Point => [fitted_values[row] ?? 0, value]), is_dots: true },
    ],
  });
  return { name, title, text: "measured minus fitted against fitted", png };
}
