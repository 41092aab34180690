// Walls, posts, and points that the LAS class names as built.
import { expect, test } from "vitest";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { TreeQsmTail } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { CrownTail } from "../../../shared/contract/fit-crown.ts";
import { FOUR_TREES, forestRows } from "../../support/scans/forest.ts";
import { orchard } from "../../support/scans/tree-cloud.ts";
import { answered, cloud, columnOf, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const even = (i: number, step: number) => (i * step) % 1;
const WALL = 9;
const POST = 10;

/** Trees 1 to 4, a wall of 6 by 5 m, a post of 6 m. */
function street(): string[] {
  const rows = forestRows(FOUR_TREES);
  const add = (x: number, y: number, z: number, id: number) =>
    rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${id} ${z.toFixed(4)} 2`);
  for (let i = 0; i < 3000; i += 1)
    add(8 + 6 * even(i, 0.7548776662), 10 + 0.01 * even(i, 0.38), 5 * even(i, 0.5698402909), WALL);
  for (let i = 0; i < 1500; i += 1) {
    const turn = 2 * Math.PI * even(i, 0.7548776662);
    add(16 + 0.08 * Math.cos(turn), 2 + 0.08 * Math.sin(turn), 6 * even(i, 0.5698402909), POST);
  }
  return rows;
}

test("the inventory knows walls and posts", async () => {
  const { session_id } = await cloud(made, street());
  const list = await tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  const flags = new Map(list.trees.map((tree) => [tree.tree_id, tree.flags]));
  expect(flags.get(WALL)).toEqual(["flat", "no_stem"]);
  expect(flags.get(POST)).toContain("no_crown");
  for (const { id } of FOUR_TREES) expect(flags.get(id)).toEqual([]);
  const [wall, post] = list.trees.slice(-2);
  expect(wall).toMatchObject({ tree_id: WALL, dbh_m: null, basal_area_m2: null });
  expect(wall?.flat_share).toBeGreaterThan(0.9);
  expect(post?.flat_share).toBe(0);
  expect(post?.dbh_m).toBeCloseTo(0.16, 2);
  expect(list.warnings).toContainEqual(expect.stringMatching(/^1 of 6 tree lies .*\(tree 9\).*no diameter/));
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^1 of 5 trees with a diameter has next to nothing.*tree 10/),
  );
  expect(list.warnings.join()).not.toContain("values per hectare that need a diameter");
});

test("wires are told, and are in no value", async () => {
  const listOf = async (rows: string[]) => {
    const { session_id } = await cloud(made, rows);
    return tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  };
  const wire = (count: number, high: number, id: number) =>
    Array.from({ length: count }, (_, i) => {
      const at = 18 * even(i, 0.7548776662);
      return `${at.toFixed(4)} ${(1 + 0.02 * even(i, 0.38)).toFixed(4)} ${(high + 0.1 * at).toFixed(4)} ${id} ${high} 2`;
    });
  // A tree that has a stem is one, with whatever hangs on it.
  const held = await listOf([...street(), ...wire(8000, 5, 4)]);
  expect(held.trees.find(({ tree_id }) => tree_id === 4)).toMatchObject({ dbh_m: expect.any(Number) });
  expect(held.trees.flatMap(({ flags }) => flags)).not.toContain("wire");
  const [alone, list] = [await listOf(street()), await listOf([...street(), ...wire(400, 9, 13)])];
  expect(list.trees.find(({ tree_id }) => tree_id === 13)?.flags).toEqual(["no_stem", "wire"]);
  expect(list.trees.filter(({ flags }) => flags.includes("wire"))).toHaveLength(1);
  expect(list.warnings).toContainEqual(expect.stringMatching(/^1 of 7 tree is a thin, level line \(tree 13\)/));
  expect(list.stand?.crown_union_area_m2).toBe(alone.stand?.crown_union_area_m2);
});

test("a pipe at a wall is told, and one that is not is not", async () => {
  const rows = street();
  for (const [id, away] of [
    [11, 0.12],
    [12, 0.9],
  ] as const)
    for (let i = 0; i < 1500; i += 1) {
      const turn = 2 * Math.PI * even(i, 0.7548776662);
      const [x, y, z] = [
        7 + id / 4 + 0.06 * Math.cos(turn),
        10 - away + 0.06 * Math.sin(turn),
        5 * even(i, 0.5698402909),
      ];
      rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${id} ${z.toFixed(4)} 2`);
    }
  const { session_id } = await cloud(made, rows);
  const list = await tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  const flags = new Map(list.trees.map((tree) => [tree.tree_id, tree.flags]));
  expect(flags.get(11)).toContain("at_wall");
  expect([...flags.entries()].filter(([id]) => id !== 11).flatMap(([, own]) => own)).not.toContain("at_wall");
  expect(list.trees.find(({ tree_id }) => tree_id === 11)?.dbh_m).toBeCloseTo(0.12, 2);
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^1 of 7 trees with a diameter stands within 0.4 m of a wall \(flags: at_wall; tree 11\)/),
  );
});

