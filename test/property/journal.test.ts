import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Journal, readJournal } from "../../backend/sessions/journal.ts";
import { decodeJournal, encodeRecord, payloadsBehind } from "../../backend/sessions/journal-codec.ts";
import type { JournalRecord } from "../../backend/sessions/journal-records.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { EMPTY_META } from "../support/session/cloud-meta.ts";

const folder = folderOfFile("journal-");

const files = fc.dictionary(
  fc.string({ maxLength: 12 }).filter((key) => key !== "__proto__"),
  fc.string({ maxLength: 8 }),
  { maxKeys: 4 },
);
// What JSON keeps: no -0, no undefined.
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((v) => JSON.parse(JSON.stringify(v)) as unknown),
  fc.string({ unit: "grapheme" }),
);
const meta = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 10 }).filter((key) => key !== "__proto__"),
  value,
  { maxKeys: 4 },
);
const create = fc.record({
  type: fc.constant("create" as const),
  version: fc.constant(1 as const),
  columns: files,
  meta: meta.map((more) => ({ ...more, ...EMPTY_META })),
});
const commit = fc.record({
  type: fc.constant("commit" as const),
  columns: fc.dictionary(
    fc.string({ maxLength: 12 }).filter((key) => key !== "__proto__"),
    fc.option(fc.string({ maxLength: 8 })),
    { maxKeys: 4 },
  ),
  meta,
});
const record = fc
  .oneof(create, commit, fc.constant({ type: "synced" as const }))
  .map((raw) => JSON.parse(JSON.stringify(raw)) as JournalRecord);
const records = fc.array(record, { maxLength: 6 });

test("decoding inverts encoding", () => {
  fc.assert(
    fc.property(records, (list) => {
      const bytes = Buffer.concat(list.map(encodeRecord));
      expect(decodeJournal(bytes)).toMatchObject({ records: list, length: bytes.length });
    }),
  );
});

test("any truncation yields a prefix of the records and the length of exactly that prefix", () => {
  fc.assert(
    fc.property(records, fc.nat(), (list, cut) => {
      const parts = list.map(encodeRecord);
      const whole = Buffer.concat(parts);
      const at = whole.length === 0 ? 0 : cut % (whole.length + 1);
      const decoded = decodeJournal(whole.subarray(0, at));
      const lengths = parts.map((_, i) => Buffer.concat(parts.slice(0, i + 1)).length);
      const kept = lengths.filter((length) => length <= at).length;
      expect(decoded.records).toEqual(list.slice(0, kept));
      expect(decoded.length).toBe(lengths[kept - 1] ?? 0);
    }),
  );
});

test("one flipped bit ends the journal before its record and changes nothing before it", () => {
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.integer({ min: 0, max: 7 }),
      (list, place, bit) => {
        const parts = list.map(encodeRecord);
        const bytes = Buffer.concat(parts);
        const at = place % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
        let end = 0;
        const intact = parts.filter((part) => {
          end += part.length;
          return end <= at;
        }).length;
        const { records: found, length } = decodeJournal(bytes);
        expect(found).toEqual(list.slice(0, intact));
        // Every record behind the damaged one is still found, unless it was the last.
        const behind = payloadsBehind(bytes, length).map((payload) => JSON.parse(payload.toString()) as JournalRecord);
        expect(behind).toEqual(list.slice(intact + 1));
      },
    ),
  );
});

test("random bytes never throw and never become a record", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(decodeJournal(Buffer.from(bytes)).records).toEqual([]);
    }),
  );
});

test("overlapping appends are written one after another in the order of the calls", async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 2, maxLength: 12 }), async (list) => {
      made += 1;
      const path = join(folder, `overlap-${made}`);
      const journal = await Journal.create(path);
      await Promise.all(list.map((one) => journal.append(one)));
      await journal.close();
      expect(decodeJournal(readFileSync(path)).records).toEqual(list);
    }),
    { numRuns: 20 },
  );
});

test("opening cuts off a torn tail, and later appends are found", async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(create, records, fc.uint8Array({ maxLength: 60 }), record, async (first, list, garbage, next) => {
      made += 1;
      const own = join(folder, `recovered-${made}`);
      mkdirSync(own);
      const path = join(own, "journal.log");
      const good = JSON.parse(JSON.stringify([first, ...list])) as JournalRecord[];
      writeFileSync(path, Buffer.concat([...good.map(encodeRecord), garbage]));
      const contents = await readJournal(path);
      expect(contents).toMatchObject({ records: good, damage: undefined });
      const journal = await Journal.open(path, contents);
      await journal.append(next);
      await journal.close();
      expect(decodeJournal(readFileSync(path)).records).toEqual([...good, next]);
    }),
    { numRuns: 30 },
  );
});

test("a closed journal writes nothing, and may be closed again", async () => {
  const own = join(folder, "closed");
  mkdirSync(own);
  const path = join(own, "journal.log");
  const journal = await Journal.create(path);
  const first: JournalRecord = { type: "create", version: 1, columns: {}, meta: EMPTY_META };
  await journal.append(first);
  await journal.close();
  await journal.close();
  const other = join(own, "other"); // opened next, so it may get the descriptor of the mark
  writeFileSync(other, "untouched");
  const held = openSync(other, "r+");
  await expect(journal.replace([first, first])).rejects.toMatchObject({ code: "io" });
  closeSync(held);
  expect(readFileSync(other, "utf8")).toBe("untouched");
  expect((await readJournal(path)).records).toEqual([first]);
});

test("a journal that is written while it is read is whole up to some record, never damaged", async () => {
  const path = join(folder, "busy", "journal.log");
  mkdirSync(join(folder, "busy"));
  const journal = await Journal.create(path);
  const first = { type: "create", version: 1, columns: {}, meta: EMPTY_META } as const;
  await journal.append(first);
  let written = 1;
  let done = false;
  let reads = 0;
  const writing = (async () => {
    for (let i = 0; i < 200 || reads < 20; i += 1) {
      await journal.append({ type: "commit", columns: {}, meta: {} });
      written += 1;
      if (i % 50 === 49) {
        await journal.replace([first]);
        written = 1;
      }
    }
    done = true;
  })();
  while (!done) {
    const { records, damage } = await readJournal(path);
    expect(damage, `after ${written} records`).toBeUndefined();
    expect(records[0]?.type).toBe("create");
    reads += 1;
  }
  await writing;
  await journal.close();
  expect(reads).toBeGreaterThanOrEqual(20);
});
