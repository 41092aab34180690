import { z } from "zod";
import { DEFAULT_PLANT_TYPE } from "../limits.ts";
import { PlantArrays, PlantFailure, PlantMeshFields, PlantPosition, PlantType, RandomSeed, Steering } from "./plant.ts";

export const PlantSessionParams = z.object({
  session_id: z.string().describe("id of a plant session, an opaque string"),
});

export const PlantSessionCreateRequest = z
  .object({
    plant_type: PlantType.default(DEFAULT_PLANT_TYPE),
    initial_age: z.number().default(1).describe("days; < 0: success is false"),
    ...PlantPosition,
    random_seed: RandomSeed,
    leaf_inclination: Steering,
  })
  .meta({ id: "PlantSessionCreateRequest" });
export type PlantSessionCreateRequest = z.infer<typeof PlantSessionCreateRequest>;

const session_id = z.string().describe("id of the session");
const currentAge = z.number().nullable().describe("age of the plant, days; null on failure");
const height = z.number().nullable().describe("highest point above the base, metres; null on failure");
const nullableId = session_id.nullable().describe("id of the session; null on failure");

export const PlantSessionCreateResponse = z
  .object({
    ...PlantFailure,
    session_id: nullableId,
    plant_type: z.string().describe("the requested species"),
    current_age: currentAge,
    height,
    sim_xml: PlantArrays.shape.sim_xml,
    available_models: z
      .array(z.string())
      .nullable()
      .describe("all species, if the requested one does not exist; otherwise null"),
  })
  .meta({
    id: "PlantSessionCreateResponse",
    description: "a plant that can grow on; its mesh comes from an advance by 0 days",
  });
export type PlantSessionCreateResponse = z.infer<typeof PlantSessionCreateResponse>;

export const PlantAdvanceRequest = z
  .object({ dt: z.number().default(1).describe("days to grow; 0 = the mesh only; < 0: 400") })
  .meta({ id: "PlantAdvanceRequest" });
export type PlantAdvanceRequest = z.infer<typeof PlantAdvanceRequest>;

export const PlantAdvanceResponse = z
  .object({
    ...PlantFailure,
    session_id,
    previous_age: z.number().describe("age before, days"),
    current_age: z.number().describe("age of the plant, days: at most the largest age of its species"),
    height,
    ...PlantMeshFields.shape,
    ...PlantArrays.omit({ sim_xml: true }).shape,
  })
  .meta({ id: "PlantAdvanceResponse", description: "the plant of a session after some days, as triangles" });
export type PlantAdvanceResponse = z.infer<typeof PlantAdvanceResponse>;

export const PlantSessionStatus = z
  .object({
    success: z.literal(true).describe("the session exists"),
    session_id,
    plant_type: z.string().describe("species"),
    current_age: z.number().describe("age of the plant, days"),
    height: z.number().describe("highest point above the base, metres"),
    error: z.null().describe("null: success"),
  })
  .meta({ id: "PlantSessionStatus", description: "a plant session; asking counts as a use" });
export type PlantSessionStatus = z.infer<typeof PlantSessionStatus>;

export const PlantSessionDeleted = z
  .object({ success: z.literal(true).describe("the session is gone"), session_id })
  .meta({ id: "PlantSessionDeleted", description: "a plant session was closed" });
export type PlantSessionDeleted = z.infer<typeof PlantSessionDeleted>;

export const PlantSessionList = z
  .object({
    success: z.literal(true).describe("the list is complete"),
    sessions: z
      .array(
        z.object({
          session_id,
          plant_type: z.string().describe("species"),
          current_age: z.number().describe("age of the plant, days"),
          created_at: z.number().describe("time of the creation, seconds since 1970-01-01 UTC"),
        }),
      )
      .describe("sessions in the order of their creation; listing is no use"),
    count: z.int().describe("number of sessions"),
  })
  .meta({ id: "PlantSessionList", description: "all plant sessions" });
export type PlantSessionList = z.infer<typeof PlantSessionList>;
