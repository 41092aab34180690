import { expect, test } from "vitest";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { forestRows } from "../../support/scans/forest.ts";
import { orchard } from "../../support/scans/tree-cloud.ts";
import { answered, cloud, columnOf, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const { points, ground_class, stems } = orchard(2);
const [x = 0, y = 0] = stems[0] ?? [];
/** A stray return, 100 m above a tree. */
const STRAY = [x, y, 105];

const segmented = async (slug: string, kept: number, noise: number, body: object = {}) => {
  const rows = points.map((p, i) => [...p, ground_class[i] ?? 0, kept]);
  const all = [...rows, [...STRAY, 2, noise]].map((row) => row.join(" "));
  const { session_id } = await cloud(made, [`x y z ground_class ${slug}`, ...all]);
  const url = `/api/cloud/session/${session_id}/segment_trees`;
  const answer = await answered(made, SessionTreesResponse, url, { method: "chm", ...body });
  const labels = await columnOf(made, session_id, extraKey("tree_instance"));
  return { session_id, answer, stray: labels?.at(-1) };
};

test.each([
  ["noise_class", 1, 2],
  ["las_classification", 5, 7],
  ["las_classification", 5, 18],
])("a point that %s names as noise belongs to no tree (kept %i, noise %i)", async (slug, kept, noise) => {
  const { answer, stray } = await segmented(slug, kept, noise);
  expect(stray).toBe(0);
  expect(answer.num_trees).toBe(stems.length);
  expect(answer.warnings).toEqual([
    "1 point that is labelled as noise (noise_class 2, LAS classes 7 and 18) belongs to no tree.",
  ]);
});

test("skip_noise false: it is part of the tree below", async () => {
  const { answer, stray } = await segmented("noise_class", 1, 2, { skip_noise: false });
  expect(answer.warnings.join()).not.toContain("labelled as noise");
  expect(stray).toBeGreaterThan(0);
  expect(answer.warnings).toContainEqual(expect.stringMatching(/^1 return with a tree number stands alone/));
});

test("returns that stand alone are told where they are part of trees", async () => {
  const flock = [1, 2, 3, 4, 5].map((i) => [x + 0.4 * i, y, 8 * i + 6, 2]);
  const told = async (strays: readonly number[][]) => {
    const rows = [...points.map((p, i) => [...p, ground_class[i] ?? 0]), ...strays].map((row) => row.join(" "));
    const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
    const url = `/api/cloud/session/${session_id}/segment_trees`;
    const { warnings } = await answered(made, SessionTreesResponse, url, { method: "chm" });
    return warnings.filter((text) => text.includes("alone"));
  };
  expect(await told([])).toEqual([]);
  expect(await told(flock)).toEqual([expect.stringMatching(/^5 returns with a tree number stand alone/)]);
});

test("a tree higher than any on Earth is warned of, and how to mend it", async () => {
  const rows = forestRows([{ id: 3, x: 6, y: 6, dbh_m: 0.3 }]);
  const columns = rows[0]?.split(" ").length ?? 0;
  const place = ["6", "6", "150"];
  const extras = (rows[0] ?? "").split(" ").slice(3);
  const values = extras.map((slug) => (slug === "tree_instance" ? "3" : slug === "height_above_ground" ? "150" : "2"));
  const stray = [...place, ...values].join(" ");
  expect(stray.split(" ")).toHaveLength(columns);
  const { session_id } = await cloud(made, [...rows, stray]);
  const list = await tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  expect(list.trees[0]?.height_m).toBeGreaterThan(140);
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^Tree 3 is higher than 120 m, as no tree on Earth is: .* Import with source_units/),
  );
});
