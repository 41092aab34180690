import { z } from "zod";
import { SessionId, TREE_VERSION_MEANING, TreeVersion, WorldShift } from "../fields.ts";

export const SESSION_STATES = ["ready", "read_only", "damaged", "unavailable"] as const;

export const SessionSummary = z
  .object({
    session_id: SessionId,
    source_name: z
      .string()
      .nullable()
      .describe("name of the file the cloud was imported from; null = several files, or unknown"),
    state: z
      .enum(SESSION_STATES)
      .describe(
        "ready; read_only = the disk is full or may not be written: edits fail until that has changed; damaged = the disk has lost changes, or all if is_open is false; unavailable = could not be opened, a later request may succeed",
      ),
    is_open: z.boolean().describe("false: requests with this id answer 404; DELETE still frees its files"),
    problems: z
      .array(z.string())
      .describe("what was lost, and why the cloud cannot be changed or opened: sentences for the user"),
    total_count: z
      .int()
      .nullable()
      .describe("number of rows in the session, including misses and deleted rows; null = unknown, files unreadable"),
    deleted_count: z.int().nullable().describe("number of deleted rows; null = not open"),
    disk_bytes: z
      .int()
      .nullable()
      .describe(
        "size of its files, bytes; without octrees, which sessions may share; null = unknown, folder unreadable",
      ),
    memory_bytes: z.int().describe("size of its columns that are in memory only, bytes"),
    world_shift: WorldShift.describe("metres; true world = stored + world_shift; null = no shift, or files unreadable"),
    undo: z
      .object({
        deletions: z.int().describe("number of deletions that reset_edits can undo"),
        label_strokes: z
          .record(z.string(), z.int())
          .describe("number of strokes that reset_label_edits can undo, by label column with any"),
      })
      .describe("what can be undone; nothing if is_open is false"),
    last_used: z.iso.datetime().describe("time of the last request for it; after a restart, of its last change"),
    tree_version: TreeVersion.optional().describe(
      `${TREE_VERSION_MEANING}; absent without the column, if is_open is false, and if its files cannot be read now`,
    ),
  })
  .meta({ id: "SessionSummary" });
export type SessionSummary = z.infer<typeof SessionSummary>;

export const SessionsResponse = z
  .object({ sessions: z.array(SessionSummary).describe("the last used first") })
  .meta({ id: "SessionsResponse" });
export type SessionsResponse = z.infer<typeof SessionsResponse>;
