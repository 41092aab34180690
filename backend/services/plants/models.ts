import type { PlantModelsResponse } from "../../../shared/contract/plant.ts";
import type { Deps } from "../../deps.ts";

/** The species that can grow. Errors: internal if the bundled ones cannot be read. */
export async function plantModels(deps: Deps): Promise<PlantModelsResponse> {
  const { species, problems } = await deps.species.list();
  const details = species.map(({ file: { id, name, scientific_name, group, woody, max_age_days }, origin }) => {
    return { id, name, scientific_name, group, woody, max_age_days, origin };
  });
  return { success: true, models: details.map(({ id }) => id), details, problems: [...problems] };
}
