import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { denoisePart } from "../../accuracy/denoise.ts";
import { DATA } from "../../support/scans/data-folder.ts";

/** Noise planted into real airborne scans; before clusters were judged by their gap, clumps of 5 and more stayed. */
test.skipIf(!existsSync(DATA))(
  "auto finds noise in airborne scans and keeps the scans",
  { timeout: 120_000 },
  async () => {
    const rows = await denoisePart.measure(["auto"], ["als"]);
    expect(rows.map(({ name }) => name)).toEqual(["pyfor pine", "autzen", "MLBS 1"]);
    for (const { name, recall, cloud_kept } of rows) {
      for (const kind of ["isolated", "clump of 5 to 8", "clump of 9 to 12", "below ground"] as const)
        expect(recall[kind], `${name}: ${kind}`).toBeGreaterThan(kind === "isolated" ? 0.88 : 0.95);
      expect(cloud_kept, name).toBeGreaterThan(0.999);
    }
  },
);

/** Mixed pixels at the edges of trees that another program has scanned. */
test.skipIf(!existsSync(DATA))("auto finds mixed pixels where it knows the beams", { timeout: 60_000 }, async () => {
  const rows = await denoisePart.measure(["auto"], ["tracer"]);
  expect(rows.map(({ beams }) => beams)).toEqual([false, true, false, true]);
  for (const { name, beams, recall, cloud_kept } of rows) {
    if (beams) expect(recall.trail, name).toBeGreaterThan(0.65);
    else expect(recall.trail, name).toBeLessThan(0.3);
    expect(cloud_kept, name).toBeGreaterThan(0.998);
  }
});
