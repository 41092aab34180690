import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { qsmCsv } from "../../shared/client/index.ts";
import { QsmBuildTail } from "../../shared/contract/qsm.ts";
import { yTree } from "../support/qsm/models.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { answered, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/qsm/import";

let serial = 0;
function file(text: string, extension = ".csv"): string {
  serial += 1;
  const path = join(made.folder, `model ${serial}${extension}`);
  writeFileSync(path, text);
  return path;
}
const imported = (path: string) => answered(made, QsmBuildTail, URL_, { path });
const HEAD = "ID,parentID,branchOrder,startX,startY,startZ,endX,endY,endZ,radius\n";

describe("models", () => {
  test.each([[[0, 0, 0]], [[5_000_000, -3_000_000, 400]]] as const)(
    "an exported model comes back, at %j",
    async (at) => {
      const model = yTree(at);
      const { success, cylinders, shoots, points_used, n_cylinders, n_shoots, error } = await imported(
        file([...qsmCsv(model)].join("")),
      );
      expect({ success, points_used, n_cylinders, n_shoots, error }).toEqual({
        success: true,
        points_used: 0,
        n_cylinders: 6,
        n_shoots: 3,
        error: null,
      });
      expect(cylinders).toEqual(model.cylinders);
      expect(shoots).toEqual(model.shoots);
    },
  );

  test("metrics of a model", async () => {
    const { metrics } = await imported(
      file(`${HEAD}0,-1,0,0,0,0,0,0,2,0.2\n1,0,0,0,0,2,0,0,5,0.1\n2,0,1,0,0,2,3,0,2,0.05\n`),
    );
    expect(metrics).toMatchObject({
      trunk_diameter_mm: 400,
      tree_height_m: 5,
      n_scaffolds: 1,
      n_shoots_total: 2,
      max_rank: 1,
      total_length_m: 8,
      canopy_width_m: 3,
      canopy_height_m: 0,
      total_woody_volume_ci95_m3: null,
    });
    expect(metrics?.stem_volume_m3).toBeCloseTo(Math.PI * 0.11, 12);
    expect(metrics?.branch_volume_m3).toBeCloseTo(Math.PI * 0.0075, 12);
    expect(metrics?.per_rank.map(({ mean_branch_angle_deg }) => mean_branch_angle_deg)).toEqual([null, 90]);
  });

  test("ids up to 2^53", async () => {
    const { cylinders } = await imported(file(`${HEAD}9007199254740991,-1,0,0,0,0,0,0,2,0.2\n`));
    expect(cylinders[0]?.cyl_id).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("refusals", () => {
  test("of paths", async () => {
    expect(await refusal(made, URL_, { path: "/data/missing.csv" })).toEqual([
      404,
      "File not found: /data/missing.csv",
    ]);
    expect(await refusal(made, URL_, { path: file("", ".txt") })).toEqual([
      400,
      expect.stringMatching(/the extension ".txt" is no table of cylinders; use .csv$/),
    ]);
  });
  test.each([
    ["", /the file is empty$/],
    [HEAD, /no row follows the header$/],
    ["ID;radius\n1;2\n", /the header has no column parentID, branchOrder, startX/],
    [`${HEAD}1,-1,0,0,0,0,0,0,2,=SUM(A1)\n`, /row 2, column radius: "=SUM\(A1\)" is not a number$/],
    [`${HEAD}1,-1,0,0,0,0,0,0,2,0\n`, /row 2, column radius: a radius must be above 0$/],
    [`${HEAD}1,-1,0.5,0,0,0,0,0,2,1\n`, /row 2, column branchOrder: "0.5" is not a whole number/],
    [`${HEAD}1,-1,0,0,0,0,0,0,2,1\n1,-1,0,0,0,0,0,0,2,1\n`, /two cylinders have the id 1$/],
    [`${HEAD}1,7,0,0,0,0,0,0,2,1\n`, /cylinder 1 has the parent 7, which does not exist$/],
    [`${HEAD}1,1,0,0,0,0,0,0,2,1\n`, /cylinder 1 is its own parent$/],
    [`${HEAD}1,2,0,0,0,0,0,0,2,1\n2,1,0,0,0,0,0,0,2,1\n`, /the parents form a cycle$/],
    [`${HEAD.replaceAll(",", ";")}1;-1;0;0;0;0;0;0;2;0,5\n`, /row 2, column radius: "0,5" has a decimal comma/],
  ])("of %j", async (text, message) => {
    expect(await refusal(made, URL_, { path: file(text) })).toEqual([400, expect.stringMatching(message)]);
  });
});

const TREES = ["itsme_buttressed1", "itsme_tree1", "itsme_tree2"] as const;
const missing = TREES.some((name) => !existsSync(join(DATA, "qsm", `${name}_treeqsm.csv`)));
if (missing) console.warn(`the models of TreeQSM are absent from ${DATA}: set APP_TEST_DATA`);

/** Diameter of the stem `height` metres along its axis. */
function stemDiameter({ cylinders }: QsmBuildTail, height: number): number {
  let along = 0;
  for (const { start, end, radius, rank } of cylinders) {
    if (rank > 0) continue;
    along += Math.hypot(end[0] - start[0], end[1] - start[1], end[2] - start[2]);
    if (along >= height) return 2 * radius;
  }
  return Number.NaN;
}

describe.skipIf(missing)("models of TreeQSM", () => {
  test.each(TREES)("%s: volumes, lengths, height and DBH are those of that program", async (name) => {
    const model = await imported(join(DATA, "qsm", `${name}_treeqsm.csv`));
    const truth = JSON.parse(readFileSync(join(DATA, "qsm", `${name}_treeqsm_treedata.json`), "utf8")) as Record<
      string,
      number
    >;
    const { metrics } = model;
    const share = (value: number | undefined, wanted: number | undefined) => (value ?? 0) / (wanted ?? 1);
    // Single precision in the table: six digits.
    expect(share(metrics?.total_woody_volume_m3, (truth.TotalVolume ?? 0) / 1000)).toBeCloseTo(1, 5);
    expect(share(metrics?.stem_volume_m3, (truth.TrunkVolume ?? 0) / 1000)).toBeCloseTo(1, 5);
    expect(share(metrics?.branch_volume_m3, (truth.BranchVolume ?? 0) / 1000)).toBeCloseTo(1, 5);
    expect(share(metrics?.total_length_m, truth.TotalLength)).toBeCloseTo(1, 5);
    expect(metrics?.max_rank).toBe(truth.MaxBranchOrder);
    expect(metrics?.n_shoots_total).toBe((truth.NumberBranches ?? 0) + 1);
    // Its height ends at the tip of the cylinder that begins highest; ours at the highest tip.
    const tops = model.cylinders.map(({ start, end }) => [start[2], Math.max(start[2], end[2])] as const);
    const lowest = Math.min(...model.cylinders.map(({ start }) => start[2]));
    const theirs = (tops.sort(([a], [b]) => b - a)[0]?.[1] ?? 0) - lowest;
    expect(share(theirs, truth.TreeHeight)).toBeCloseTo(1, 5);
    expect(share(metrics?.tree_height_m, truth.TreeHeight)).toBeGreaterThan(0.99999);
    expect(share(metrics?.tree_height_m, truth.TreeHeight)).toBeLessThan(1.01);
    expect(stemDiameter(model, 1.3)).toBeCloseTo(truth.DBHqsm ?? 0, 3);
  });
});
