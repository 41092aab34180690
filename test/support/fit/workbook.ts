import { strToU8, zipSync } from "fflate";

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Files of a workbook with one sheet: strings are shared, others in their cells; null = no cell. */
export function workbookFiles(rows: readonly (readonly (string | number | null)[])[]): Record<string, string> {
  const shared: string[] = [];
  const cell = (value: string | number | null, at: string) => {
    if (value === null) return "";
    if (typeof value === "number") return `<c r="${at}"><v>${value}</v></c>`;
    return `<c r="${at}" t="s"><v>${shared.push(value) - 1}</v></c>`;
  };
  const lines = rows.map((row, i) => {
    const cells = row.map((value, j) => cell(value, `${String.fromCharCode(65 + j)}${i + 1}`));
    return `<row r="${i + 1}">${cells.join("")}</row>`;
  });
  const strings = () => shared.map((text) => `<si><t>${escaped(text)}</t></si>`).join("");
  return {
    "[Content_Types].xml": `<Types xmlns="${PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="Curves" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    "xl/worksheets/sheet1.xml": `<worksheet xmlns="${MAIN}"><sheetData>${lines.join("")}</sheetData></worksheet>`,
    "xl/sharedStrings.xml": `<sst xmlns="${MAIN}">${strings()}</sst>`,
  };
}

/** The workbook of such files. */
export const packedWorkbook = (files: Record<string, string>): Buffer =>
  Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));
