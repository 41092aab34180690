import type { Picture } from "../drawing/render.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { figureSvg, figureWidth, MODE_TITLES } from "./figure.ts";
import { isLand, type TerrainSummary } from "./findings.ts";
import { Html, html } from "./html.ts";
import { scanSection } from "./scan-table.ts";
import { REPORT_STYLE } from "./style.ts";
import { type AnalysisSummary, type Density, type Fact, keyFacts, rangeText } from "./summary.ts";
import { type TerrainPictures, terrainSection } from "./terrain-report.ts";

export interface ReportInput {
  readonly summary: AnalysisSummary;
  readonly pictures: readonly Picture[];
  readonly terrain: TerrainSummary;
  readonly terrainPictures: TerrainPictures;
  /** The facts that are needed to reproduce the result. */
  readonly reproduce: readonly Fact[];
  /** Name, format and rows of the exported copy; null for a cloud without points. */
  readonly copy: { readonly name: string; readonly format: string; readonly point_count: number } | null;
  readonly created: Date;
}

/** Padding to the left and right of a drawing in total, pixels; see style.ts. */
const FIGURE_PADDING = 22;

/** The report as one self-contained HTML document: pictures and style are embedded. */
export function reportHtml(input: ReportInput): string {
  const { summary, created } = input;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${summary.file.name} – point cloud report</title>
<style>${new Html(REPORT_STYLE)}</style>
</head>
<body>
<main>
<header>
<p class="kicker">Point cloud report</p>
<h1>${summary.file.name}</h1>
<p>${created.toISOString().slice(0, 16).replace("T", " ")} UTC</p>
</header>
${tiles(summary)}
${warnings(summary)}
${pictureSection(input)}
${terrainSection(input.terrain, input.terrainPictures, summary)}
<h2>Cloud</h2>
${factTable(keyFacts(summary))}
<p class="note">Coordinates are true world coordinates${
    summary.world_shift.some((metres) => metres !== 0) ? " (stored coordinates plus the world shift)" : ""
  }.${summary.density ? densityNote(summary.density) : ""}</p>
${scanSection(summary.scans)}
${attributeSection(summary)}
<h2>Reproduce</h2>
${factTable(input.reproduce)}
<footer>${copyLine(input)}</footer>
</main>
</body>
</html>
`;
  return page.text;
}

const densityNote = ({ is_estimate }: Density) =>
  ` The density is the number of points over the number of 1 m cells with points${
    is_estimate ? "; cells are counted in the drawn sample, so the density is an upper estimate" : ""
  }.`;

function tiles({ counts, extent_m, point_spacing_m, density, scene }: AnalysisSummary): Html {
  const tile = (value: string, label: string) => html`<div class="tile"><b>${value}</b><span>${label}</span></div>`;
  const out = [tile(plainNumber(counts.points, 0), "points")];
  if (extent_m) {
    out.push(
      tile(
        `${shortLength(extent_m[0])} × ${shortLength(extent_m[1])} m`,
        isLand(scene) ? "ground extent, x × y" : "extent, x × y",
      ),
    );
    out.push(tile(`${shortLength(extent_m[2])} m`, "height range"));
  }
  if (point_spacing_m !== null)
    out.push(tile(`${shortNumber(Number(point_spacing_m.toPrecision(3)))} m`, "median point spacing"));
  if (density) {
    const value = plainNumber(density.points_per_m2, density.points_per_m2 < 100 ? 1 : 0);
    out.push(tile(`${value} /m²`, density.is_estimate ? "density, estimate" : "density on occupied ground"));
  }
  return html`<div class="tiles">${out}</div>`;
}

const counted = (n: number, noun: string) => `${plainNumber(n, 0)} ${noun}${n === 1 ? "" : "s"}`;

const shortLength = (metres: number) => plainNumber(metres, metres < 10 ? 2 : metres < 100 ? 1 : 0);

function warnings({ warnings }: AnalysisSummary): Html {
  if (warnings.length === 0) return html``;
  const items = warnings.map((text) => html`<li>${text}</li>`);
  return html`<h2>Warnings</h2>
<ul class="warnings">${items}</ul>`;
}

function pictureSection({ summary, pictures }: ReportInput): Html {
  if (pictures.length === 0) return html`<h2>Pictures</h2><p>The cloud has no points to draw.</p>`;
  const figures = pictures.map((picture) => {
    const left = picture.shown_count - picture.drawn_count;
    const outside = left > 0 ? `; ${counted(left, "stray point")} outside the picture` : "";
    const { frame, scale } = picture;
    return html`<figure style="width:${Math.ceil(figureWidth(frame)) + FIGURE_PADDING}px">${figureSvg(picture, summary)}
<figcaption><b>${frame.view.title}</b>, ${MODE_TITLES[scale.mode]}${outside}</figcaption></figure>`;
  });
  const { points, of } = summary.sample;
  const share =
    points === of
      ? `All of ${counted(of, "point")} drawn`
      : `${plainNumber(points, 0)} of ${counted(of, "point")} drawn, evenly spread`;
  return html`<h2>Pictures</h2>
<p class="note">${share}: parallel projections, nearest point in front, edges shaded by depth. Heights and intensities
outside the colour bar take its end colours.</p>
<div class="figures">${figures}</div>`;
}

function attributeSection({ attributes }: AnalysisSummary): Html {
  const rows = attributes.map(
    ({ name, label, type, num_elements, min, max, robust_range }) => html`<tr><th scope="row"><code>${name}</code></th>
<td>${label ?? ""}</td><td>${type}${num_elements > 1 ? ` × ${num_elements}` : ""}</td>
<td class="number">${rangeText(min, max)}</td>
<td class="number">${robust_range ? rangeText([robust_range[0]], [robust_range[1]]) : "–"}</td></tr>`,
  );
  return html`<h2>Attributes</h2>
<table><thead><tr><th>Name</th><th>Label</th><th>Type</th><th class="number">Minimum … maximum</th>
<th class="number">1 % … 99 %</th></tr></thead>
<tbody class="plain">${rows}</tbody></table>`;
}

function factTable(facts: readonly Fact[]): Html {
  const rows = facts.map(([label, value]) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`);
  return html`<table><tbody>${rows}</tbody></table>`;
}

function copyLine({ copy }: ReportInput): Html {
  if (!copy) return html`No copy was written: the cloud has no points.`;
  return html`A copy of the cloud is in the folder of this report: ${copy.name} (${copy.format.toUpperCase()},
${counted(copy.point_count, "row")}).`;
}
