// Trees that the glass of a wall shows once more behind it.
import { expect, test } from "vitest";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { uniform } from "../../accuracy/random.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const WALL = 9;
const TREES = [1, 2, 3] as const;

/** Trees 1 to 3 before a wall at y = 10, and 11 to 13 behind it, of fewer points: images, or trees of their own. */
function street(behind: "images" | "trees"): string[] {
  const next = uniform(5);
  const rows = ["x y z tree_instance height_above_ground ground_class"];
  const add = (x: number, y: number, z: number, id: number, label = 2) =>
    rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${id} ${z.toFixed(4)} ${label}`);
  for (let x = 0; x <= 18; x += 0.5) for (let y = 0; y <= 20; y += 0.5) add(x, y, 0, 0, 1);
  for (let i = 0; i < 4000; i += 1) add(18 * next(), 10 + 0.01 * next(), 6 * next(), WALL);
  for (const id of TREES) {
    const [x, y, radius] = [5 * id - 1.5, 4 + id, 0.1 + 0.02 * id];
    const grown = (seed: number, count: number, put: (x: number, y: number, z: number) => void) => {
      const shape = uniform(seed);
      const twigs = Array.from(
        { length: 60 },
        () => [6.28 * shape(), 3.5 + 4 * shape(), 0.3 + shape(), shape()] as const,
      );
      for (let i = 0; i < count; i += 1) {
        const turn = 6.28 * next();
        put(x + radius * Math.cos(turn), y + radius * Math.sin(turn), 5 * next());
        const [way, high, long, rise] = twigs[i % twigs.length] as (typeof twigs)[number];
        const part = next();
        put(x + part * long * Math.cos(way), y + part * long * Math.sin(way), high + part * rise);
      }
    };
    grown(id, 4000, (px, py, pz) => add(px, py, pz, id));
    grown(behind === "images" ? id : id + 20, 1500, (px, py, pz) =>
      add(px + (behind === "images" ? 0 : 0.15), 20 - py, pz, id + 10),
    );
  }
  return rows;
}

async function listOf(rows: string[], body: object = {}) {
  const { session_id } = await cloud(made, rows);
  return tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, body);
}

test("images of trees have no diameter and are in no value of the stand", async () => {
  const list = await listOf(street("images"));
  const by = new Map(list.trees.map((tree) => [tree.tree_id, tree]));
  for (const id of TREES) {
    expect(by.get(id)?.flags).toEqual([]);
    expect(by.get(id)?.dbh_m).toBeCloseTo(0.2 + 0.04 * id, 2);
    expect(by.get(id + 10)).toMatchObject({ dbh_m: null, hegyi_index: null, flags: ["mirror_image", "no_stem"] });
  }
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^3 trees are mirror images of others, .*; tree 11 of 1, 12 of 2, 13 of 3\).* They have no/),
  );
  expect(list.stem_curve.filter(({ tree_id, ok }) => tree_id > 10 && ok)).toEqual([]);
  const alone = await listOf(street("images").filter((row) => !/ 1[123] [\d.]+ 2$/.test(row)));
  expect(alone.trees.map(({ tree_id }) => tree_id)).toEqual([1, 2, 3, WALL]);
  expect(list.stand?.crown_union_area_m2).toBe(alone.stand?.crown_union_area_m2);
  expect(by.get(1)?.hegyi_index).toBe(alone.trees[0]?.hegyi_index);
});

test("trees of their own behind a wall keep their diameters", async () => {
  const list = await listOf(street("trees"));
  expect(list.trees.filter(({ dbh_m }) => dbh_m !== null).map(({ tree_id }) => tree_id)).toEqual([1, 2, 3, 11, 12, 13]);
  expect(list.warnings.join()).not.toContain("mirror");
});

test("images asked for without their originals are not known", async () => {
  const { trees } = await listOf(street("images"), { tree_ids: [WALL, 11, 12] });
  expect(trees.map(({ dbh_m }) => typeof dbh_m)).toEqual(["object", "number", "number"]);
});
