import { z } from "zod";
import { Point } from "./geometry.ts";

/* Fields that many answers share. */

export const SessionId = z.string().describe("id of the cloud session, an opaque text");

export const Warnings = z
  .array(z.string())
  .describe("sentences for the user: request keys that mean nothing, and what was left out or approximated");

export const TotalCount = z.int().describe("all rows of the session, misses included");

export const MissOctreeCacheId = z
  .string()
  .nullable()
  .describe("id of the octree of the misses (sky points); null = there is none");

export const WorldShift = Point.nullable().describe("metres; true world = stored + world_shift; null = no shift");

export const Success = z.boolean().describe("false: `error` holds the reason and the other fields are empty");

export const ErrorText = z
  .string()
  .nullable()
  .describe("why there is no result, a sentence for the user; null = it worked");
