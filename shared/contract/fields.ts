import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { Point } from "./geometry.ts";

/* Fields that many responses share. */

export const SessionId = z.string().describe("id of the cloud session, an opaque string");

export const Warnings = z
  .array(z.string())
  .describe("sentences for the user: unknown request keys, and anything that was omitted or approximated");

export const TotalCount = z.int().describe("number of rows in the session, including misses and deleted rows");

export const MissOctreeCacheId = z
  .string()
  .nullable()
  .describe("id of the octree that shows the misses (sky points); null = none");

export const WorldShift = Point.nullable().describe("metres; true world = stored + world_shift; null = no shift");

/** What `tree_version` tells. */
export const TREE_VERSION_MEANING =
  "key of the positions, the deleted rows and the values of column tree_instance, an opaque string: another one where any of them has changed, the same again after an undo, a restart of the service and in a project that is opened";
export const TreeVersion = z.string();

export const Success = z.boolean().describe("false: the reason is in `error`; the other fields are empty");

/** Beside `error` where a failure is an ordinary response. */
export const FailureCode = z.enum(errorCodes).optional().describe("error code; failures only");
export const ErrorText = z
  .string()
  .nullable()
  .describe("reason for the failure, a sentence for the user; null = success");

export const OverwriteFile = z
  .boolean()
  .default(false)
  .describe(
    "true: replace whatever is at dest_path. false: replace a file whose content is a format that exports write; any other file, a link, a device and the source file of an open session cause 409",
  );
