import fc from "fast-check";
import { expect, test } from "vitest";
import { type CloudChange, CloudSession, type CloudState, freshState } from "../../backend/sessions/cloud-session.ts";
import type { ColumnRef } from "../../backend/sessions/column-ref.ts";
import { type CountedColumn, countedRef } from "../support/native/counted-column.ts";
import { EMPTY_META } from "../support/session/cloud-meta.ts";

type Step =
  | {
      readonly kind: "commit";
      readonly keys: readonly string[];
      readonly removed: readonly string[];
      readonly stale: boolean;
    }
  | { readonly kind: "read" }
  | { readonly kind: "endRead" }
  | { readonly kind: "fail"; readonly writes: number }
  | { readonly kind: "settle" };

const key = fc.constantFrom("positions", "a", "b", "c");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("commit" as const),
    keys: fc.uniqueArray(key, { maxLength: 3 }),
    removed: fc.uniqueArray(key, { maxLength: 2 }),
    stale: fc.boolean(),
  }),
  fc.constant({ kind: "read" as const }),
  fc.constant({ kind: "endRead" as const }),
  fc.record({ kind: fc.constant("fail" as const), writes: fc.integer({ min: 1, max: 2 }) }),
  fc.constant({ kind: "settle" as const }),
);
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The session under test beside a plain model of what it should hold and what the disk should know. */
class Model {
  readonly columns: CountedColumn[] = [];
  readonly expected = new Map<string, CountedColumn>();
  /** What a restart would find: every saved change applied in order. */
  readonly disk = new Map<string, CountedColumn>();
  readonly session: CloudSession;
  readonly #reads: { done: () => void; held: CountedColumn[] }[] = [];
  #failing = 0;
  #deadAtSave = false;
  #previous: CloudState;

  constructor() {
    const first = this.#column("positions");
    this.expected.set("positions", first.column);
    this.disk.set("positions", first.column);
    const state = freshState(new Map([["positions", first.ref]]), EMPTY_META);
    this.session = new CloudSession("test", state, (change) => this.#persist(change));
    this.#previous = this.session.state;
  }

  #column(name: string): { ref: ColumnRef; column: CountedColumn } {
    const made = countedRef(`${name}#${this.columns.length}`);
    this.columns.push(made.column);
    return made;
  }

  async #persist(change: CloudChange): Promise<void> {
    await settle();
    this.#deadAtSave ||= [...(change.columns?.values() ?? [])].some(
      (column) => (column?.native as CountedColumn | undefined)?.freed,
    );
    if (this.#failing > 0) {
      this.#failing -= 1;
      throw new Error("disk full");
    }
    for (const [name, column] of change.columns ?? []) {
      if (column) this.disk.set(name, column.native as CountedColumn);
      else this.disk.delete(name);
    }
  }

  async run(next: Step): Promise<void> {
    if (next.kind === "commit") await this.#commit(next.keys, next.removed, next.stale);
    else if (next.kind === "read") this.#read();
    else if (next.kind === "endRead") this.#reads.shift()?.done();
    else if (next.kind === "fail") this.#failing = next.writes;
    else await settle();
    for (const { held } of this.#reads) for (const column of held) expect(column.freed).toBe(false);
    for (const column of this.expected.values()) expect(column.freed).toBe(false);
  }

  async #commit(keys: readonly string[], removed: readonly string[], stale: boolean): Promise<void> {
    const made = keys.map((name) => ({ name, ...this.#column(name) }));
    const gone = removed.filter((name) => !keys.includes(name) && name !== "positions");
    const columns = new Map<string, ColumnRef | null>([
      ...made.map(({ name, ref }) => [name, ref] as const),
      ...gone.map((name) => [name, null] as const),
    ]);
    const before = this.session.state;
    const outdated = stale && this.#previous !== before;
    const fails = this.#failing > 0;
    const end = this.session.commit(outdated ? this.#previous : before, { columns });
    if (outdated) await expect(end).rejects.toThrow(/changed while this operation ran/);
    else if (fails) await expect(end).rejects.toThrow(/disk full/);
    else await end;
    if (outdated || fails) {
      expect(this.session.state).toBe(before); // nothing happened
    } else {
      this.#previous = before;
      for (const { name, column } of made) this.expected.set(name, column);
      for (const name of gone) this.expected.delete(name);
    }
    for (const { ref } of made) ref.release(); // the run's own reference ends with the run
  }

  #read(): void {
    const held = [...this.expected.values()];
    let done: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      done = resolve;
    });
    void this.session.read(null, () => gate);
    this.#reads.push({ done, held });
  }

  async finish(): Promise<void> {
    for (const { done } of this.#reads.splice(0)) done();
    await settle();
    expect(new Map([...this.session.state.columns].map(([name, { native }]) => [name, native]))).toEqual(this.expected);
    expect(this.disk).toEqual(this.expected);
    expect(this.#deadAtSave).toBe(false);
    const alive = this.columns.filter(({ freed }) => !freed);
    expect(new Set(alive)).toEqual(new Set(this.expected.values())); // nothing leaks, nothing is freed too early
    this.session.close();
    expect(this.columns.every(({ freed }) => freed)).toBe(true);
    expect(() => this.session.state).toThrow(/Cloud session not found: test/);
  }
}

test("commits, conflicts, reads and failing disks: every column is freed exactly once, and the disk always has the state", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const model = new Model();
      for (const next of steps) await model.run(next);
      await model.finish();
    }),
    { numRuns: 150 },
  );
});

