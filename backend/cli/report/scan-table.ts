import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { csvCell } from "../../../shared/wire/csv-cell.ts";
import { plainNumber } from "../drawing/round-steps.ts";
import { type Html, html } from "./html.ts";

export type ScanSummary = NonNullable<CreateSessionTail["scans"]>[number];

const COLUMNS = [
  "scan_index",
  "name",
  "rows",
  "misses",
  "unplaceable_misses",
  "origin_x",
  "origin_y",
  "origin_z",
  "n_theta",
  "n_phi",
  "theta_min",
  "theta_max",
  "phi_min",
  "phi_max",
] as const;

/** The scans as comma-separated values: metres in the true world, degrees; empty = not declared. */
export function scansCsv(scans: readonly ScanSummary[]): string {
  const rows = scans.map((scan) => [
    scan.scan_index,
    csvText(scan.name ?? ""),
    scan.row_count,
    scan.miss_count,
    scan.unplaceable_miss_count,
    ...(scan.origin ?? ["", "", ""]),
    scan.n_theta || "",
    scan.n_phi || "",
    scan.theta_min ?? "",
    scan.theta_max ?? "",
    scan.phi_min ?? "",
    scan.phi_max ?? "",
  ]);
  return `${[COLUMNS, ...rows].map((row) => row.join(",")).join("\n")}\n`;
}

/** Text from a file as a CSV field: on one line, quoted if necessary, and never a spreadsheet formula. */
function csvText(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Bidi_Control}]+/gu, " ");
  const cell = csvCell(plain);
  return cell.startsWith('"') || !/'|^\s|\s$/.test(cell) ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** The report's section on scans; empty for a file without scans. */
export function scanSection(scans: readonly ScanSummary[]): Html {
  if (scans.length === 0) return html``;
  const number = (text: string) => html`<td class="number">${text}</td>`;
  const rows = scans.map(
    (scan) => html`<tr><th scope="row">${scan.scan_index}</th><td>${scan.name ?? "–"}</td>
${number(plainNumber(scan.row_count, 0))}${number(missText(scan))}
${number(scan.origin ? scan.origin.map((metres) => plainNumber(metres, 3)).join(", ") : "–")}
${number(scan.n_theta > 0 && scan.n_phi > 0 ? `${plainNumber(scan.n_theta, 0)} × ${plainNumber(scan.n_phi, 0)}` : "–")}
${number(rangeText(scan.theta_min, scan.theta_max))}${number(rangeText(scan.phi_min, scan.phi_max))}</tr>`,
  );
  const head = ["Rows", "Sky/miss", "Scanner x, y, z (m)", "Raster", "Zenith angle", "Bearing"].map(
    (title) => html`<th class="number">${title}</th>`,
  );
  return html`<h2>Scans</h2>
<table><thead><tr><th>Scan</th><th>Name</th>${head}</tr></thead>
<tbody class="plain">${rows}</tbody></table>
<p class="note">Raster: rows × columns. Angles are degrees as the file declares them: from straight up, and clockwise from
+y. Sky points in brackets have no direction in the file. The same table is in the folder of this report: scans.csv.</p>`;
}

const missText = ({ miss_count, unplaceable_miss_count }: ScanSummary) =>
  plainNumber(miss_count, 0) + (unplaceable_miss_count > 0 ? ` (${plainNumber(unplaceable_miss_count, 0)})` : "");

const rangeText = (low: number | null, high: number | null) =>
  low === null || high === null ? "–" : `${plainNumber(low, 2)} … ${plainNumber(high, 2)}°`;
