import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as edit from "../../../../backend/native/cloud/edit.ts";
import { addon } from "../../../../backend/native/core/addon.ts";
import type { DType, NativeColumn } from "../../../../backend/native/core/handles.ts";
import { folderOfTest } from "../../../support/run/folders.ts";

const arrays = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
  vec3d: Float64Array,
  rgb16: Uint16Array,
} as const;

function column(dtype: keyof typeof arrays, values: readonly number[]): NativeColumn {
  return new addon.Column(dtype, new Uint8Array(new arrays[dtype](values).buffer));
}

function values(from: NativeColumn): number[] {
  const bytes = new Uint8Array(from.bytes);
  from.readInto(bytes, 0);
  if (from.dtype === "u64" || from.dtype === "i64") throw new Error("not read here");
  return [...new arrays[from.dtype](bytes.buffer)];
}

const positions = () => column("vec3d", [0, 0, 0, 1, 1, 1, 2, 2, 2, Number.NaN, 0, 0]);
const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const screen = { projection: identity, view: identity, width: 100, height: 100 };
const box = { kind: "box", min: [0, 0, 0], max: [1, 1, 1], invert: false } as const;
const threeRows = () => ({ encoding: "rows", data: column("u32", [1]), count: 1 }) as const;

describe("selecting and deleting", () => {
  test("boxes, screen shapes and filters are combined with and", async () => {
    const select = async (regions: edit.NativeRegion[], filters: edit.NativeFilter[] = []) =>
      values(await edit.selectRows({ positions: positions(), regions, filters }).promise);
    expect(await select([])).toEqual([1, 1, 1, 1]);
    expect(await select([box])).toEqual([1, 1, 0, 0]);
    expect(await select([{ ...box, invert: true }])).toEqual([0, 0, 1, 1]);
    const polygon = [
      [40, 40],
      [60, 40],
      [60, 60],
      [40, 60],
    ];
    expect(await select([{ kind: "polygon", points: polygon, screen, invert: false }])).toEqual([1, 0, 0, 0]);
    const squares = { kind: "squares_union", centers: [[100, 0]], half_sizes: [1], screen, invert: false } as const;
    expect(await select([squares])).toEqual([0, 1, 0, 0]);
    const filter = { column: column("f32", [0, 1.5, 2.5, Number.NaN]), min: -Infinity, max: Infinity, values: [] };
    expect(await select([], [filter])).toEqual([1, 1, 1, 0]);
    expect(await select([], [{ ...filter, values: [2] }])).toEqual([0, 1, 1, 0]);
    expect(await select([box], [{ ...filter, min: 1 }])).toEqual([0, 1, 0, 0]);
  });

  test("rows are deleted, encoded and restored as a mask", async () => {
    const selected = column("u8", [1, 1, 1, 0]);
    const deletion = await edit.deleteRows(selected, column("f32", [0, 1, 0, 0]), column("u8", [1, 0, 0, 0])).promise;
    expect(values(deletion.deleted)).toEqual([1, 0, 1, 0]);
    expect(deletion).toMatchObject({ selected_hit_count: 2, rows: { count: 1 } });
    expect(values(await edit.unionRows(4, column("u8", [1, 0, 0, 0]), [deletion.rows]).promise)).toEqual([1, 0, 1, 0]);
    const all = await edit.encodeRows(column("u8", new Array(64).fill(1))).promise;
    expect(all).toMatchObject({ encoding: "runs", count: 64 });
    expect(values(all.data)).toEqual([0, 64]);
    const empty = await edit.encodeRows(column("u8", [])).promise;
    expect(empty).toMatchObject({ encoding: "rows", count: 0 });
    expect(empty.data.length).toBe(0);
  });
});

