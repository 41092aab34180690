// What a structure document says about leaf area and wood, read tag by tag as any program could.
import type { PlantGrowth } from "../../../shared/contract/plant-species.ts";

export interface DocumentSizes {
  readonly leaf_area_m2: number;
  readonly wood_volume_m3: number;
}

/** Leaf area: coefficient of the species times the square of each blade's present length. Wood: cylinders of internodes. */
export function documentSizes(text: string, { shoot_types }: PlantGrowth): DocumentSizes {
  let type: PlantGrowth["shoot_types"][string] | undefined;
  let node = -1;
  let length = 0;
  let maturity = 0;
  let leafletScale = 1;
  let blade = 0;
  let leaf_area_m2 = 0;
  let wood_volume_m3 = 0;
  const on: Readonly<Record<string, (value: string) => void>> = {
    shoot_type_label: (value) => {
      type = shoot_types[value.trim()];
      if (!type) throw new Error(`no shoot type ${value}`);
      node = -1;
    },
    phytomer: () => {
      node += 1;
    },
    internode_length: (value) => {
      length = Number(value);
    },
    internode_radius: (value) => {
      wood_volume_m3 += Math.PI * Number(value) ** 2 * length;
    },
    petiole: () => {
      blade = 0;
    },
    current_leaf_scale_factor: (value) => {
      maturity = Number(value);
    },
    leaflet_scale: (value) => {
      leafletScale = Number(value);
    },
    leaf_scale: (value) => {
      const first = type?.first_nodes;
      const leaf = first && node < first.count ? first.leaf : type?.leaf;
      if (!leaf) throw new Error("a blade where the species has none");
      // The terminal blade first, then pairs from tip to base, each smaller by leaflet_scale.
      const present = Number(value) * maturity * leafletScale ** Math.ceil(blade / 2);
      leaf_area_m2 += leaf.area_coefficient * present ** 2;
      blade += 1;
    },
  };
  for (const [, tag = "", value = ""] of text.matchAll(/<(\w+)[^>]*>([^<]*)/g)) on[tag]?.(value);
  return { leaf_area_m2, wood_volume_m3 };
}