test("a model and a crown of a wall are told", async () => {
  const { session_id } = await cloud(made, street());
  const models = await tail(made, TreeQsmTail, `/api/cloud/session/${session_id}/tree_qsm`, {
    tree_ids: [1, WALL],
    max_points_per_tree: 2000,
  });
  const [tree, wall] = models.results;
  expect(tree?.success).toBe(true);
  if (wall?.success) {
    expect(wall.metrics?.total_woody_volume_ci95_m3 ?? null).toBeNull();
    expect(models.warnings).toContainEqual(expect.stringMatching(/\(tree 9\), .* Their models are of no wood/));
  }
  const crowns = await tail(made, CrownTail, "/api/fit/crown", {
    source: { session_id },
    shape: "ellipsoid",
    tree_instance_ids: [1, WALL],
  });
  expect(crowns.warnings).toContainEqual(
    expect.stringMatching(/^1 of 2 tree lies .*\(tree 9\).* Their crowns are none/),
  );
});

const { points, ground_class, stems } = orchard(2);
/** Trees, and a roof 4 m above the ground beside them. */
async function withRoof(slug: string, built: number, body: object) {
  const rows = points.map((p, i) => [...p, ground_class[i] ?? 0, 5].join(" "));
  const first = rows.length;
  for (let i = 0; i < 800; i += 1)
    rows.push(
      `${16 + 6 * even(i, 0.7548776662)} ${1 + 6 * even(i, 0.5698402909)} ${4 + 2 * even(i, 0.7548776662)} 2 ${built}`,
    );
  for (let x = 16; x < 22; x += 0.5) for (let y = 1; y < 7; y += 0.5) rows.push(`${x} ${y} 0 1 2`);
  const { session_id } = await cloud(made, [`x y z ground_class ${slug}`, ...rows]);
  const url = `/api/cloud/session/${session_id}/segment_trees`;
  const answer = await answered(made, SessionTreesResponse, url, { method: "chm", ...body });
  const labels = (await columnOf(made, session_id, extraKey("tree_instance"))) ?? [];
  return { answer, roof: [...labels].slice(first, first + 800) };
}

test("wires above trees are told by their segmentation", async () => {
  const rows = points.map((p, i) => [...p, ground_class[i] ?? 0].join(" "));
  for (let i = 0; i < 120; i += 1) rows.push(`${20 * even(i, 0.7548776662)} ${-6 + 0.05 * even(i, 0.38)} 9 0`);
  for (let x = 0; x < 20; x += 0.5) for (let y = -8; y < -4; y += 0.5) rows.push(`${x} ${y} 0 1`);
  const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
  const url = `/api/cloud/session/${session_id}/segment_trees`;
  const { warnings } = await answered(made, SessionTreesResponse, url, { method: "chm" });
  expect(warnings).toContainEqual(expect.stringMatching(/thin, level lines? .* counted in num_trees/));
});

test.each([6, 13, 14, 15, 16, 17])("points of LAS class %i belong to no tree, which is told", async (built) => {
  const { answer, roof } = await withRoof("las_classification", built, {});
  expect(answer.num_trees).toBe(stems.length);
  expect(new Set(roof)).toEqual(new Set([0]));
  expect(answer.warnings).toEqual([
    "800 points labelled as buildings, wires, towers or bridges (LAS classes 6 and 13 to 17) belong to no tree. Where these classes mean something else, send skip_structures false.",
  ]);
});

test.each([
  ["las_classification", 6, { skip_structures: false }],
  ["las_classification", 1, {}],
  ["user_class", 6, {}],
])("a roof in %s as %i with %o is a tree that lies on a flat surface", async (slug, built, body) => {
  const { answer, roof } = await withRoof(slug, built, body);
  expect(answer.num_trees).toBeGreaterThan(stems.length);
  expect(roof).not.toContain(0);
  expect(answer.warnings.join()).not.toContain("skip_structures");
  expect(answer.warnings).toContainEqual(
    expect.stringMatching(/^\d+ of \d+ trees? lies? .* flat surfaces .* counted in num_trees/),
  );
});
