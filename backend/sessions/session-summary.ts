import type { SessionSummary } from "../../shared/contract/cloud-session/sessions.ts";
import { ownedColumns } from "./cloud-session.ts";
import { countsOf } from "./edits.ts";
import { bytesOf, type FolderSummary, sourceName } from "./folder-summary.ts";
import { hindrance, type Stored } from "./stored-session.ts";
import { treeVersion } from "./tree-version.ts";

export type { SessionSummary };

export async function summaryOf(stored: Stored): Promise<SessionSummary> {
  const { session, disk, unsavedReason } = stored;
  const { state } = session;
  const trees = treeVersion(state).catch(() => undefined); // a file that cannot be read does not hide the session
  const losses = state.meta.recovery_losses ?? [];
  const hindered = hindrance(stored);
  const inMemory = [...ownedColumns(state)].filter(({ file }) => file === null);
  const memory_bytes = inMemory.reduce((sum, { native }) => sum + native.bytes, 0);
  const disk_bytes = disk ? await bytesOf(disk.folder) : 0;
  const tree_version = await trees;
  return {
    session_id: session.id,
    source_name: sourceName(state.meta),
    state: hindered !== undefined ? "read_only" : losses.length > 0 ? "damaged" : "ready",
    is_open: true,
    problems: [...(hindered === undefined ? [] : [hindered]), ...losses, ...(unsavedReason ? [unsavedReason] : [])],
    total_count: state.columns.get("positions")?.length ?? 0,
    deleted_count: countsOf(state).deleted_count,
    disk_bytes,
    memory_bytes,
    world_shift: state.meta.world_shift && [...state.meta.world_shift],
    undo: {
      deletions: state.undo.deletes.length,
      label_strokes: Object.fromEntries(
        [...state.undo.labels]
          .filter(([, strokes]) => strokes.length > 0)
          .map(([slug, strokes]) => [slug, strokes.length]),
      ),
    },
    last_used: new Date(performance.timeOrigin + session.lastUsed).toISOString(),
    ...(tree_version === undefined ? {} : { tree_version }),
  };
}

export const unopenedSummary = (
  { id, state, problem }: { id: string; state: "damaged" | "unavailable"; problem: string },
  { meta, total_count, disk_bytes, changed }: FolderSummary,
): SessionSummary => ({
  session_id: id,
  source_name: sourceName(meta),
  state,
  is_open: false,
  problems: [problem],
  total_count,
  deleted_count: null,
  disk_bytes,
  memory_bytes: 0,
  world_shift: meta?.world_shift ? [...meta.world_shift] : null,
  undo: { deletions: 0, label_strokes: {} },
  last_used: new Date(changed).toISOString(),
});