describe("labels", () => {
  test("a stroke paints and is undone", async () => {
    const stroke = { regions: [], to_class: 300, from_classes: null, exclude_classes: [2] };
    const sequence = {
      column: column("u8", [0, 1, 2, 0]),
      positions: positions(),
      skip: column("u8", [0, 0, 0, 1]),
      strokes: [stroke],
      max_history_bytes: 0, // one stroke is painted, whatever its history
    };
    const paint = async (more: Partial<edit.StrokeSequence>) => {
      const { column: after, changes } = await edit.paintStrokes({ ...sequence, ...more }).promise;
      return { column: after, ...(changes.at(-1) as edit.StrokeChange) };
    };
    const painted = await paint({});
    expect(painted.column.dtype).toBe("u16");
    expect(values(painted.column)).toEqual([300, 300, 2, 0]);
    expect(values(painted.previous)).toEqual([0, 1]);
    expect(painted).toMatchObject({ selected_count: 3, rows: { count: 2 } });
    expect(values(await edit.setLabels(painted.column, painted.rows, painted.previous).promise)).toEqual([0, 1, 2, 0]);
    const fresh = await paint({ column: null, strokes: [{ ...stroke, to_class: 5, from_classes: [0] }] });
    expect([fresh.column.dtype, values(fresh.column), values(fresh.previous)]).toEqual(["u8", [5, 5, 5, 0], [0]]);
    const two = { strokes: [stroke, { ...stroke, to_class: 1, regions: [box] }] };
    const both = await paint({ ...two, max_history_bytes: 64 });
    expect(values(both.column)).toEqual([1, 1, 2, 0]);
    expect(values(both.previous)).toEqual([300]);
    await expect(paint({ ...two, max_history_bytes: 5 })).rejects.toThrow(
      "the undo history of the first 2 of 2 strokes exceeds 5 bytes; send the strokes in several requests",
    );
    expect(values(sequence.column)).toEqual([0, 1, 2, 0]);
  });

  test("classes are counted and split", async () => {
    const classes = column("f32", [2, 0.5, 7, 2, Number.NaN]);
    const skip = column("u8", [0, 0, 0, 0, 0]);
    expect(await edit.classCounts(classes, skip).promise).toEqual({ values: [0, 2, 7], counts: [1, 2, 1] });
    const groups = await edit.categoricalSplit(classes, null, [0]).promise;
    expect(groups).toMatchObject({ values: [2, 7], counts: [2, 1] });
    expect(values(groups.order)).toEqual([0, 3, 2]);
    const [taken] = await edit.takeRows(
      [column("rgb16", [0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 5])],
      groups.order,
      1,
      2,
    ).promise;
    expect(values(taken as NativeColumn)).toEqual([0, 0, 4, 0, 0, 3]);
  });
});

describe("complete columns", () => {
  test("rows are dropped from every column", async () => {
    const [xyz, u16] = await edit.compactColumns([positions(), column("u16", [1, 2, 3, 4])], column("u8", [0, 1, 0, 1]))
      .promise;
    expect(values(xyz as NativeColumn)).toEqual([0, 0, 0, 2, 2, 2]);
    expect(values(u16 as NativeColumn)).toEqual([1, 3]);
  });

  test("parts are joined as the requested type; values that do not fit are refused", async () => {
    const part = { rows: 2, drop: null, offset: [0, 0, 0] as const, fill: null };
    const parts = [
      { ...part, column: column("u8", [1, 2]), drop: column("u8", [1, 0]) },
      { ...part, column: null },
      { ...part, column: column("i16", [7, 300]) },
    ];
    const joined = await edit.concatColumns(parts, { dtype: "u16", fill: 9 }).promise;
    expect([joined.dtype, values(joined)]).toEqual(["u16", [2, 9, 9, 7, 300]]);
    await expect(edit.concatColumns(parts, { dtype: "u8", fill: 9 }).promise).rejects.toMatchObject({
      code: "invalid_argument",
      message: "value 300 of row 1 does not fit u8",
    });
    const moved = {
      column: column("vec3d", [1, 2, 3]),
      rows: 1,
      drop: null,
      offset: [10, 20, 30] as const,
      fill: null,
    };
    expect(values(await edit.concatColumns([moved], { dtype: "vec3d", fill: 0 }).promise)).toEqual([11, 22, 33]);
  });

  test("positions, normals and scalars are transformed", async () => {
    const matrix = [0, -1, 0, 10, 1, 0, 0, 20, 0, 0, 1, 30];
    expect(values(await edit.transformPositions(column("vec3d", [1, 2, 3]), matrix).promise)).toEqual([8, 21, 33]);
    const one = (v: number) => column("f32", [v]);
    const turned = await edit.transformNormals([one(1), one(0), one(0)], [0, -1, 0, 1, 0, 0, 0, 0, 1]).promise;
    expect(turned.map((c) => values(c)[0])).toEqual([0, 1, 0]);
    expect(values(await edit.verticality(column("f64", [1, 0, -2])).promise)).toEqual([0, 90, 0]);
    const scaled = await edit.scaleColumn(column("u8", [3]), 0.5).promise;
    expect([scaled.dtype, values(scaled)]).toEqual(["f32", [1.5]]);
    const rescaled = await edit.rescaleU16(column("u16", [0, 10, 65535]), 2, 5.5).promise;
    expect([rescaled.dtype, values(rescaled)]).toEqual(["u16", [6, 26, 65535]]);
    const mapped = await edit.mapValues(column("f32", [3, 1, 2]), [1, 3], [0, 70_000]).promise;
    expect([mapped.dtype, values(mapped)]).toEqual(["u32", [70_000, 0, 0]]);
  });
});

