import { MAX_SESSION_FILE_BYTES } from "../../../shared/limits.ts";
import * as edits from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { DType, NativeColumn } from "../../native/core/handles.ts";
import { narrowestIntegers, readArray, rowSetOf } from "../../native/files/archive.ts";
import { extraKey } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import type { LabelDelta, RowSet, UndoState } from "../../sessions/undo.ts";
import { storageOf } from "../files/roles.ts";
import { type Archive, damagedMember, damagedProject } from "./archive-read.ts";
import { arrayMember, column, requireType, type Source } from "./restore-column.ts";
import { missBuffer, missColumns } from "./restore-misses.ts";
import { metaOf, parseSessionFile, type SessionFile, type StrokeFile } from "./session-file.ts";
import { sessionFolder } from "./session-members.ts";

/** Types of the fixed columns. */
const FIXED: Readonly<Record<Exclude<SessionFile["arrays"][number], "deleted_base">, DType>> = {
  positions: "vec3d",
  colors: "rgb16",
  intensity: "u16",
  deleted: "u8",
  timestamps: "f64",
  beam_origins: "vec3d",
};

/** The description of a session in a project. Errors: invalid_file. */
export async function readSessionFile(archive: Archive, { key, n }: { key: string; n: number }): Promise<SessionFile> {
  const name = `${sessionFolder(key)}/session.json`;
  const file = parseSessionFile(await archive.json(name, MAX_SESSION_FILE_BYTES), name);
  if (file.key !== key || file.n !== n) throw damagedProject(`${name} is not that of session ${key} with ${n} rows`);
  const slugs = file.extras.map(({ slug }) => slug);
  const described = file.scalars.extra_dims_meta.map(({ slug }) => slug);
  if (new Set(slugs).size !== slugs.length || [...slugs].sort().join("\n") !== [...described].sort().join("\n"))
    throw damagedProject(`${name}: the extra columns are not those it describes`);
  if (!file.arrays.includes("positions") || new Set(file.arrays).size !== file.arrays.length)
    throw damagedProject(`${name}: its columns`);
  if (file.deleted_history > archive.size) throw damagedProject(`${name}: more deletions than the archive has members`);
  return file;
}

/** Members of a session, by name without extension. */
export function memberNames(file: SessionFile): string[] {
  const { key, arrays, extras, deleted_history, label_history } = file;
  const strokes = Object.values(label_history).flat();
  const names = [
    ...arrays,
    ...extras.map(({ member }) => member),
    ...Array.from({ length: deleted_history }, (_, i) => `history/del${i}`),
    ...strokes.flatMap((stroke) => stroke.arrays.map(([, member]) => `history/${member}`)),
    ...missColumns(file).map((name) => `misses/${name}`),
  ];
  return names.map((name) => `${sessionFolder(key)}/${name}`);
}

/**
 * Reads the columns and undo stacks of a session. Every header, length and checksum is verified. `done` is called with the
 * share of the members read. Errors: invalid_file, naming the member; no_space; canceled.
 */
export async function restoreSession(
  file: SessionFile,
  from: Omit<Source, "folder" | "n">,
  done: (share: number) => void,
): Promise<void> {
  const source: Source = { ...from, folder: sessionFolder(file.key), n: file.n };
  const total = memberNames(file).length;
  let count = 0;
  const step = <T>(value: T): T => {
    count += 1;
    done(count / total);
    return value;
  };
  const columns = new Map<string, ColumnRef>();
  for (const name of file.arrays) {
    if (name !== "deleted_base") columns.set(name, step(await fixedColumn(source, name)));
  }
  for (const { slug, member } of file.extras) {
    const found = await extraColumn(source, member);
    const kept = source.version > 1 || Object.hasOwn(file.label_history, slug);
    columns.set(extraKey(slug), step(kept ? found : await compacted(source, slug, found)));
  }
  const base = file.arrays.includes("deleted_base") ? step(await maskSet(source, "deleted_base")) : null;
  const deletes: RowSet[] = [];
  for (let i = 0; i < file.deleted_history; i += 1) deletes.push(step(await rowSet(source, `history/del${i}`)));
  const labels = new Map<string, LabelDelta[]>();
  for (const [slug, strokes] of Object.entries(file.label_history)) {
    if (!columns.has(extraKey(slug))) throw damagedProject(`${source.folder}/session.json: labels without a column`);
    const list: LabelDelta[] = [];
    for (const stroke of strokes) list.push(step(await labelDelta(source, stroke)));
    if (list.length > 0) labels.set(slug, list);
  }
  const misses = await missBuffer(source, file, step);
  const undo: UndoState = { base, deletes, labels };
  await checkMask(source, columns, undo);
  source.session.state = { columns, misses, undo, meta: metaOf(file) };
}

