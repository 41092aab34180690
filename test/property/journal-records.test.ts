import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_MISSES } from "../../backend/sessions/cloud-session.ts";
import { ColumnRef } from "../../backend/sessions/column-ref.ts";
import {
  type JournalRecord,
  parseRecord,
  type RowSetRecord,
  replay,
  type StepRecord,
} from "../../backend/sessions/journal-records.ts";
import {
  applySteps,
  NOTHING_TO_UNDO,
  type RowSet,
  type UndoState,
  type UndoStep,
} from "../../backend/sessions/undo.ts";
import { createRecord } from "../../backend/sessions/undo-records.ts";
import { CountedColumn } from "../support/native/counted-column.ts";
import { EMPTY_META } from "../support/session/cloud-meta.ts";

const ROWS = 6;
/** Slugs that plain objects have a property of, or a fixed column the name of, are slugs like others. */
const SLUGS = ["a", "constructor", "colors"] as const;

type Act =
  | { readonly kind: "delete"; readonly rows: readonly number[] }
  | { readonly kind: "undo"; readonly keep: number }
  | { readonly kind: "fold"; readonly share: number }
  | { readonly kind: "paint"; readonly slug: string; readonly rows: readonly number[]; readonly to: number }
  | { readonly kind: "keep" | "forget"; readonly slug: string; readonly share: number }
  | { readonly kind: "file"; readonly key: string };

const rows = fc.uniqueArray(fc.integer({ min: 0, max: ROWS - 1 }), { maxLength: ROWS });
const slug = fc.constantFrom(...SLUGS);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant("delete" as const), rows }),
  fc.record({ kind: fc.constant("undo" as const), keep: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ kind: fc.constant("fold" as const), share }),
  fc.record({ kind: fc.constant("paint" as const), slug, rows, to: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constantFrom("keep" as const, "forget" as const), slug, share }),
  fc.record({
    kind: fc.constant("file" as const),
    key: fc.constantFrom("deleted", "colors", "extra/a", "extra/colors"),
  }),
);

/** A session as plain arrays, the steps it takes, and the files that hold what the steps bring. */
class Model {
  readonly mask: boolean[] = Array(ROWS).fill(false);
  readonly labels = new Map<string, number[]>(SLUGS.map((name) => [name, Array(ROWS).fill(0)]));
  undo: UndoState = NOTHING_TO_UNDO;
  /** What each file holds: rows, or values. */
  readonly files = new Map<string, readonly number[]>();
  readonly #nameOf = new Map<ColumnRef, string>();

  file(values: readonly number[]): ColumnRef {
    const name = `${this.files.size}.col`;
    const column = new ColumnRef(new CountedColumn(name));
    this.files.set(name, values);
    this.#nameOf.set(column, name);
    return column;
  }
  nameOf = (column: ColumnRef): string => this.#nameOf.get(column) ?? "no file";
  set(values: readonly number[]): RowSet {
    return { encoding: "rows", count: values.length, data: this.file(values) };
  }
  held = ({ data }: RowSet): readonly number[] => this.files.get(this.nameOf(data)) ?? [];

