import type { NativePlant } from "../native/plants/plants.ts";
import type { Counted } from "./counted.ts";
import type { OwnedPlant, PlantSessions } from "./plant-sessions.ts";
import type { Species } from "./species-library.ts";

/** The plant of a session and the species by which it grows on. */
export class PlantOwner implements OwnedPlant {
  constructor(
    readonly plant: Counted<NativePlant>,
    readonly species: Species,
    /** Highest point above the base, metres. */
    readonly height_m: number,
  ) {
    plant.retain();
  }
  release(): void {
    this.plant.release();
  }
}

/** The plant sessions of the service. */
export type GrowingPlants = PlantSessions<PlantOwner>;
