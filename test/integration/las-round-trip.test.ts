import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DuplicateResponse } from "../../shared/contract/cloud-session/duplicate.ts";
import { ExtractResponse } from "../../shared/contract/cloud-session/extract.ts";
import { MergeResponse } from "../../shared/contract/cloud-session/merge.ts";
import { create, exportTail } from "../support/app/app.ts";
import { DATA, isQuick } from "../support/scans/data-folder.ts";
import { lasFiles, losses, sourceRecords, writtenRecords } from "../support/scans/las-losses.ts";
import { fieldBytes, type RawLas, readRawLas } from "../support/scans/las-records.ts";
import { deadCopy, restartWith, untouched } from "../support/session/dead-session.ts";
import { answered, slab } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/** Files written back field by field, compared on raw records with decoders that are not ours (las-records.ts). */

const made = sessionTest();

describe("every LAS and LAZ file of the test data", () => {
  const files = lasFiles().filter(isQuick);
  test.skipIf(files.length > 0)("skipped: the test data is not there (APP_TEST_DATA)", () => undefined);
  test.runIf(files.length > 0)("there are enough", () => expect(files.length).toBeGreaterThan(55));
  test.each(files)("%s", async (file) => {
    const source = await sourceRecords(file);
    const { session_id, warnings = [] } = await create(made, join(DATA, file));
    for (const format of ["las", "laz"] as const)
      expect(losses(source, await writtenRecords(made, session_id, format)), format).toEqual([]);
    const waveforms = [4, 5, 9, 10].includes(source.format);
    expect(warnings.some((warning) => warning.includes("has waveforms"))).toBe(waveforms);
  });
});

/** A file whose points have the same value in every field but the position. Each format has all its fields set. */
function uniform(format: number, change: Partial<Record<string, number>> = {}, count = 6): Buffer {
  const modern = format >= 6;
  const header = modern ? 375 : 227;
  const { length, values } = fieldBytes(format, { ...VALUES, ...change });
  const file = Buffer.alloc(header + count * length);
  file.write("LASF", 0);
  file.writeUInt8(1, 24);
  file.writeUInt8(modern ? 4 : 2, 25);
  file.writeUInt16LE(header, 94);
  file.writeUInt32LE(header, 96);
  file.writeUInt8(format, 104);
  file.writeUInt16LE(length, 105);
  if (modern) file.writeBigUInt64LE(BigInt(count), 247);
  else file.writeUInt32LE(count, 107);
  for (let axis = 0; axis < 3; axis += 1) file.writeDoubleLE(0.01, 131 + 8 * axis);
  for (let i = 0; i < count; i += 1) {
    values.copy(file, header + i * length);
    for (let axis = 0; axis < 3; axis += 1)
      file.writeInt32LE(axis === 0 ? 100 * i : axis, header + i * length + 4 * axis);
  }
  return file;
}

const VALUES = {
  intensity: 300,
  return_number: 4,
  number_of_returns: 4,
  scan_direction_flag: 1,
  edge_of_flight_line: 1,
  classification: 11,
  synthetic: 1,
  key_point: 1,
  withheld: 1,
  overlap: 1,
  scanner_channel: 2,
  scan_angle_rank: -12,
  scan_angle: -2000,
  user_data: 7,
  point_source_id: 22,
  gps_time: 1234.5,
  red: 100,
  green: 200,
  blue: 300,
  nir: 500,
};

