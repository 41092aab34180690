// What a grown plant measures: from its structure document, and from its placed organs.
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { placedSummary, placePlant } from "../../backend/native/plants/mesh.ts";
import { growPlant, type NativeSpecies, plantDocument } from "../../backend/native/plants/plants.ts";

export interface PlantMeasures {
  /** Metres from the ground to the highest organ. */
  readonly height_m: number;
  /** Petioles that carry a blade: a compound leaf counts once. */
  readonly leaves: number;
  readonly leaf_area_m2: number;
  /** Of the first internode of the first shoot. */
  readonly base_diameter_m: number;
  readonly phytomers: number;
  /** Mean length of the blades as they are now; NaN without leaves. */
  readonly blade_length_m: number;
  /** Mean azimuth step of all nodes but the first of a shoot; NaN without such nodes. */
  readonly phyllotactic_angle_deg: number;
  /** Mean base pitch of the shoots that grew from an axil; NaN without such shoots. */
  readonly insertion_angle_deg: number;
}

function textOf(column: NativeColumn): string {
  const bytes = new Uint8Array(column.bytes);
  for (let at = 0; at < bytes.length; ) {
    const read = column.readInto(bytes.subarray(at), at);
    if (read === 0) throw new Error(`a document ends after ${at} of ${bytes.length} bytes`);
    at += read;
  }
  column.release();
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

class Mean {
  #sum = 0;
  #count = 0;
  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }
  get value(): number {
    return this.#sum / this.#count;
  }
  get count(): number {
    return this.#count;
  }
}

/** The angle of one node to the next in [0, 360). */
const azimuth = (degrees: number): number => ((degrees % 360) + 360) % 360;

/** Reads a structure document as any program could, tag by tag. */
export function documentMeasures(text: string) {
  let radius_m: number | undefined;
  let leaves = 0;
  let node = 0;
  let phytomers = 0;
  let lateral = false;
  let scale = 0;
  let leafletScale = 1;
  let blades: number[] = [];
  const blade = new Mean();
  const phyllotaxis = new Mean();
  const insertion = new Mean();
  const on: Readonly<Record<string, (value: string) => void>> = {
    shoot: () => {
      node = 0;
    },
    parent_petiole_index: (value) => {
      lateral = Number(value) >= 0;
    },
    phytomer: () => {
      node += 1;
      phytomers += 1;
    },
    internode_radius: (value) => {
      radius_m ??= Number(value);
    },
    internode_pitch: (value) => {
      if (node === 1 && lateral) insertion.add(Number(value));
    },
    internode_phyllotactic_angle: (value) => {
      if (node > 1) phyllotaxis.add(azimuth(Number(value)));
    },
    petiole: () => {
      blades = [];
    },
    current_leaf_scale_factor: (value) => {
      scale = Number(value);
    },
    leaflet_scale: (value) => {
      leafletScale = Number(value);
    },
    leaf_scale: (value) => {
      blades.push(Number(value));
    },
    "/petiole": () => {
      if (blades.length === 0 || scale <= 0) return;
      leaves += 1;
      // The terminal blade first, then pairs from tip to base, each smaller by leaflet_scale.
      for (const [i, length] of blades.entries()) blade.add(length * scale * leafletScale ** Math.ceil(i / 2));
    },
  };
  for (const [, tag = "", value = ""] of text.matchAll(/<(\/?\w+)[^>]*>([^<]*)/g)) on[tag]?.(value);
  if (radius_m === undefined) throw new Error("a structure document without internodes");
  return {
    leaves,
    phytomers,
    base_diameter_m: 2 * radius_m,
    blade_length_m: blade.value,
    phyllotactic_angle_deg: phyllotaxis.value,
    insertion_angle_deg: insertion.value,
  };
}

/** Grows and measures one plant. */
export async function measuredPlant(
  species: NativeSpecies,
  age_days: number,
  seed: number,
): Promise<PlantMeasures & { readonly age_days: number }> {
  const plant = await growPlant(species, { age_days, seed, base: [0, 0, 0], leaf_inclination: null }).promise;
  const text = textOf(await plantDocument(plant).promise);
  const placed = await placePlant(plant, species).promise;
  const { height_m, leaf_area_m2 } = placedSummary(placed);
  placed.release();
  plant.release();
  return { age_days, height_m, leaf_area_m2, ...documentMeasures(text) };
}

/** The mean over plants; a value that a plant does not have counts for nothing. */
export function meanMeasures(plants: readonly PlantMeasures[]): PlantMeasures {
  const of = (name: keyof PlantMeasures): number => {
    const mean = new Mean();
    for (const plant of plants) if (Number.isFinite(plant[name])) mean.add(plant[name]);
    return mean.value;
  };
  return {
    height_m: of("height_m"),
    leaves: of("leaves"),
    leaf_area_m2: of("leaf_area_m2"),
    base_diameter_m: of("base_diameter_m"),
    phytomers: of("phytomers"),
    blade_length_m: of("blade_length_m"),
    phyllotactic_angle_deg: of("phyllotactic_angle_deg"),
    insertion_angle_deg: of("insertion_angle_deg"),
  };
}
