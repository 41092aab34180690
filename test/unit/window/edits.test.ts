import fc from "fast-check";
import { expect, test } from "vitest";
import { type Edit, Edits } from "../../../backend/window/workflow/edits.ts";
import { TabMemory } from "../../../backend/window/workflow/memory.ts";
import type { Region } from "../../../shared/contract/region.ts";
import { FakeEditService, type Fate } from "../../support/window/fake-edit-service.ts";

const SESSIONS = ["a", "b"];
const region = (n: number): Region => ({ kind: "box", min: [n, 0, 0], max: [n + 1, 1, 1] });

function storage(): Storage {
  const map = new Map<string, string>();
  return {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
    removeItem: (key: string) => void map.delete(key),
  } as Storage;
}

function page(service: FakeEditService, tab: Storage) {
  const seen = { changed: [] as string[], failures: 0, pending: 0, full: 0, noUndo: [] as string[] };
  const edits = new Edits({
    client: service.client,
    memory: new TabMemory(tab, () => {
      seen.full += 1;
    }),
    onChanged: (ids) => void seen.changed.push(...ids),
    onFailure: () => {
      seen.failures += 1;
    },
    onPending: () => {
      seen.pending += 1;
    },
    onNoUndo: (why) => void seen.noUndo.push(why),
  });
  return { edits, seen };
}

const deletion = (n: number, sessions = SESSIONS): Edit => ({
  id: `d${n}`,
  label: null,
  parts: sessions.map((session_id) => ({ session_id, region: region(n), limit_box: null })),
});
const stroke = (n: number, sessions = SESSIONS): Edit => ({
  ...deletion(n, sessions),
  id: `s${n}`,
  label: { slug: "manual_class", to_class: n % 256 },
});

type Step = {
  readonly do: "delete" | "label" | "undo" | "redo" | "reload";
  readonly fates: Fate[];
  readonly one: boolean;
};

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("delete", "label", "undo", "redo", "reload"),
  fates: fc.array(fc.constantFrom<Fate>("answered", "lost before", "lost after"), { maxLength: 3 }),
  one: fc.boolean(),
});

test("whatever is lost on the way, each edit is made once, and undo and redo follow it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const service = new FakeEditService(SESSIONS);
      const tab = storage();
      let { edits } = page(service, tab);
      const model = { made: [] as Edit[], undone: [] as Edit[] };
      let n = 0;
      for (const { do: what, fates, one } of steps) {
        service.fates.push(...fates);
        if (what === "reload") ({ edits } = page(service, tab));
        if (what === "delete" || what === "label") {
          const edit = (what === "delete" ? deletion : stroke)(++n, one ? ["a"] : SESSIONS);
          await edits.make(edit);
          model.made.push(edit);
          model.undone = [];
        }
        const newest = model.made.at(-1);
        if (what === "undo" && newest) {
          await undoUntilDone(edits, service);
          model.undone.unshift(model.made.pop() as Edit);
        }
        const [next] = model.undone;
        if (what === "redo" && next) {
          await edits.redo();
          model.made.push(next);
          model.undone.shift();
        }
        service.fates.length = 0; // the service is back
        await edits.resume(service.summaries());
        expectSame(service, edits, model);
      }
    }),
    { numRuns: 300 },
  );
});

/** A user who presses undo again when it failed. */
async function undoUntilDone(edits: Edits, service: FakeEditService): Promise<void> {
  const before = edits.history.value.made.length;
  for (let tries = 0; edits.history.value.made.length === before; tries += 1) {
    if (tries > 5) throw new Error("undo never ends");
    await edits.undo();
    await edits.resume(service.summaries());
  }
}

