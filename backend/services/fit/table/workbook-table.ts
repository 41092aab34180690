import { zipSync } from "fflate";
import { readSheet } from "read-excel-file/universal";
import { AppError } from "../../../../shared/errors.ts";
import { MAX_FIT_WORKBOOK_BYTES } from "../../../../shared/limits.ts";
import { archiveEntries } from "./archive-entries.ts";
import type { Table } from "./text-table.ts";

const MOST_ROWS = 100_000;
const MOST_COLUMNS = 256;
const IS_XML = /^(?:\[Content_Types\]\.xml|_rels\/|xl\/(?:_rels\/|workbook|sharedStrings|styles|worksheets\/)).*/;

/** Column number of "A", "B", ..., "AA". */
const columnNumber = (letters: string) => [...letters].reduce((at, letter) => 26 * at + letter.charCodeAt(0) - 64, 0);

/** `r` of a cell, "B12", or of a row, "12". */
const ADDRESS = /^([A-Z]{0,3})(\d{1,7})$/i;

/** Errors: invalid_file for an address that is none, and for one so far away that the rows up to it fill the memory. */
function checkAddresses(entries: Record<string, Uint8Array>, name: string): void {
  for (const [entry, bytes] of Object.entries(entries)) {
    if (!entry.startsWith("xl/worksheets/")) continue;
    for (const [, , address = ""] of new TextDecoder().decode(bytes).matchAll(/\sr=(["'])(.*?)\1/gs)) {
      const [, letters = "", row = ""] = ADDRESS.exec(address) ?? [];
      if (row === "") throw new AppError("invalid_file", `"${name}" is damaged: "${address.slice(0, 20)}" is no cell`);
      if (Number(row) > MOST_ROWS || columnNumber(letters.toUpperCase()) > MOST_COLUMNS) {
        throw new AppError(
          "invalid_file",
          `"${name}" has a cell ${letters}${row}; a table has at most ${MOST_ROWS} rows and ${MOST_COLUMNS} columns`,
        );
      }
    }
  }
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  return String(value).trim();
}

/** The first sheet of an Excel workbook (.xlsx). Errors: invalid_file. */
export async function workbookTable(bytes: Buffer, name: string): Promise<Table> {
  const limits = { wanted: (entry: string) => IS_XML.test(entry), most_bytes: MAX_FIT_WORKBOOK_BYTES };
  const entries = archiveEntries(bytes, name, limits);
  checkAddresses(entries, name);
  // The library unpacks without a limit, so it gets what was unpacked within one.
  const { buffer, byteOffset, byteLength } = zipSync(entries, { level: 0 });
  const archive = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
  const rows = await readSheet(archive).catch((raw: unknown) => {
    const why = raw instanceof Error ? raw.message : String(raw);
    throw new AppError("invalid_file", `"${name}" is no workbook that can be read: ${why}`);
  });
  return { rows: rows.map((row) => row.map(cellText)) };
}
