import { expect } from "vitest";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { TestApp } from "../app/app.ts";
import { type ForestTree, forestRows } from "../scans/forest.ts";
import { cloud, failed, tail } from "./session-edits.ts";

export const inventoryUrl = (id: string) => `/api/cloud/session/${id}/tree_inventory`;

/** The two trees of a forest for inventories. */
export const TWO_TREES: readonly ForestTree[] = [
  { id: 3, x: 6, y: 6, dbh_m: 0.3 },
  { id: 8, x: 11, y: 6, dbh_m: 0.2 },
];

/** What tests of inventories do in an app. */
export const inventories = (made: TestApp) => ({
  forest: (wishes: object = {}, rows = forestRows(TWO_TREES)) => cloud(made, rows, wishes),
  measure: (id: string, body: object = {}) => tail(made, TreeInventoryTail, inventoryUrl(id), body),
  /** The tail of a run without a measured tree. */
  refusedTail: async (id: string, body: object = {}): Promise<TreeInventoryTail> => {
    const { error, tail: said } = await failed(made, inventoryUrl(id), body);
    const parsed = TreeInventoryTail.parse(said);
    expect([parsed.success, parsed.error]).toEqual([false, error]);
    return parsed;
  },
});