test("an octree is translated into a staging folder", async () => {
  const base = folderOfTest("translate-");
  const [folder, staging] = [join(base, "a"), join(base, "b")];
  await Promise.all([mkdir(folder), mkdir(staging)]);
  const cloud = column("vec3d", [0.001, 0.002, 0.003, 1, 2, 3]);
  await addon.octreeBuild(
    { positions: cloud, skip: null, attributes: [] },
    { scale: 0.001, leaf_capacity: 100 },
    folder,
  ).promise;
  expect(await edit.octreeTranslate(folder, staging, [0.5, 0, -1]).promise).toBeNull();
  const metadata = JSON.parse(await readFile(join(staging, "metadata.json"), "utf8"));
  expect(metadata.attributes[0]).toMatchObject({ min: [0.501, 0.002, -0.997], max: [1.5, 2, 2] });
  expect(await readFile(join(staging, "hierarchy.bin"))).toEqual(await readFile(join(folder, "hierarchy.bin")));
  await expect(edit.octreeTranslate(join(base, "none"), staging, [0, 0, 0]).promise).rejects.toMatchObject({
    code: "not_found",
  });
});

/** Calls that must throw at once, or end their job, with an error that has a code. */
const u8 = () => column("u8", [0, 1]);
const sequence = (to_class = 1) => ({
  column: null,
  positions: positions(),
  skip: null,
  strokes: [{ regions: [], to_class, from_classes: null, exclude_classes: [] }],
  max_history_bytes: 100,
});
const part = () => ({ column: u8(), rows: 2, drop: null, offset: [0, 0, 0], fill: null });
const badCalls: Record<
  string,
  (native: Record<string, (...args: unknown[]) => { promise: Promise<unknown> }>) => unknown
