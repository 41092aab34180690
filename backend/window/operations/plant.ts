import type { Client } from "../../../shared/client/index.ts";
import { PlantCanopyRequest, PlantRequest } from "../../../shared/contract/plant.ts";
import { AppError } from "../../../shared/errors.ts";
import type { FrameArray } from "../../../shared/wire/phb1.ts";
import { strings } from "../strings.ts";
import { count, measure } from "../workflow/format.ts";
import { freeOperation, type OperationContext, type Outcome } from "./operation.ts";

const words = strings.workflow.operations.plant;
type Frame = Awaited<ReturnType<Client["generatePlant"]>>;

const choices = async (client: Client) => {
  const { details } = await client.plantModels();
  return { plant_type: details.map(({ id, name, scientific_name }) => [id, `${name} (${scientific_name})`] as const) };
};

/** Grows one plant. */
export const plant = freeOperation({
  id: "plant",
  schema: PlantRequest,
  words,
  choices,
  run: async (request, context) =>
    shown(await context.client.generatePlant({ ...request, instances: true }, context.run), context),
});

/** Grows plants on a grid. */
export const canopy = freeOperation({
  id: "canopy",
  schema: PlantCanopyRequest,
  words: strings.workflow.operations.canopy,
  choices,
  run: async (request, context) =>
    shown(await context.client.generateCanopy({ ...request, instances: true }, context.run), context),
});

function shown({ meta, buffers }: Frame, { scene, view }: OperationContext): Outcome {
  if (!meta.success) throw new AppError(meta.code ?? "internal", meta.error ?? words.none);
  const arrays: Record<string, FrameArray> = Object.fromEntries(buffers);
  const { origin = [0, 0, 0], materials = null, textures = null } = meta;
  const first = meta.prototype_first_triangle;
  const name = words.name(meta.plant_type, measure(meta.age_reached ?? meta.age, words.days, 0), meta.plant_count);
  const prototypes = first ? { prototype_first_triangle: first } : {};
  const drawn = view.addPlant({ name, origin, buffers: arrays, ...prototypes });
  scene.add({ kind: "plant", name, meta: { origin, materials, textures, ...prototypes }, buffers: arrays }, drawn);
  view.fit();
  return {
    facts: [
      [words.facts.height, measure(meta.height, "m")],
      [words.facts.leaves, measure(meta.leaf_area_m2, "m²")],
      [words.facts.wood, measure(meta.wood_volume_m3 && meta.wood_volume_m3 * 1000, "dm³", 3)],
      [words.facts.triangles, count(meta.expanded_triangle_count ?? meta.triangle_count)],
      [words.facts.seed, String(meta.random_seed ?? "–")],
    ],
    warnings: meta.warnings ?? [],
  };
}
