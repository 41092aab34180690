/** Style of report.html: light, dark and paper. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --page: #f6f7f5; --card: #fff; --ink: #1d2420; --soft: #5c6862; --line: #dde2de;
  --accent: #2c6e49; --warn: #8a5a00; --warn-page: #fff6e0; }
@media (prefers-color-scheme: dark) { :root { --page: #141816; --card: #1c2220; --ink: #e6ebe8; --soft: #9aa69f;
  --line: #323b36; --accent: #7cc49a; --warn: #f0c36a; --warn-page: #2c2617; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 40px 28px 64px; }
header p { color: var(--soft); margin: 4px 0 0; overflow-wrap: anywhere; }
h1 { font-size: 30px; line-height: 1.2; font-weight: 650; margin: 0; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 19px; font-weight: 650; margin: 44px 0 14px; padding-bottom: 6px; border-bottom: 2px solid var(--accent); }
h3 { font-size: 16px; font-weight: 600; margin: 28px 0 10px; }
.kicker { font-size: 12px; font-weight: 600; letter-spacing: 0.08em; text-transform: uppercase; color: var(--accent);
  margin: 0 0 6px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; margin: 28px 0 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
.tile b { display: block; font-size: 22px; font-weight: 620; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); font-size: 14px; }
th, td { text-align: left; padding: 6px 12px; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
thead th { font-size: 12.5px; color: var(--soft); font-weight: 600; }
tbody th { font-weight: 500; color: var(--soft); width: 32%; }
tbody.plain th { width: auto; color: var(--ink); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td { font-variant-numeric: tabular-nums; }
code { font: 13px/1.4 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: 13px; margin: 8px 0 0; max-width: 78ch; }
.warnings { list-style: none; margin: 0; padding: 0; }
.warnings li { background: var(--warn-page); border-left: 4px solid var(--warn); padding: 8px 14px; margin: 0 0 8px;
  overflow-wrap: anywhere; }
.figures { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; margin-top: 16px; }
figure { margin: 0; background: #fff; color: #1d2420; border: 1px solid var(--line); border-radius: 8px;
  padding: 14px 10px 10px; max-width: 100%; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { font-size: 13px; color: #5c6862; margin: 4px 6px 0; }
figcaption b { color: #1d2420; font-weight: 600; }
figure text { font: 13px system-ui, "Segoe UI", Roboto, Arial, sans-serif; fill: #3b4540;
  font-variant-numeric: tabular-nums; }
figure .axis { fill: #5c6862; font-size: 12.5px; }
figure .frame { fill: none; stroke: #c6cdc8; stroke-width: 1; }
figure .tick { fill: none; stroke: #7c8782; stroke-width: 1; }
figcaption .key { font-size: 15px; margin-left: 8px; }
figure .scale path { fill: none; stroke: #1d2420; stroke-width: 2; }
figure .scale text, figure .north text { fill: #1d2420; font-weight: 600; }
figure .north path { fill: #1d2420; }
footer { margin-top: 48px; color: var(--soft); font-size: 13px; }
@media print {
  :root { --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --accent: #2c6e49; --warn-page: #fff; }
  body { font-size: 11pt; }
  main { padding: 0; max-width: none; }
  figure svg { max-height: 210mm; }
  h2, h3 { break-after: avoid; }
  tr, .tile, .warnings li { break-inside: avoid; }
}
@page { margin: 16mm; }
`;
