import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import { expandPlants, placedSummary, placePlant } from "../../../backend/native/plants/mesh.ts";
import { growPlant, openPlantSpecies } from "../../../backend/native/plants/plants.ts";
import { SpeciesFile } from "../../../shared/contract/plant-species-file.ts";

const folder = join(import.meta.dirname, "../../../resources/species");
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));

function bytes(column: NativeColumn): ArrayBuffer {
  const out = new Uint8Array(column.bytes);
  column.readInto(out, 0);
  return out.buffer;
}

/** Radius of the thickest stem that lies on the ground: its axis is there. */
const DEEPEST_M = 0.005;

test.each(files)("%s: nothing of a plant is below the ground, and its height is that of its mesh", async (name) => {
  const file = SpeciesFile.parse(JSON.parse(readFileSync(join(folder, name), "utf8")));
  const species = await openPlantSpecies(file, file.shapes).promise;
  const age_days = file.expected.ages[0]?.age_days ?? 0;
  const growth = { age_days, seed: 7, base: [5, 6, 100] as const, leaf_inclination: null };
  const plant = await growPlant(species, growth).promise;
  const placed = await placePlant(plant, species).promise;
  const mesh = await expandPlants(placed, [5, 6, 100]).promise;
  const summary = placedSummary(placed);
  const vertices = new Float32Array(bytes(mesh.vertices));
  expect(vertices.length).toBe(9 * summary.triangle_count);
  expect(summary.triangle_count).toBeGreaterThan(100);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 2; i < vertices.length; i += 3) {
    low = Math.min(low, vertices[i] ?? Number.NaN);
    high = Math.max(high, vertices[i] ?? Number.NaN);
  }
  expect(low).toBeGreaterThan(-DEEPEST_M);
  // Tubes reach above their axes by their radius.
  expect(high - summary.height_m).toBeGreaterThan(-1e-6);
  expect(high - summary.height_m).toBeLessThan(0.03);
  const { is_textured, ...columns } = mesh;
  const textures = new Uint32Array(bytes(mesh.triangle_material));
  expect(is_textured).toBe(textures.some((texture) => texture !== 0xffffffff)); // a tree may be bare
  for (const column of Object.values(columns)) column?.release();
  for (const held of [plant, placed, species]) held.release();
});
