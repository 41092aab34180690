import { type Table, textTable } from "./text-table.ts";

export const TABLE_EXTENSIONS = [".csv", ".txt"] as const;

/** The table in a file. Errors: invalid_file. */
export const tableOf = (file: { readonly name: string; readonly bytes: Buffer }): Table =>
  textTable(file.bytes, file.name);
