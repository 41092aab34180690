import { type Table, textTable } from "./text-table.ts";
import { workbookTable } from "./workbook-table.ts";

export const TABLE_EXTENSIONS = [".csv", ".txt", ".xlsx"] as const;

export interface TableFile {
  readonly name: string;
  /** One of TABLE_EXTENSIONS. */
  readonly extension: string;
  readonly bytes: Buffer;
}

/** The table in a file; `isHeader`: whether cells name the wanted columns. Errors: invalid_file. */
export const tableOf = async (
  { name, extension, bytes }: TableFile,
  isHeader: (cells: readonly string[]) => boolean,
): Promise<Table> => (extension === ".xlsx" ? workbookTable(bytes, name) : textTable(bytes, name, isHeader));
