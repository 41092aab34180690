import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { classFigure } from "../../../../backend/cli/qsm/pictures.ts";
import { severalTrees } from "../../../../backend/cli/qsm/qsm.ts";

test("the chart of volumes has a bar for every class, the last one too", async () => {
  const names = ["1 to 2 cm", "2 to 5 cm", "5 to 10 cm"];
  const classes = names.map((name, i) => ({ name, length_m: 1, volume_m3: i + 1, volume_ci95_m3: null, area_m2: 1 }));
  const { png } = await classFigure(classes as never);
  const { width, height, data } = PNG.sync.read(Buffer.from(png));
  const blues = Array.from({ length: width }, (_, x) => {
    const rows = Array.from({ length: height }, (_, y) => data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3));
    return rows.filter(([r = 0, , b = 0]) => b > r + 60).length;
  });
  const bars = [...new Set(blues.filter((count) => count > 20))].sort((a, b) => a - b);
  expect(bars).toHaveLength(3);
  expect((bars[2] ?? 0) / (bars[0] ?? 1)).toBeCloseTo(3, 1);
});

test.each([
  [0, []],
  [1, []],
  [14, [expect.stringMatching(/^The points stand on 14 feet, as several trees do.*inventory --qsm/)]],
])("%i feet", (feet, said) => expect(severalTrees(feet)).toEqual(said));
