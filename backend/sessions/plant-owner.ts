import type { NativePlant } from "../native/plants/plants.ts";
import type { OwnedPlant, PlantSessions } from "./plant-sessions.ts";
import type { Species } from "./species-library.ts";

/** The plant of a session and the species by which it grows on. */
export interface PlantOwner extends OwnedPlant {
  readonly plant: NativePlant;
  readonly species: Species;
}

/** The plant sessions of the service. */
export type GrowingPlants = PlantSessions<PlantOwner>;
