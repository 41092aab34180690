import { readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLayout } from "../../../backend/cli/batch/las-layout.ts";
import { columnReader, recordBlocks, sliceLas } from "../../../backend/cli/batch/las-records.ts";
import { readLasHeader } from "../../../backend/native/files/readers.ts";
import { folderOfTest } from "../../support/run/folders.ts";

const WKT =
  'PROJCS["ETRS89 / UTM zone 32N",GEOGCS["ETRS89",DATUM["European_Terrestrial_Reference_System_1989",SPHEROID["GRS 1980",6378137,298.257222101]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],UNIT["metre",1],AUTHORITY["EPSG","25832"]]';
const FORMAT_6 = 30;

/** A record before or behind the points. */
function record(user: string, id: number, payload: Buffer, isExtended: boolean): Buffer {
  const head = Buffer.alloc(isExtended ? 60 : 54);
  head.write(user, 2, "latin1");
  head.writeUInt16LE(id, 18);
  if (isExtended) head.writeBigUInt64LE(BigInt(payload.length), 20);
  else head.writeUInt16LE(payload.length, 20);
  return Buffer.concat([head, payload]);
}

function dimension(type: number, name: string): Buffer {
  const row = Buffer.alloc(192);
  row[2] = type;
  row.write(name, 4);
  return row;
}

/** LAS 1.4: columns of withdrawn types before `tree`, coordinate system and columns behind the points if `behind`. */
function lasFile(path: string, behind: boolean): void {
  const columns = [dimension(21, "rgb8"), dimension(14, "pair16"), dimension(30, "xyz64"), dimension(5, "tree")];
  const stride = FORMAT_6 + 3 + 4 + 24 + 4;
  const about = [
    ["LASF_Projection", 2112, Buffer.from(`${WKT}\0`)],
    ["LASF_Spec", 4, Buffer.concat(columns)],
  ] as const;
  const records = about.map(([user, id, payload]) => record(user, id, payload, behind));
  const points = Buffer.alloc(stride * 10);
  for (let i = 0; i < 10; i += 1) {
    points.writeInt32LE(1000 * i, stride * i);
    points.writeUInt32LE(70_000 + i, stride * i + FORMAT_6 + 31);
  }
  const header = Buffer.alloc(375);
  header.write("LASF", 0);
  header.writeUInt16LE(0x10, 6); // the coordinate system is WKT
  header.writeUInt8(1, 24);
  header.writeUInt8(4, 25);
  header.writeUInt16LE(375, 94);
  const padding = Buffer.from([0xdd, 0xcc, 0, 0, 0]); // between records and points
  const data = 375 + (behind ? 0 : records.reduce((sum, { length }) => sum + length, 0)) + padding.length;
  header.writeUInt32LE(data, 96);
  header.writeUInt32LE(behind ? 0 : records.length, 100);
  header.writeUInt8(6, 104);
  header.writeUInt16LE(stride, 105);
  for (const axis of [0, 1, 2]) header.writeDoubleLE(0.001, 131 + 8 * axis);
  header.writeDoubleLE(500_000, 155);
  header.writeDoubleLE(500_009, 179);
  header.writeDoubleLE(500_000, 187);
  header.writeBigUInt64LE(10n, 247);
  if (behind) {
    header.writeBigUInt64LE(BigInt(data + points.length), 235);
    header.writeUInt32LE(records.length, 243);
  }
  writeFileSync(path, Buffer.concat([header, ...(behind ? [] : records), padding, points, ...(behind ? records : [])]));
}

test.each([false, true])(
  "a part of a file keeps coordinate system and columns; records behind the points: %s",
  async (behind) => {
    const folder = folderOfTest("records-");
    const [path, part] = [join(folder, "whole.las"), join(folder, "part.las")];
    lasFile(path, behind);
    expect(await sliceLas([path], [500_003, -1, 500_007, 1], part, new AbortController().signal)).toBe(4);
    const header = await readLasHeader(part).promise;
    expect([header.crs.epsg, header.present_point_count, header.warnings]).toEqual([25832, 4, []]);
    const file = await open(part);
    try {
      const layout = await readLayout(file, part);
      expect(layout.extras.map(({ name, at }) => [name, at - FORMAT_6])).toEqual([
        ["rgb8", 0],
        ["pair16", 3],
        ["xyz64", 7],
        ["tree", 31],
      ]);
      const treeOf = columnReader(layout, "tree");
      const trees: number[] = [];
      for await (const bytes of recordBlocks(file, layout))
        for (let at = 0; at < bytes.length; at += layout.stride) trees.push(treeOf(bytes, at));
      expect(trees).toEqual([70_003, 70_004, 70_005, 70_006]);
    } finally {
      await file.close();
    }
    const bytes = readFileSync(part);
    expect([bytes.readBigUInt64LE(235), bytes.readUInt32LE(243)]).toEqual([0n, 0]);
  },
);

/** A file like that of lasFile, its bytes changed; `tree` is the fourth row of the record of extra columns. */
function changed(path: string, change: (bytes: Buffer, tree: number) => void): void {
  lasFile(path, false);
  const bytes = readFileSync(path);
  change(bytes, bytes.indexOf("tree") - 4);
  writeFileSync(path, bytes);
}

test.each<[string, string, (bytes: Buffer, tree: number) => void]>([
  [
    "another scale",
    "scales, offsets or no-data values",
    (b, t) => void b.writeDoubleLE(0.5, b.writeUInt8(8, t + 3) + 108),
  ],
  [
    "another offset",
    "scales, offsets or no-data values",
    (b, t) => void b.writeDoubleLE(7, b.writeUInt8(16, t + 3) + 132),
  ],
  ["another no-data value", "scales, offsets or no-data values", (b, t) => void b.writeUInt8(1, t + 3)],
  ["another kind of GPS time", "GPS times", (b) => void b.writeUInt16LE(0x11, 6)],
])("files with %s are not joined", async (_, what, change) => {
  const folder = folderOfTest("records-");
  const [one, two] = [join(folder, "one.las"), join(folder, "two.las")];
  lasFile(one, false);
  changed(two, change);
  const joined = sliceLas([one, two], [0, -1, 1e6, 1], join(folder, "part.las"), new AbortController().signal);
  await expect(joined).rejects.toThrow(`two.las has other ${what}`);
});

test("a stated scale of 1 and offset of 0 is that of a column without", async () => {
  const folder = folderOfTest("records-");
  const [one, two] = [join(folder, "one.las"), join(folder, "two.las")];
  lasFile(one, false);
  changed(two, (bytes, tree) => {
    bytes.writeUInt8(24, tree + 3);
    for (const axis of [0, 8, 16]) bytes.writeDoubleLE(1, tree + 112 + axis);
  });
  expect(await sliceLas([one, two], [0, -1, 1e6, 1], join(folder, "part.las"), new AbortController().signal)).toBe(20);
});
