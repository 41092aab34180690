import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { SPECIES_IDS, SpeciesFile } from "../../../shared/contract/plant-species-file.ts";

const folder = fileURLToPath(new URL("../../../resources/species", import.meta.url));
const read = (id: string): unknown => JSON.parse(readFileSync(`${folder}/${id}.json`, "utf8"));

test("there is one file for each species, and no other", () => {
  const found = readdirSync(folder).filter((name) => name.endsWith(".json"));
  expect(found.sort()).toEqual(SPECIES_IDS.map((id) => `${id}.json`).sort());
});

/** Every range and spacing of a file with its source. */
function citations(file: SpeciesFile): string[] {
  const { phyllotactic_angle_deg, insertion_angle_deg, ages, spacing_source } = file.expected;
  const ranges = ages.flatMap(({ age_days: _, ...metrics }) => Object.values(metrics));
  return [phyllotactic_angle_deg, insertion_angle_deg, ...ranges]
    .flatMap((one) => one?.source ?? [])
    .concat(spacing_source);
}

describe.each(SPECIES_IDS)("%s", (id) => {
  let file: SpeciesFile;
  beforeAll(() => {
    file = SpeciesFile.parse(read(id));
  });

  test("is named as its file", () => expect(file.id).toBe(id));

  test("names only shoot types, parents and nodes that it has", () => {
    const types = Object.keys(file.shoot_types);
    for (const type of Object.values(file.shoot_types)) {
      expect(types).toEqual(expect.arrayContaining(type.laterals.map((lateral) => lateral.shoot_type)));
      expect(type.laterals.length > 0).toBe(type.bears_vegetative_buds);
      if (type.bears_vegetative_buds)
        expect(type.laterals.reduce((sum, lateral) => sum + lateral.probability, 0)).toBeCloseTo(1, 12);
    }
    file.start.forEach((shoot, index) => {
      expect(types).toContain(shoot.shoot_type);
      expect(shoot.parent).toBeLessThan(index);
    });
    const used = new Set(file.start.map((shoot) => shoot.shoot_type));
    for (let size = -1; size !== used.size; ) {
      size = used.size;
      for (const name of used)
        for (const lateral of file.shoot_types[name]?.laterals ?? []) used.add(lateral.shoot_type);
    }
    expect([...used].sort()).toEqual(types.sort());
  });

  test("names only shapes that it has, and uses all of them", () => {
    const types = Object.values(file.shoot_types);
    const leaves = types
      .flatMap((type) => [type.leaf, type.first_nodes?.leaf])
      .flatMap((leaf) => leaf?.leaf_shape ?? []);
    const buds = types.flatMap((type) => [type.axillary, type.terminal]);
    const named = (names: (string | undefined)[]) => [...new Set(names.filter(Boolean))].sort();
    expect(Object.keys(file.shapes.leaves).sort()).toEqual(named(leaves));
    expect(Object.keys(file.shapes.flowers).sort()).toEqual(named(buds.map((bud) => bud?.flower_shape)));
    expect(Object.keys(file.shapes.fruits).sort()).toEqual(named(buds.map((bud) => bud?.fruit_shape)));
  });

  test("has ranges at three ages up to its life span, each with a source that it cites", () => {
    const ages = file.expected.ages.map((age) => age.age_days);
    expect(ages).toEqual([...new Set(ages)].sort((a, b) => a - b));
    expect(ages.at(-1)).toBeLessThanOrEqual(file.max_age_days);
    expect(Object.keys(file.sources)).toEqual(expect.arrayContaining(citations(file)));
  });

  test("expects laterals of exactly those plants that can branch", () => {
    const branches = Object.values(file.shoot_types).some((type) => type.bears_vegetative_buds);
    expect(file.expected.insertion_angle_deg !== null).toBe(branches);
  });
});