  /** The steps of one act; changes the arrays as a session's would change. */
  steps(what: Act): UndoStep[] {
    switch (what.kind) {
      case "delete": {
        const added = what.rows.filter((row) => !this.mask[row]);
        for (const row of added) this.mask[row] = true;
        return [{ op: "delete", rows: this.set(added) }];
      }
      case "undo": {
        const { deletes } = this.undo;
        for (const set of deletes.slice(what.keep)) for (const row of this.held(set)) this.mask[row] = false;
        return [{ op: "keep_deletes", count: what.keep }];
      }
      case "fold": {
        const { base, deletes } = this.undo;
        const count = Math.round(what.share * deletes.length);
        const floor = [...(base ? [base] : []), ...deletes.slice(0, count)].flatMap(this.held);
        return [{ op: "fold_deletes", count, base: floor.length > 0 ? this.set(floor) : null }];
      }
      case "paint": {
        const column = this.labels.get(what.slug) ?? [];
        const previous = this.file(what.rows.map((row) => column[row] ?? 0));
        for (const row of what.rows) column[row] = what.to;
        return [
          { op: "paint", slug: what.slug, stroke_id: "s", to_class: what.to, rows: this.set(what.rows), previous },
        ];
      }
      case "keep": {
        const strokes = this.undo.labels.get(what.slug) ?? [];
        const count = Math.round(what.share * strokes.length);
        for (const { rows: painted, previous } of strokes.slice(count).reverse())
          this.put(this.labels.get(what.slug) ?? [], this.held(painted), this.files.get(this.nameOf(previous)) ?? []);
        return [{ op: "keep_labels", slug: what.slug, count }];
      }
      case "forget": {
        const count = Math.round(what.share * (this.undo.labels.get(what.slug) ?? []).length);
        return [{ op: "forget_labels", slug: what.slug, count }];
      }
      case "file":
        return [];
    }
  }
  put(column: number[], at: readonly number[], values: readonly number[]): void {
    for (const [i, row] of at.entries()) column[row] = values[i] ?? Number.NaN;
  }
  columnNow(key: string): readonly number[] {
    if (key === "deleted") return this.mask.map(Number);
    return [...(this.labels.get(key.replace(/^extra\//, "")) ?? [])];
  }

  record = (step: UndoStep): StepRecord => {
    const set = ({ encoding, count, data }: RowSet): RowSetRecord => ({ encoding, count, file: this.nameOf(data) });
    if (step.op === "delete") return { op: "delete", rows: set(step.rows) };
    if (step.op === "fold_deletes") return { ...step, base: step.base && set(step.base) };
    if (step.op === "paint") return { ...step, rows: set(step.rows), previous: this.nameOf(step.previous) };
    return step;
  };
}

const written = (record: JournalRecord): JournalRecord => {
  const read = parseRecord(Buffer.from(JSON.stringify(record)));
  if (!read) throw new Error(`no record: ${JSON.stringify(record)}`);
  return read;
};

/** The same journal after a compaction: one create record of the state as it is. */
function compacted(model: Model): JournalRecord {
  const columns = new Map(
    ["extra/a", "extra/constructor", "extra/colors"].map((key) => [key, model.file(model.columnNow(key))]),
  );
  return written(createRecord({ columns, misses: NO_MISSES, undo: model.undo, meta: EMPTY_META }, model.nameOf, []));
}

test("replaying a journal gives the undo state, the mask and the labels that the steps made", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(act, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      fc.nat(12),
      (commits, at) => {
        const model = new Model();
        let records = [compacted(model)];
        for (const [i, acts] of commits.entries()) {
          const steps: UndoStep[] = [];
          const columns: Record<string, string> = {};
          for (const what of acts) {
            const made = model.steps(what);
            model.undo = applySteps(model.undo, made);
            steps.push(...made);
          }
          for (const what of acts)
            if (what.kind === "file") columns[what.key] = model.nameOf(model.file(model.columnNow(what.key)));
          records.push(written({ type: "commit", columns, undo: steps.map(model.record), meta: {} }));
          if (i === at) records = [compacted(model)];
        }
        const replayed = replay(records);
        const record = createRecord(
          { columns: new Map(), misses: NO_MISSES, undo: model.undo, meta: EMPTY_META },
          model.nameOf,
          [],
        );
        expect({ ...replayed?.undo, labels: { ...replayed?.undo.labels } }).toEqual(record.undo);

        const fileRows = ({ file }: RowSetRecord) => model.files.get(file) ?? [];
        const { base, deletes } = replayed?.undo ?? record.undo;
        const mask = Array<number>(ROWS).fill(0);
        for (const set of [...(base ? [base] : []), ...deletes]) for (const row of fileRows(set)) mask[row] = 1;
        expect(mask).toEqual(model.mask.map(Number));
        if (!replayed?.mask_is_stale) {
          const file = replayed?.files.get("deleted");
          expect(file ? model.files.get(file) : Array(ROWS).fill(0)).toEqual(mask);
        }

        for (const name of SLUGS) {
          const column = [...(model.files.get(replayed?.files.get(`extra/${name}`) ?? "") ?? [])];
          for (const redo of replayed?.redo.get(name) ?? []) {
            const painted = fileRows(redo.rows);
            model.put(
              column,
              painted,
              "previous" in redo ? (model.files.get(redo.previous) ?? []) : painted.map(() => redo.to_class),
            );
          }
          expect([name, column]).toEqual([name, model.labels.get(name)]);
        }
      },
    ),
    { numRuns: 1000, seed: 20 },
  );
});