test("a session closed while it is being saved frees everything, and the edit fails with not_found", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const model = new Model();
      for (const next of steps) if (next.kind !== "read" && next.kind !== "fail") await model.run(next);
      const { ref, column } = countedRef("late");
      const late = model.session.commit(model.session.state, { columns: new Map([["late", ref]]) });
      await Promise.resolve(); // the edit has begun
      model.session.close();
      await expect(late).rejects.toMatchObject({ code: "not_found" });
      ref.release();
      expect([...model.columns, column].every(({ freed }) => freed)).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("columns swapped for their twins: the same state, no commit, and nothing is freed while it is read", async () => {
  const model = new Model();
  const base = model.session.state;
  const [old] = base.columns.values();
  if (!old) throw new Error("no column");
  const { ref: twin, column } = countedRef("twin");
  let letGo: () => void = () => undefined;
  const reading = model.session.read(null, () => new Promise<void>((resolve) => (letGo = resolve)));
  await model.session.edit(null, async (edit) => edit.swap(new Map([[old, twin]])));
  twin.release();
  expect([...model.session.state.columns.values()]).toEqual([twin]);
  expect((old.native as CountedColumn).freed).toBe(false);
  letGo();
  await reading;
  expect([(old.native as CountedColumn).freed, column.freed]).toEqual([true, false]);
  await model.session.commit(base, {}); // not a conflict: the values are the same
});

test("edits run one after another in arrival order, and a failing one does not stop the next", async () => {
  const { session } = new Model();
  const seen: number[] = [];
  const edits = [1, 2, 3, 4].map((n) =>
    session.edit(null, async () => {
      await settle();
      seen.push(n);
      if (n === 2) throw new Error("no");
      return n;
    }),
  );
  const results = await Promise.allSettled(edits);
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
});

test("an edit that lands while a read waits for its proof gives it the new state and its columns", async () => {
  const [first, second] = [countedRef("first"), countedRef("second")];
  let prove: () => void = () => undefined;
  const proven = new Promise<void>((resolve) => {
    prove = resolve;
  });
  const proof = { passed: (run: unknown) => (run === null ? Promise.resolve() : proven) };
  const state = freshState(new Map([["positions", first.ref]]), EMPTY_META);
  const session = new CloudSession("test", state, () => Promise.resolve(), { proof });
  const run = { signal: new AbortController().signal, whileQueued: (_: string, wait: () => Promise<void>) => wait() };
  const reading = session.read(run, async ({ version, columns }) => {
    const column = columns.get("positions")?.native as CountedColumn;
    return { version, name: column.name, freed: column.freed };
  });
  await session.commit(session.state, { columns: new Map([["positions", second.ref]]) });
  second.ref.release();
  expect(first.column.freed).toBe(true);
  prove();
  expect(await reading).toEqual({ version: 1, name: "second", freed: false });
  session.close();
  expect(second.column.freed).toBe(true);
});
