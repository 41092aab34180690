import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SPECIES_IDS, SpeciesFile } from "../../../shared/contract/plant-species-file.ts";

/** The species library: id, largest age in days, typical height in metres and azimuth step in degrees, both from and to. */
const LIBRARY = `
almond 1825 3 4 120 160
almond_aldrich 1825 3 4 120 160
almond_wood_colony 1825 2.5 3.5 120 160
apple 1460 3 3 130 145
apple_fruitingwall 730 2 2.5 130 145
easternredbud 1460 3 4 170 190
olive 1825 3 3 80 100
pistachio 1460 3 3 160 200
walnut 1460 4 4 160 200
bougainvillea 365 2 2 160 190
grapevine_VSP 365 2 2 160 200
grapevine_Wye 365 2 2 160 200
maize 365 2.5 3.5 170 190
rice 365 0.6 1 67 77
sorghum 365 2.5 4 170 190
wheat 365 0.8 0.8 67 77
asparagus 20 0.3 1 128 148
bean 365 0.5 0.5 145 215
butterlettuce 365 0.25 0.25 137.5 137.5
capsicum 365 0.6 1 128 148
cherrytomato 175 2 3 140 220
cowpea 365 0.5 0.5 145 215
soybean 365 0.8 0.8 145 215
strawberry 120 0.3 0.3 80 100
sugarbeet 365 0.4 0.4 137.5 137.5
tomato 365 0.7 0.7 140 220
bindweed 50 0.1 0.1 180 180
cheeseweed 40 0.1 0.1 128 148
groundcherryweed 80 0.4 0.4 137.5 137.5
puncturevine 45 0.05 0.05 180 180
`;

const rows = new Map(
  LIBRARY.trim()
    .split("\n")
    .map((line) => {
      const [id = "", ...numbers] = line.split(" ");
      return [id, numbers.map(Number)] as const;
    }),
);

test("all thirty species of the library are bundled", () => {
  expect(rows.size).toBe(30);
  expect([...rows.keys()].filter((id) => !(SPECIES_IDS as readonly string[]).includes(id))).toEqual([]);
});

/** Species that were added since are held to the `expected` of their own files, by the other tests. */
describe.each([...rows.keys()])("%s", (id) => {
  const path = new URL(`../../../resources/species/${id}.json`, import.meta.url);
  const { expected, max_age_days } = SpeciesFile.parse(JSON.parse(readFileSync(path, "utf8")));
  const [age, low = Number.NaN, high = Number.NaN, from = Number.NaN, to = Number.NaN] = rows.get(id) ?? [];

  test("lives as long as the library says", () => expect(max_age_days).toBe(age));

  test("expects the library's height and azimuth step", () => {
    const [least, most] = expected.ages.at(-1)?.height_m.range ?? [Number.NaN, Number.NaN];
    expect(least).toBeLessThanOrEqual(high);
    expect(most).toBeGreaterThanOrEqual(low);
    const [first, last] = expected.phyllotactic_angle_deg.range;
    expect(first).toBeLessThanOrEqual((from + to) / 2);
    expect(last).toBeGreaterThanOrEqual((from + to) / 2);
  });
});
