// Plants of every species from their first day to their last: what must hold for every mesh, whatever the age.
import { SpeciesLibrary } from "../../backend/sessions/species-library.ts";
import {
  DEEPEST_M,
  otherPlants,
  type SoundPlant,
  STEERED,
  soundPlant,
  steeredBlades,
} from "../support/plants/species-checks.ts";
import type { Cell, PlantRow } from "./plants.ts";

/** Ages between 0 and the largest. */
const AGES = 11;
const STEPS = [1, 7, 30];
const INCLINATION_SEEDS = 20;

const library = new SpeciesLibrary();

const cell = (metric: string, value: number, low: number, high: number): Cell => ({
  metric,
  value,
  low,
  high,
  is_in: low <= value && value <= high,
});

const farthest = (ratios: readonly number[]): number =>
  ratios.reduce((worst, ratio) => (Math.abs(ratio - 1) > Math.abs(worst - 1) || !(ratio > 0) ? ratio : worst), 1);

/** The worst of all ages; counts are of faulty things. */
export async function meshRow(id: string): Promise<PlantRow> {
  const species = await library.find(id);
  const expected = species?.file.expected;
  if (!species || !expected) throw new Error(`no species ${id} with expected ranges`);
  const last = species.file.max_age_days;
  const plants: SoundPlant[] = [];
  for (let i = 0; i < AGES; i += 1) plants.push(await soundPlant(species, (last * i) / (AGES - 1)));
  const sum = (of: (plant: SoundPlant) => number): number => plants.reduce((total, plant) => total + of(plant), 0);
  const age = expected.ages[1]?.age_days ?? Number.NaN;
  const others = await otherPlants(species, age, STEPS);
  const { blades, mean_deg, ks_p } = await steeredBlades(species, age, INCLINATION_SEEDS);
  return {
    method: "mesh",
    species: id,
    age_days: last,
    cells: [
      cell("triangles", Math.max(...plants.map(({ triangles }) => triangles)), 100, 5e6),
      cell(
        "not finite",
        sum(({ not_finite }) => not_finite),
        0,
        0,
      ),
      cell(
        "flat",
        sum(({ flat }) => flat),
        0,
        0,
      ),
      cell(
        "wrong normals",
        sum(({ wrong_normals }) => wrong_normals),
        0,
        0,
      ),
      cell(
        "open edges",
        sum(({ open_edges }) => open_edges),
        0,
        0,
      ),
      cell("lowest m", Math.min(...plants.map(({ low_m }) => low_m)), -DEEPEST_M, Number.POSITIVE_INFINITY),
      cell("leaf area", farthest(plants.map(({ leaf_area_ratio }) => leaf_area_ratio)), 0.99, 1.01),
      cell("wood", farthest(plants.map(({ wood_volume_ratio }) => wood_volume_ratio)), 0.99, 1.01),
      cell("other plants", others.length, 0, 0),
      cell("blades", blades, 100, Number.POSITIVE_INFINITY),
      cell("KS p", ks_p, 0.05, 1),
      cell("mean inclination", mean_deg, STEERED.mean_deg - 1, STEERED.mean_deg + 1),
    ],
  };
}
