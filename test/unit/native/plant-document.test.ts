// The structure document is written in pieces by several threads: its bytes must not show that.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withThreads } from "../../../backend/native/core/threads.ts";
import { growPlant, openPlantSpecies, plantDocument, plantSummary } from "../../../backend/native/plants/plants.ts";
import { SpeciesFile } from "../../../shared/contract/plant-species-file.ts";
import { columnBytes } from "../../support/native/column-bytes.ts";

test("a document has the same bytes for any number of threads, and its shoots in their order", async () => {
  const path = join(import.meta.dirname, "../../../resources/species/almond.json");
  const file = SpeciesFile.parse(JSON.parse(readFileSync(path, "utf8")));
  const species = await openPlantSpecies(file, file.shapes).promise;
  const growth = { age_days: 1095, seed: 4, base: [1, 2, 3] as const, leaf_inclination: null };
  const plant = await growPlant(species, growth).promise;
  const texts = [];
  for (const threads of [1, 2, 3, 8]) {
    const column = await withThreads(threads, () => plantDocument(plant, 4)).promise;
    texts.push(Buffer.from(columnBytes(column)).toString());
    column.release();
  }
  const { shoot_count, phytomer_count } = plantSummary(plant);
  for (const held of [plant, species]) held.release();
  expect(phytomer_count).toBeGreaterThan(3000); // several pieces
  const [text = ""] = texts;
  for (const other of texts.slice(1)) expect(other === text).toBe(true);
  expect(text.length % 4).toBe(0);
  const shoots = [...text.matchAll(/<shoot ID="(\d+)">/g)].map(([, id]) => Number(id));
  expect(shoots).toEqual(Array.from({ length: shoot_count }, (_, i) => i));
  expect(text.split("<phytomer>").length - 1).toBe(phytomer_count);
  expect(text.trimEnd().endsWith("</plant_structure>")).toBe(true);
});