async function fixedColumn(source: Source, name: keyof typeof FIXED): Promise<ColumnRef> {
  const found = await column(source, name, source.n);
  requireType(source, name, found, FIXED[name]);
  return found;
}

async function extraColumn(source: Source, name: string): Promise<ColumnRef> {
  const found = await column(source, name, source.n);
  if (found.native.dtype === "vec3d" || found.native.dtype === "rgb16")
    throw damagedProject(`${source.folder}/${name} has several values a row`);
  return found;
}

/** Version 1 wrote every column as float32: whole numbers take the narrowest type, as when they are imported. */
async function compacted({ session, job }: Source, slug: string, found: ColumnRef): Promise<ColumnRef> {
  if (storageOf(slug, slug) !== "auto") return found;
  const narrow = await job.track(() => narrowestIntegers(found.native));
  return narrow ? session.adopt(narrow, (start) => job.track(start)) : found;
}

/** An array that only helps to make another one; the run owns it. */
async function scratch(source: Source, name: string, rows: number | null): Promise<NativeColumn> {
  const { archive, folder, version, job } = source;
  const [form, range] = await arrayMember(archive, `${folder}/${name}`, version);
  try {
    return await job.track(() => readArray(range, form, rows));
  } catch (error) {
    job.checkpoint();
    throw damagedMember(`${folder}/${name}.${form}`, error);
  }
}

/** A native set of rows with its data owned by the session. */
async function adoptSet(source: Source, name: string, make: () => Promise<edits.NativeRowSet>): Promise<RowSet> {
  const { folder, session, job } = source;
  try {
    const { encoding, count, data } = await make();
    return { encoding, count, data: await session.adopt(data, (start) => job.track(start)) };
  } catch (error) {
    job.checkpoint();
    throw damagedMember(`${folder}/${name}`, error);
  }
}

async function rowSet(source: Source, name: string): Promise<RowSet> {
  const rows = await scratch(source, name, null);
  try {
    return await adoptSet(source, name, () => source.job.track(() => rowSetOf(source.n, rows)));
  } finally {
    rows.release();
  }
}

async function maskSet(source: Source, name: string): Promise<RowSet> {
  const mask = await scratch(source, name, source.n);
  try {
    return await adoptSet(source, name, () => source.job.track(() => edits.encodeRows(mask)));
  } finally {
    mask.release();
  }
}

async function labelDelta(source: Source, stroke: StrokeFile): Promise<LabelDelta> {
  const members = new Map(stroke.arrays);
  const previousName = members.get("prev") ?? members.get("prev_float");
  const rowsName = members.get("idx");
  const where = `${source.folder}/session.json: stroke ${stroke.stroke_id.slice(0, 60)}`;
  if (members.size !== 2 || rowsName === undefined || previousName === undefined)
    throw damagedProject(`${where}: its arrays`);
  if (stroke.to_class === undefined) throw damagedProject(`${where} has no class`);
  const rows = await rowSet(source, `history/${rowsName}`);
  if (rows.count !== stroke.changed_count) throw damagedProject(`${where}: the number of its rows`);
  const previous = await column(source, `history/${previousName}`, null);
  const { dtype, length } = previous.native;
  if ((length !== rows.count && length !== 1) || dtype === "vec3d" || dtype === "rgb16")
    throw damagedProject(`${where}: its previous values`);
  return { stroke_id: stroke.stroke_id, to_class: stroke.to_class, rows, previous };
}

/** The mask must be the union of the floor and all steps, as undo and every restart compute it. */
async function checkMask(source: Source, columns: Map<string, ColumnRef>, { base, deletes }: UndoState): Promise<void> {
  const { n, folder, session, job } = source;
  const mask = columns.get("deleted");
  const sets = [...(base ? [base] : []), ...deletes].map((set) => ({ ...set, data: set.data.native }));
  if (sets.length === 0 && !mask) return;
  const union = await job.track(() => edits.unionRows(n, null, sets));
  if (!mask) {
    columns.set("deleted", await session.adopt(union, (start) => job.track(start)));
    return;
  }
  try {
    for (const [more, less] of [
      [mask.native, union],
      [union, mask.native],
    ] as const) {
      const terms = [
        { mask: more, invert: false },
        { mask: less, invert: true },
      ];
      const differing = await job.track(() => combineMasks(terms, "and"));
      differing.mask.release();
      if (differing.count > 0) throw damagedProject(`${folder}/deleted is not what its history says`);
    }
  } finally {
    union.release();
  }
}