describe.each([0, 1, 2, 3, 6, 7, 8])("constant fields of point format %i", (format) => {
  const open = async (name: string, change = {}) =>
    (await create(made, made.file(`${format}-${name}.las`, uniform(format, change)))).session_id;
  const rowsFrom = (source: RawLas, rows: readonly number[]): RawLas => ({
    ...source,
    count: rows.length,
    fields: new Map([...source.fields].map(([name, values]) => [name, rows.map((row) => values[row] ?? 0)])),
  });

  test("are written back after edits, in children and after a crash", async () => {
    const source = await readRawLas(uniform(format));
    expect([...source.fields].filter(([name, values]) => !/^[XYZ]$/.test(name) && Number(values[0]) === 0)).toEqual([]);
    const id = await open("a");
    expect(losses(source, await writtenRecords(made, id, "laz"))).toEqual([]);
    await made.remove(id, 1, 1);
    const kept = rowsFrom(source, [0, 2, 3, 4, 5]);
    expect(losses(kept, await writtenRecords(made, id, "las"))).toEqual([]);
    const copy = await answered(made, DuplicateResponse, `/api/cloud/session/${id}/duplicate`, {});
    const duplicate = copy.duplicate?.session_id ?? "";
    expect(losses(kept, await writtenRecords(made, duplicate, "las"))).toEqual([]);
    const url = `/api/cloud/session/${id}/extract`;
    const { extracted } = await answered(made, ExtractResponse, url, { region: slab(2, 3) });
    expect(losses(rowsFrom(source, [2, 3]), await writtenRecords(made, extracted?.session_id ?? "", "las"))).toEqual(
      [],
    );
    const restarted = await restartWith(await deadCopy(made, id), { [id]: untouched });
    try {
      expect(losses(kept, await writtenRecords(restarted, id, "laz"))).toEqual([]);
    } finally {
      await restarted.close();
    }
  });

  test("that differ between merged clouds become columns", async () => {
    const other = { classification: 2, gps_time: 99, withheld: 0, return_number: 1 };
    const [a, b, c] = [await open("a"), await open("b", other), await open("c")];
    const merge = async (session_ids: string[]) =>
      (await answered(made, MergeResponse, "/api/cloud/session/merge", { session_ids })).merged.session_id;
    const [first, second] = [await readRawLas(uniform(format)), await readRawLas(uniform(format, other))];
    const joined = (x: RawLas, y: RawLas): RawLas => ({
      ...x,
      count: x.count + y.count,
      fields: new Map([...x.fields].map(([name, values]) => [name, [...values, ...(y.fields.get(name) ?? [])]])),
    });
    const varied = await merge([a, b]);
    expect(losses(joined(first, second), await writtenRecords(made, varied, "las"))).toEqual([]);
    expect(losses(joined(first, first), await writtenRecords(made, await merge([a, c]), "las"))).toEqual([]);
    const third = await merge([varied, c]); // a column and a constant
    expect(losses(joined(joined(first, second), first), await writtenRecords(made, third, "las"))).toEqual([]);
  });
});

test("the answer of create lists them, and other formats name what they leave out", async () => {
  const tail = await create(made, made.file("constants.las", uniform(1)));
  expect(tail.constant_dimensions).toContainEqual({ name: "classification", value: 11 });
  expect(tail.attributes.map(({ name }) => name)).not.toContain("las_classification");
  const { session_id } = tail;
  const csv = await exportTail(made, { source: { session_id }, format: "csv" });
  expect(csv.warnings?.join()).toMatch(/the same for every point: .*classification 11.* las and laz store/);
});

test("flags that vary are kept, but not shown unless they get a label", async () => {
  const half = uniform(6);
  for (let i = 0; i < 3; i += 1) half.writeUInt8(half.readUInt8(375 + 30 * i + 15) & ~4, 375 + 30 * i + 15);
  const path = made.file("flags.las", half);
  const source = await readRawLas(half);
  const shown = async (wishes: object) => {
    const tail = await create(made, path, wishes);
    expect(losses(source, await writtenRecords(made, tail.session_id, "las"))).toEqual([]);
    return tail.attributes.some(({ name }) => name === "las_withheld");
  };
  expect(await shown({})).toBe(false);
  expect(await shown({ scalar_labels: { las_withheld: "Withheld" } })).toBe(true);
});

test("the dimensions of a second Extra Bytes record keep their names", async () => {
  const raw = await readRawLas(secondRecord());
  expect([...raw.fields.keys()].slice(-2)).toEqual(["amplitude", "confidence"]);
  const tail = await create(made, made.file("second.las", secondRecord()));
  expect(tail.attributes.map(({ name }) => name)).toContain("confidence");
  expect(losses(raw, await writtenRecords(made, tail.session_id, "las"))).toEqual([]);
});

/** Two Extra Bytes records of one dimension each. */
function secondRecord(): Buffer {
  const plain = uniform(6);
  const vlr = (name: string) => {
    const bytes = Buffer.alloc(54 + 192);
    bytes.write("LASF_Spec", 2);
    bytes.writeUInt16LE(4, 18);
    bytes.writeUInt16LE(192, 20);
    bytes.writeUInt8(3, 54 + 2); // u16
    bytes.write(name, 54 + 4);
    return bytes;
  };
  const points = Array.from({ length: 6 }, (_, i) => {
    const record = Buffer.alloc(34);
    plain.copy(record, 0, 375 + 30 * i, 375 + 30 * (i + 1));
    record.writeUInt16LE(1000 + i, 30);
    record.writeUInt16LE(9 * i, 32);
    return record;
  });
  const header = Buffer.from(plain.subarray(0, 375));
  header.writeUInt32LE(375 + 2 * 246, 96);
  header.writeUInt32LE(2, 100);
  header.writeUInt16LE(34, 105);
  return Buffer.concat([header, vlr("amplitude"), vlr("confidence"), ...points]);
}