> = {
  "selectRows without arguments": (n) => n.selectRows?.().promise,
  "selectRows of a number": (n) => n.selectRows?.(7).promise,
  "selectRows with u8 positions": (n) => n.selectRows?.({ positions: u8(), regions: [], filters: [] }).promise,
  "selectRows without filters": (n) => n.selectRows?.({ positions: positions(), regions: [] }).promise,
  "selectRows of a sphere": (n) =>
    n.selectRows?.({ positions: positions(), regions: [{ kind: "sphere", invert: false }], filters: [] }).promise,
  "selectRows of a box of strings": (n) =>
    n.selectRows?.({ positions: positions(), regions: [{ ...box, min: ["0", "0", "0"] }], filters: [] }).promise,
  "selectRows of a short polygon": (n) =>
    n.selectRows?.({
      positions: positions(),
      regions: [{ kind: "polygon", points: [[0, 0]], screen, invert: false }],
      filters: [],
    }).promise,
  "selectRows with a matrix of 15": (n) =>
    n.selectRows?.({
      positions: positions(),
      regions: [
        {
          kind: "squares_union",
          centers: [[0, 0]],
          half_sizes: [1],
          screen: { ...screen, view: identity.slice(1) },
          invert: false,
        },
      ],
      filters: [],
    }).promise,
  "selectRows with a short filter": (n) =>
    n.selectRows?.({
      positions: positions(),
      regions: [],
      filters: [{ column: u8(), min: 0, max: 1, values: [] }],
    }).promise,
  "deleteRows of f32": (n) => n.deleteRows?.(column("f32", [1]), null, null).promise,
  "deleteRows of other lengths": (n) => n.deleteRows?.(u8(), column("u8", [1]), null).promise,
  "unionRows of minus one": (n) => n.unionRows?.(-1, null, []).promise,
  "unionRows with a row beyond the end": (n) => n.unionRows?.(1, null, [threeRows()]).promise,
  "unionRows of words": (n) => n.unionRows?.(4, null, [{ ...threeRows(), encoding: "words" }]).promise,
  "unionRows of more rows than memory": (n) => n.unionRows?.(2 ** 52, null, []).promise,
  "encodeRows of an object": (n) => n.encodeRows?.({}).promise,
  "paintStrokes of a fraction": (n) => n.paintStrokes?.(sequence(0.5)).promise,
  "paintStrokes of triples": (n) => n.paintStrokes?.({ ...sequence(), column: positions() }).promise,
  "paintStrokes without strokes": (n) => n.paintStrokes?.({ ...sequence(), strokes: null }).promise,
  "setLabels with two values for one row": (n) => n.setLabels?.(u8(), threeRows(), u8()).promise,
  "classCounts of triples": (n) => n.classCounts?.(positions(), null).promise,
  "compactColumns of unequal columns": (n) => n.compactColumns?.([positions()], u8()).promise,
  "compactColumns of null": (n) => n.compactColumns?.(null, u8()).promise,
  "categoricalSplit without exclude": (n) => n.categoricalSplit?.(u8(), null).promise,
  "takeRows beyond the order": (n) => n.takeRows?.([u8()], column("u32", [0]), 0, 2).promise,
  "takeRows of a row that is not there": (n) => n.takeRows?.([u8()], column("u32", [2]), 0, 1).promise,
  "takeRows with u8 order": (n) => n.takeRows?.([u8()], u8(), 0, 1).promise,
  "concatColumns of an unknown type": (n) => n.concatColumns?.([part()], { dtype: "u7", fill: 0 }).promise,
  "concatColumns of colours as u8": (n) =>
    n.concatColumns?.([{ ...part(), column: column("rgb16", [1, 2, 3]), rows: 1 }], { dtype: "u8", fill: 0 }).promise,
  "transformPositions with NaN": (n) => n.transformPositions?.(positions(), new Array(12).fill(Number.NaN)).promise,
  "transformNormals of bytes": (n) => n.transformNormals?.([u8(), u8(), u8()], [1, 0, 0, 0, 1, 0, 0, 0, 1]).promise,
  "transformNormals of two columns": (n) => n.transformNormals?.([u8(), u8()], [1, 0, 0, 0, 1, 0, 0, 0, 1]).promise,
  "verticality of triples": (n) => n.verticality?.(positions()).promise,
  "scaleColumn by a string": (n) => n.scaleColumn?.(u8(), "2").promise,
  "rescaleU16 of bytes": (n) => n.rescaleU16?.(u8(), 1, 0).promise,
  "rescaleU16 by nothing": (n) => n.rescaleU16?.(u8(), Number.NaN, 0).promise,
  "mapValues to a fraction": (n) => n.mapValues?.(u8(), [1], [0.5]).promise,
  "mapValues by a number": (n) => n.mapValues?.(u8(), 1, [1]).promise,
  "octreeTranslate onto itself": (n) => n.octreeTranslate?.("/a", "/a", [0, 0, 0]).promise,
  "octreeTranslate by two numbers": (n) => n.octreeTranslate?.("/a", "/b", [0, 0]).promise,
};

test.each(Object.keys(badCalls))("%s is an error with a code", async (name) => {
  const native = addon as unknown as Parameters<(typeof badCalls)[string]>[0];
  const error = await (async () => badCalls[name]?.(native))().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  const code = name.endsWith("memory") ? "out_of_memory" : "invalid_argument";
  expect(error).toMatchObject({ code });
});

test("a released column is an error, not a crash", () => {
  const mask = u8();
  mask.release();
  expect(() => edit.encodeRows(mask)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
});

test("a job is canceled", async () => {
  const dtype: DType = "u8";
  const mask = new addon.Column(dtype, new Uint8Array(20_000_000).fill(1));
  const job = edit.encodeRows(mask);
  job.cancel();
  await expect(job.promise).rejects.toMatchObject({ code: "canceled" });
});
