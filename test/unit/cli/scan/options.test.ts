import { expect, test } from "vitest";
import { checkedScan } from "../../../../backend/cli/scan/options.ts";
import { SPECIES_IDS } from "../../../../shared/contract/plant-species-file.ts";

test.each(SPECIES_IDS)("%s with an age is a plant", (species) => {
  expect(checkedScan(`${species}:200`, { out: "out" }).plant).toEqual({ species, age: 200 });
});

test.each(["tree.obj", "C:12", "./apple:2/tree.obj"])("%s is a file", (path) => {
  expect(checkedScan(path, { out: "out" }).plant).toBeNull();
});
