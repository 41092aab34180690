import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../../../../shared/errors.ts";
import type { Job } from "../../../jobs/job.ts";
import type { Cell, Sheet } from "./result-sheets.ts";
import { type ZipPart, zipParts } from "./zip-parts.ts";

/** Limits of the spreadsheet programs. */
const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
/** Cells per turn of the event loop. */
const TURN_CELLS = 5_000;

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml";

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const codeUnit = (sign: string) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`;

/**
 * Text of a cell. Signs that XML cannot hold become _xHHHH_, and so does what looks like that (ECMA-376 part 1, 22.9.2.19);
 * half a surrogate pair becomes U+FFFD.
 */
export function xmlText(text: string): string {
  return (
    text
      .replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD")
      .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be found
      .replace(/[\x00-\x08\x0B-\x1F\uFFFE\uFFFF]/g, codeUnit)
      .replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign)
  );
}

/** A, B, .. Z, AA, .. of a column from 0. */
export function columnName(index: number): string {
  let name = "";
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}

function cellXml(cell: Cell, reference: string, bold: boolean): string {
  if (cell === null || cell === "") return "";
  const style = bold ? ' s="1"' : "";
  if (typeof cell === "number") return `<c r="${reference}"${style}><v>${cell}</v></c>`;
  return `<c r="${reference}"${style} t="inlineStr"><is><t xml:space="preserve">${xmlText(cell)}</t></is></c>`;
}

function checkSize({ name, row_count, row }: Sheet): void {
  const columns = row_count > 0 ? row(0).length : 0;
  if (row_count > MAX_ROWS || columns > MAX_COLUMNS) {
    throw new AppError(
      "invalid_argument",
      `the sheet ${name} would have ${row_count} rows and ${columns} columns; a workbook holds ${MAX_ROWS} and ${MAX_COLUMNS}: export format csv or json`,
    );
  }
}

async function sheetXml(sheet: Sheet, job: Job): Promise<Buffer> {
  checkSize(sheet);
  const blocks: Buffer[] = [];
  let lines = `${XML}<worksheet xmlns="${MAIN}"><sheetFormatPr defaultRowHeight="15"/><cols><col min="1" max="1" width="20" customWidth="1"/><col min="2" max="16" width="14" customWidth="1"/></cols><sheetData>`;
  let cells = 0;
  for (let row = 0; row < sheet.row_count; row++) {
    const bold = sheet.headings.has(row);
    const content = sheet.row(row).map((cell, i) => cellXml(cell, `${columnName(i)}${row + 1}`, bold));
    lines += `<row r="${row + 1}">${content.join("")}</row>`;
    cells += content.length;
    if (cells < TURN_CELLS) continue;
    blocks.push(Buffer.from(lines));
    [lines, cells] = ["", 0];
    await nextTurn();
    job.checkpoint();
  }
  return Buffer.concat([...blocks, Buffer.from(`${lines}</sheetData></worksheet>`)]);
}

/** Styles: 0 plain, 1 bold. */
const STYLES = `${XML}<styleSheet xmlns="${MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

function frameParts(names: readonly string[]): ZipPart[] {
  const part = (name: string, xml: string): ZipPart => ({ name, content: Buffer.from(XML + xml) });
  const override = (path: string, kind: string) => `<Override PartName="/${path}" ContentType="${TYPE}.${kind}+xml"/>`;
  const related = (id: number, kind: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${OFFICE}/${kind}" Target="${target}"/>`;
  const all = <T>(make: (name: string, number: number) => T) => names.map((name, i) => make(name, i + 1));
  return [
    part(
      "[Content_Types].xml",
      `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${override("xl/workbook.xml", "sheet.main")}${override("xl/styles.xml", "styles")}${all((_, i) => override(`xl/worksheets/sheet${i}.xml`, "worksheet")).join("")}</Types>`,
    ),
    part(
      "_rels/.rels",
      `<Relationships xmlns="${RELATIONS}">${related(1, "officeDocument", "xl/workbook.xml")}</Relationships>`,
    ),
    part(
      "xl/workbook.xml",
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${all((name, i) => `<sheet name="${name}" sheetId="${i}" r:id="rId${i}"/>`).join("")}</sheets></workbook>`,
    ),
    part(
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="${RELATIONS}">${all((_, i) => related(i, "worksheet", `worksheets/sheet${i}.xml`)).join("")}${related(names.length + 1, "styles", "styles.xml")}</Relationships>`,
    ),
    { name: "xl/styles.xml", content: Buffer.from(STYLES) },
  ];
}

/**
 * An .xlsx workbook (ECMA-376): numbers as they are, texts inline, so that no text becomes a formula. Errors:
 * invalid_argument for more rows or columns than a sheet holds.
 */
export async function workbook(sheets: readonly Sheet[], now: Date, job: Job): Promise<Buffer> {
  const parts = frameParts(sheets.map(({ name }) => name));
  for (const [i, sheet] of sheets.entries()) {
    parts.push({ name: `xl/worksheets/sheet${i + 1}.xml`, content: await sheetXml(sheet, job) });
  }
  return zipParts(parts, now);
}