function expectSame(service: FakeEditService, edits: Edits, model: { made: Edit[]; undone: Edit[] }): void {
  for (const id of SESSIONS) {
    const of = (isLabel: boolean) =>
      model.made.filter(
        ({ label, parts }) => (label !== null) === isLabel && parts.some(({ session_id }) => session_id === id),
      );
    expect(service.deletions.get(id)).toEqual(of(false).map(({ parts }) => parts[0]?.region));
    const strokes = service.strokes.get(`${id}/manual_class`) ?? [];
    expect(strokes.map(({ stroke_id }) => stroke_id)).toEqual(of(true).map((edit) => edit.id));
  }
  const { made, undone, pending } = edits.history.value;
  expect(pending).toBeNull();
  expect(made.map(({ edit }) => edit.id)).toEqual(model.made.map((edit) => edit.id));
  expect(undone.map((edit) => edit.id)).toEqual(model.undone.map((edit) => edit.id));
}

test("a lost edit is pending, survives a reload and is made when the service is back", async () => {
  const service = new FakeEditService(["a"]);
  const tab = storage();
  const first = page(service, tab);
  service.fates.push("lost before");
  await first.edits.make(deletion(1, ["a"]));
  expect(first.seen).toMatchObject({ pending: 1, failures: 1, changed: [] });
  expect(service.deletions.get("a")).toEqual([]);
  const second = page(service, tab);
  expect(second.edits.history.value.pending).not.toBeNull();
  await second.edits.resume(service.summaries());
  expect(service.deletions.get("a")).toEqual([region(1)]);
  expect(second.seen.changed).toEqual(["a"]);
});

test("a refused edit is dropped and told; clouds before the one that refused can be undone", async () => {
  const service = new FakeEditService(SESSIONS);
  const { edits, seen } = page(service, storage());
  service.fates.push("answered", "refused");
  await edits.make(deletion(1));
  expect(seen).toMatchObject({ failures: 1, pending: 0, changed: ["a"] });
  expect(edits.history.value.pending).toBeNull();
  await edits.undo();
  expect([...service.deletions.values()]).toEqual([[], []]);
  service.fates.push("refused");
  await edits.make(stroke(2, ["b"]));
  expect(edits.history.value).toMatchObject({ made: [], pending: null });
});

test("edits of closed sessions are forgotten, and a full storage is told", async () => {
  const service = new FakeEditService(SESSIONS);
  const { edits, seen } = page(service, storage());
  await edits.make(deletion(1, ["a"]));
  await edits.make(deletion(2, ["b"]));
  await edits.resume(service.summaries().slice(1));
  expect(edits.history.value.made.map(({ edit }) => edit.id)).toEqual(["d2"]);
  const full = { ...storage(), setItem: () => fail() } as Storage;
  const other = page(service, full);
  await other.edits.make(deletion(3, ["b"]));
  expect(other.seen.full).toBeGreaterThan(0);
  expect(seen.full).toBe(0);
});

test("an edit that is drawn while another is pending waits for it, also over a reload", async () => {
  for (const fate of ["lost before", "lost after"] as const) {
    const service = new FakeEditService(["a"]);
    const tab = storage();
    const first = page(service, tab);
    service.fates.push(fate, "lost before");
    await first.edits.make(deletion(1, ["a"]));
    await first.edits.make(deletion(2, ["a"]));
    await first.edits.make(stroke(3, ["a"]));
    service.fates.length = 0;
    const second = page(service, tab);
    await second.edits.resume(service.summaries());
    expect(service.deletions.get("a")).toEqual([region(1), region(2)]);
    expect(service.strokes.get("a/manual_class")).toHaveLength(1);
    expect(second.edits.history.value).toMatchObject({ pending: null, waiting: [] });
    await second.edits.undo();
    await second.edits.undo();
    expect(service.deletions.get("a")).toEqual([region(1)]);
  }
});

test("a refused pending edit does not hold up those that wait", async () => {
  const service = new FakeEditService(["a"]);
  const { edits, seen } = page(service, storage());
  service.fates.push("lost before");
  await edits.make(deletion(1, ["a"]));
  await edits.make(deletion(2, ["a"]));
  service.fates.push("refused");
  await edits.resume(service.summaries());
  expect(service.deletions.get("a")).toEqual([region(2)]);
  expect(seen.failures).toBe(2);
});

