// Numbers of scans under the names that other programs give them, and those that a request names.
import { expect, test } from "vitest";
import { AlignScansTail } from "../../../shared/contract/cloud-session/align-scans.ts";
import { MergeResponse } from "../../../shared/contract/cloud-session/merge.ts";
import { SessionGroundResponse } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { create } from "../../support/app/app.ts";
import { FOUR_TREES, forestRows, forestTwice } from "../../support/scans/forest.ts";
import { twoFloors } from "../../support/scans/two-floors.ts";
import { answered, cloud, failed, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const url = (id: string, operation: string) => `/api/cloud/session/${id}/${operation}`;
const align = (id: string, body: object = {}) => tail(made, AlignScansTail, url(id, "align_scans"), body);
const list = (id: string, body: object = {}) => tail(made, TreeInventoryTail, url(id, "tree_inventory"), body);
const apart = (column: string) => forestTwice(FOUR_TREES, column, [1, 2], 0.06);

test.each(["Original_cloud_index", "scalar_Original_cloud_index", "ScanID", "scan-number", "SCAN_POS"])(
  "%s tells scans apart",
  async (name) => {
    const { session_id } = await cloud(made, apart(name));
    expect((await list(session_id)).view_fit?.aligned).toBe(true);
    const moved = await align(session_id);
    expect(moved.aligned && moved.scans.map(({ scan_index }) => scan_index)).toEqual([1, 2]);
    expect((await list(session_id)).view_fit?.aligned).toBe(false);
  },
);

test.each(["scanner", "rescan_id", "scan", "cloud_index"])("%s does not", async (name) => {
  const { session_id } = await cloud(made, apart(name));
  expect((await list(session_id)).view_fit).toBeNull();
  expect((await list(session_id, { scan_column: name })).view_fit?.aligned).toBe(true);
});

test("scan_index comes first", async () => {
  const rows = apart("scan_index").map((row, i) => `${row} ${i === 0 ? "scan_id" : 7}`);
  const { session_id } = await cloud(made, rows);
  expect((await list(session_id)).view_fit?.aligned).toBe(true);
  expect((await list(session_id, { scan_column: "scan_id" })).view_fit).toBeNull();
});

test("layers of ground name the column, and its scans are moved", async () => {
  const { session_id: id } = await cloud(made, twoFloors(0.4, "Original_cloud_index"));
  const { ground_layers, warnings } = await answered(made, SessionGroundResponse, url(id, "segment_ground"), {});
  expect(ground_layers).toMatchObject({ scans_by: "Original_cloud_index", by_flight_lines: false, upper_scans: [2] });
  expect(warnings.join(" ")).toMatch(/Scan 2 \(Original_cloud_index\) lies in the upper one\. Move the scans/);
});

test("flight lines are scans if a request says so", async () => {
  const { session_id } = await cloud(made, apart("las_point_source_id"));
  expect((await list(session_id)).view_fit).toBeNull();
  expect((await failed(made, url(session_id, "align_scans"), {})).error).toMatch(
    /^The cloud has neither scan_index nor gps times, which tell what was measured together: import it with them, or name the column of its scan numbers \(scan_column\)\.$/,
  );
  const wish = { scan_column: "las_point_source_id" };
  expect((await list(session_id, wish)).view_fit?.aligned).toBe(true);
  expect((await align(session_id, wish)).aligned).toBe(true);
});

test("a column that the cloud lacks is refused with those that it has", async () => {
  const { session_id } = await cloud(made, apart("scan_id"));
  const wish = { scan_column: "position" };
  const told = /^Unknown scalar attribute: 'position'\. Available: \[.*\bscan_id\b.*\]$/;
  expect((await failed(made, url(session_id, "align_scans"), wish)).error).toMatch(told);
  expect((await failed(made, url(session_id, "tree_inventory"), wish)).error).toMatch(told);
});

test("scanner positions that are numbered by scan_index are not left behind", async () => {
  const ptx = ["1", "1", "0 0 0", "1 0 0", "0 1 0", "0 0 1", "1 0 0 0", "0 1 0 0", "0 0 1 0", "9 0 0 1", "1 2 3 0.5"];
  const scan = await create(made, made.file("scan.ptx", `${ptx.join("\n")}\n`), {});
  const forest = await cloud(made, forestRows(FOUR_TREES));
  const { merged } = await answered(made, MergeResponse, "/api/cloud/session/merge", {
    session_ids: [forest.session_id, scan.session_id],
  });
  const url_ = url(merged.session_id, "align_scans");
  expect((await failed(made, url_, { scan_column: "tree_instance" })).error).toMatch(
    /^The scanner positions of the cloud are numbered by scan_index, not by tree_instance, and would not move with their scans/,
  );
});
