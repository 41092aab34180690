// Clouds whose coordinates are not metres, of files that do not say so.
import { expect, test } from "vitest";
import { SessionDemMeta } from "../../../shared/contract/cloud-session/dem.ts";
import { SessionWoodResponse } from "../../../shared/contract/cloud-session/segment-wood.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { TreeQsmTail } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { create, scanFile } from "../../support/app/app.ts";
import { FOUR_TREES, forestRows } from "../../support/scans/forest.ts";
import { dem } from "../../support/session/dem.ts";
import { answered, cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const DOUBT = /file does not say its unit\. .*Import with source_units/;
const doubts = (warnings: readonly string[] | undefined) => (warnings ?? []).filter((text) => DOUBT.test(text));

/** Four trees of 8 m; of every length `scale` times as many. */
const trees = (scale: number): string[] =>
  forestRows(FOUR_TREES).map((row, i) => {
    const [x, y, z, id, height, label] = row.split(" ");
    return i === 0 ? row : [...[x, y, z].map((v) => scale * Number(v)), id, scale * Number(height), label].join(" ");
  });

test.each([
  ["a tenth of a metre", 10, {}, true],
  ["a tenth of a metre, read as metres by request", 10, { source_units: "m" }, false],
  ["metres", 1, {}, false],
] as const)("the list, the models and the canopy of trees in units of %s", async (_, scale, wishes, is_told) => {
  const { session_id } = await cloud(made, trees(scale), wishes);
  const at = `/api/cloud/session/${session_id}`;
  const list = await tail(made, TreeInventoryTail, `${at}/tree_inventory`);
  const models = await tail(made, TreeQsmTail, `${at}/tree_qsm`, { tree_ids: [1, 2], max_points_per_tree: 2000 });
  const body = { surface_type: "chm", cell_size: scale };
  const { meta } = await dem(made, `${at}/dem`, body, SessionDemMeta as never);
  const { warnings } = meta as unknown as { readonly warnings?: readonly string[] };
  const [tall] = doubts(list.warnings);
  expect(doubts(list.warnings)).toHaveLength(is_told ? 1 : 0);
  if (is_told) expect(tall).toMatch(/^4 of 4 trees are higher than 60 m.*the highest: 8\d\.\d m/);
  expect(doubts(models.warnings)).toHaveLength(is_told ? 1 : 0);
  expect(doubts(warnings)).toEqual([]); // below 100 m
});

test("a canopy of 8 m in inches, and wood too far apart", async () => {
  const told = async (wishes: object) => {
    const { session_id } = await cloud(made, trees(39.37), wishes);
    const at = `/api/cloud/session/${session_id}`;
    const { meta } = await dem(made, `${at}/dem`, { surface_type: "chm", cell_size: 40 }, SessionDemMeta as never);
    const wood = await answered(made, SessionWoodResponse, `${at}/segment_wood`, { method: "sota" });
    const { warnings } = meta as unknown as { readonly warnings?: readonly string[] };
    return [doubts(warnings), doubts(wood.warnings)].map((texts) => texts.map((text) => text.slice(0, 40)));
  };
  expect(await told({})).toEqual([
    [expect.stringMatching(/^The canopy is up to 311 m high/)],
    [expect.stringMatching(/^The points are \d+\.\d cm apart/)],
  ]);
  expect(await told({ source_units: "m" })).toEqual([[], []]);
});

test.each([
  [
    "a tree in millimetres",
    [3000, 3000, 22_000],
    /span 22000 m in height, more than all land on Earth: .*source_units/,
  ],
  ["a country in millimetres", [2e9, 10, 10], /span 2000000 km from side to side/],
  ["a mountain", [9000, 9000, 4800], null],
] as const)("extents: %s", async (_, size, said) => {
  const rows = [0, 0.5, 1].map((share) => size.map((length) => share * length).join(" "));
  const warnings = ((await create(made, scanFile(made, ["x y z", ...rows]))).warnings ?? []).join();
  if (said) expect(warnings).toMatch(said);
  else expect(warnings).not.toContain("span");
});
