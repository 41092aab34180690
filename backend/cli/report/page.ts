import { fitPictures } from "../drawing/embedded-size.ts";
import { decodePng } from "../drawing/framed-picture.ts";
import { Html, html } from "./html.ts";
import { REPORT_STYLE } from "./style.ts";
import type { Fact } from "./summary.ts";

/** A picture that has its title, axes and legend in it. */
export interface PageFigure {
  readonly title: string;
  /** What it shows, where the title does not say it. */
  readonly text?: string;
  readonly png: Uint8Array;
  /** CSS pixels; undefined = from the picture. */
  readonly width?: number;
}

export interface PageSection {
  readonly title: string;
  readonly facts?: readonly Fact[];
  readonly figures?: readonly PageFigure[];
  readonly note?: string;
}

/** A report of one run. */
export interface Page {
  readonly kicker: string;
  readonly title: string;
  readonly created: Date;
  readonly tiles: readonly (readonly [value: string, label: string])[];
  readonly warnings: readonly string[];
  readonly sections: readonly PageSection[];
  readonly footer: string;
}

/** Largest report, bytes, and room for what differs between two renderings. */
export const PAGE_BYTES = 5_000_000;
const SLACK_BYTES = 10_000;
/** Widest picture, CSS pixels. */
const MAX_WIDTH = 1060;
/** Padding to the left and right of a picture in total, pixels; see style.ts. */
const FIGURE_PADDING = 22;

/** The report as one self-contained HTML document: pictures and style are embedded. */
export function pageHtml({ kicker, title, created, tiles, warnings, sections, footer }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${title} – ${kicker.toLowerCase()}</title>
<style>${new Html(REPORT_STYLE)}figure img { display: block; width: 100%; height: auto; }</style>
</head>
<body>
<main>
<header>
<p class="kicker">${kicker}</p>
<h1>${title}</h1>
<p>${created.toISOString().slice(0, 16).replace("T", " ")} UTC</p>
</header>
<div class="tiles">${tiles.map(([value, label]) => html`<div class="tile"><b>${value}</b><span>${label}</span></div>`)}</div>
${warnings.length > 0 ? html`<h2>Warnings</h2>\n<ul class="warnings">${warnings.map((text) => html`<li>${text}</li>`)}</ul>` : html``}
${sections.map(sectionHtml)}
<footer>${footer}</footer>
</main>
</body>
</html>
`.text;
}

function sectionHtml({ title, facts = [], figures = [], note }: PageSection): Html {
  const rows = facts.map(([label, value]) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`);
  return html`<h2>${title}</h2>
${rows.length > 0 ? html`<table><tbody>${rows}</tbody></table>` : html``}
${note === undefined ? html`` : html`<p class="note">${note}</p>`}
${figures.length > 0 ? html`<div class="figures">${figures.map(figureHtml)}</div>` : html``}`;
}

/** Width of a picture on the page, CSS pixels; it stays when the picture is reduced, so that its labels stay readable. */
const shownWidth = (png: Uint8Array) => Math.min(MAX_WIDTH, Math.ceil(decodePng(png).width * 0.75));

function figureHtml({ title, text, png, width: given }: PageFigure): Html {
  const base64 = Buffer.from(png.buffer, png.byteOffset, png.byteLength).toString("base64");
  const width = given ?? shownWidth(png);
  return html`<figure style="width:${width + FIGURE_PADDING}px"><img alt="${title}" src="data:image/png;base64,${new Html(base64)}">
<figcaption><b>${title}</b>${text === undefined ? "" : `: ${text}`}</figcaption></figure>`;
}

/** The report with its pictures reduced, where needed, so that it stays below PAGE_BYTES. */
export async function smallPage(page: Page): Promise<string> {
  const all = page.sections.flatMap(({ figures = [] }) => figures);
  const widths = all.map(({ png }) => shownWidth(png));
  const withPngs = (png: (k: number) => Uint8Array): Page => {
    let k = 0;
    const sections = page.sections.map((section) => ({
      ...section,
      figures: (section.figures ?? []).map((figure) => ({ ...figure, width: widths[k] ?? MAX_WIDTH, png: png(k++) })),
    }));
    return { ...page, sections };
  };
  const empty = new Uint8Array(0);
  const text = Buffer.byteLength(pageHtml(withPngs(() => empty)));
  const pngs = await fitPictures(
    all.map(({ png }) => png),
    PAGE_BYTES - text - SLACK_BYTES,
  );
  return pageHtml(withPngs((k) => pngs[k] ?? empty));
}
