import { createHash } from "node:crypto";
import { columnChecksum } from "../native/core/column-files.ts";
import type { CloudState } from "./cloud-session.ts";
import { extraKey } from "./column-names.ts";
import type { ColumnRef } from "./column-ref.ts";
import { deletedCount } from "./edits.ts";

export const TREE_SLUG = "tree_instance";

/** By the identity of the values, so that each column is read once; those in files never are, their headers tell it. */
const checksums = new WeakMap<object, Promise<string>>();

/**
 * Key of what a list of trees is made from: the positions, the deleted rows and the tree numbers. It depends on their
 * values only: an undo, a restart and a project bring it back. Undefined without tree numbers. Errors: io.
 */
export async function treeVersion({
  columns,
  undo,
}: Pick<CloudState, "columns" | "undo">): Promise<string | undefined> {
  const trees = columns.get(extraKey(TREE_SLUG));
  if (!trees) return undefined;
  const deleted = deletedCount(undo) > 0 ? columns.get("deleted") : undefined;
  const parts = [columns.get("positions"), deleted, trees].map((column) => column && checksumOf(column));
  const sums = (await Promise.all(parts)).map((sum) => sum ?? "none");
  return createHash("sha256").update(sums.join(" ")).digest("hex").slice(0, 16);
}

function checksumOf(column: ColumnRef): Promise<string> {
  const known = checksums.get(column.content);
  if (known) return known;
  column.retain();
  const sum = columnChecksum(column.native, column.file).promise.finally(() => column.release());
  checksums.set(column.content, sum);
  sum.catch(() => checksums.delete(column.content)); // the next request tries again
  return sum;
}