test("after an undo without an answer, a new edit can be undone too", async () => {
  const service = new FakeEditService(["a"]);
  const { edits } = page(service, storage());
  await edits.make(deletion(1, ["a"]));
  service.fates.push("lost after");
  await edits.undo();
  await edits.make(deletion(2, ["a"]));
  await edits.resume(service.summaries());
  expect(service.deletions.get("a")).toEqual([region(2)]);
  await edits.undo();
  expect(service.deletions.get("a")).toEqual([]);
});

test("two pages with a deletion each, whose answers a crash took, make both", async () => {
  for (const fates of [
    ["lost after", "lost before"],
    ["lost before", "lost after"],
  ] as const) {
    const service = new FakeEditService(["a"]);
    const pages = [page(service, storage()), page(service, storage())];
    for (const { edits } of pages) await edits.resume(service.summaries());
    for (const [i, { edits }] of pages.entries()) {
      service.fates.push(fates[i] as Fate);
      await edits.make(deletion(i, ["a"]));
    }
    for (const { edits } of pages) await edits.resume(service.summaries());
    expect(service.deletions.get("a")).toHaveLength(2);
    expect(service.deletions.get("a")).toEqual(expect.arrayContaining([region(0), region(1)]));
  }
});

test("two pages with one cloud never undo each other's edits", async () => {
  for (const make of [deletion, stroke]) {
    const service = new FakeEditService(SESSIONS);
    const steps = () => (make === deletion ? service.deletions.get("a") : service.strokes.get("a/manual_class"));
    const [one, other] = [page(service, storage()), page(service, storage())];
    for (const { edits } of [one, other]) await edits.resume(service.summaries());
    await one.edits.make(make(1, ["b"]));
    await one.edits.make(make(2, ["a"]));
    await other.edits.make(make(3, ["a"]));
    await one.edits.undo();
    expect(steps()).toHaveLength(2);
    expect(one.seen.noUndo).toEqual(["elsewhere"]);
    expect(one.edits.history.value.made.map(({ edit }) => edit.id)).toEqual([make(1).id]); // of the other cloud
    await one.edits.make(make(4, ["a"]));
    await one.edits.undo();
    expect(steps()).toHaveLength(2);
    await other.edits.undo(); // its edit is the newest again
    expect(steps()).toHaveLength(1);
  }
});

test("a deletion that the service can no longer undo is told, not called undone", async () => {
  const service = new FakeEditService(["a"]);
  service.kept = 2;
  const { edits, seen } = page(service, storage());
  for (const n of [1, 2, 3]) await edits.make(deletion(n, ["a"]));
  for (let i = 0; i < 3; i += 1) await edits.undo();
  expect(service.deletions.get("a")).toEqual([]);
  expect(seen.noUndo).toEqual(["too old"]);
  expect(edits.history.value.made).toEqual([]);
});

test("when one of two clouds is closed, undo of the other takes back its newest edit", async () => {
  const service = new FakeEditService(SESSIONS);
  const { edits } = page(service, storage());
  await edits.make(deletion(1, ["a"]));
  await edits.make(deletion(2));
  await edits.forget("b");
  await edits.undo();
  expect(service.deletions.get("a")).toEqual([region(1)]);
  expect(service.deletions.get("b")).toEqual([region(2)]);
  expect(edits.history.value).toMatchObject({ made: [{ edit: { id: "d1" } }], undone: [{ id: "d2" }] });
});

test("a pending edit of two clouds is made in the one that is still open", async () => {
  const service = new FakeEditService(SESSIONS);
  const { edits } = page(service, storage());
  service.fates.push("lost before");
  await edits.make(deletion(1));
  await edits.resume(service.summaries().slice(1));
  expect(service.deletions.get("b")).toEqual([region(1)]);
  expect(edits.history.value.made).toMatchObject([{ edit: { id: "d1" }, steps: { b: null } }]);
});

function fail(): never {
  throw new Error("quota");
}
