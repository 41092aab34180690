import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { labelledPoints, planOf, runJobs } from "../support/cli/batch-run.ts";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";

test("tiles take the ground that their files label", async () => {
  const root = folderOfTest("batch-file-ground-");
  mkdirSync(join(root, "flight"));
  let ground = 0;
  for (const tile of [0, 1]) {
    const rows = Array.from({ length: 1600 }, (_, i) => {
      const [x, y] = [20 * tile + 0.25 + 0.5 * (i % 40), 0.25 + 0.5 * Math.floor(i / 40)];
      // Every third point is ground by the file; the others are as low, but for a few.
      return { x, y, z: i % 10 === 0 ? 4 : 0, classification: i % 3 === 0 ? 2 : 1 };
    });
    ground += rows.filter(({ classification }) => classification === 2).length;
    writeFileSync(join(root, "flight", `t_${tile}.las`), lasBytes(rows));
  }
  expect((await command(root, ["catalog", join(root, "flight"), "--out", join(root, "catalog")])).code).toBe(0);
  const out = await runJobs(
    root,
    "tiles: { size_m: 20 }\nground: { method: las_classification }\nrasters:\n  cell_m: 1\n",
    "tiled",
  );
  expect(planOf(out).tiles).toHaveLength(2);
  expect(planOf(out).windows).toEqual([]);
  const labels = (await labelledPoints(out)).ground;
  expect([labels.length, labels.filter((value) => value === 1).length]).toEqual([3200, ground]);
});
