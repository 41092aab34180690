import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { denoisePart } from "../../accuracy/denoise.ts";
import { NOISE } from "../../accuracy/denoise-noise.ts";
import { DATA } from "../../support/scans/data-folder.ts";

/** Noise planted into real airborne scans, at eight spacings and more above thin crowns too. */
test.skipIf(!existsSync(DATA))(
  "auto finds noise in airborne scans and keeps the scans",
  { timeout: 240_000 },
  async () => {
    const rows = await denoisePart.measure(["auto"], ["als"]);
    expect(rows.map(({ name }) => name)).toEqual(["pyfor pine", "autzen", "MLBS 1"]);
    for (const { name, recall, cloud_kept } of rows) {
      for (const kind of NOISE.filter((one) => one !== "ghost edge" && one !== "trail"))
        expect(recall[kind], `${name}: ${kind}`).toBeGreaterThan(0.95);
      expect(cloud_kept, name).toBeGreaterThan(0.999);
    }
  },
);

/** Mixed pixels at the edges of trees that another program has scanned. */
test.skipIf(!existsSync(DATA))("auto finds mixed pixels where it knows the beams", { timeout: 240_000 }, async () => {
  const rows = await denoisePart.measure(["auto"], ["tracer"]);
  expect(rows.map(({ beams }) => beams)).toEqual([false, true, false, true]);
  for (const { name, beams, recall, cloud_kept } of rows) {
    if (beams) expect(recall.trail, name).toBeGreaterThan(0.65);
    else expect(recall.trail, name).toBeLessThan(0.3);
    expect(cloud_kept, name).toBeGreaterThan(0.998);
  }
});
