import { afterAll, beforeAll, expect, test } from "vitest";
import { create, createError, makeApp, refused, rowsOf, type TestApp } from "../../support/app.ts";

let made: TestApp;
beforeAll(async () => {
  made = await makeApp();
});
afterAll(() => made.close());

/** A PTX scan of two columns and two rows at `origin`, its axes those of the file. */
const scan = (origin: readonly [number, number, number], cells: readonly string[]) =>
  [
    "2",
    "2",
    origin.join(" "),
    "1 0 0",
    "0 1 0",
    "0 0 1",
    "1 0 0 0",
    "0 1 0 0",
    "0 0 1 0",
    `${origin.join(" ")} 1`,
    ...cells,
  ].join("\n");
const FIRST = scan([100, 200, 10], ["1 0 0 0.25", "0 1 0 0.5", "0 0 0 0.5", "0 0 -1 1"]);
const SECOND = scan([0, 0, 0], ["5 5 5 0", "6 6 6 0.1", "7 7 7 0.2", "8 8 8 0.3"]);

test("every scan of a file is moved by its own pose; empty cells are sky without a direction", async () => {
  const tail = await create(made, made.file("two.ptx", `${FIRST}\n${SECOND}\n`), { world_shift: [100, 0, 0] });
  expect(tail).toMatchObject({
    total_count: 8,
    point_count: 7,
    has_misses: true,
    miss_count: 1,
    unplaceable_miss_count: 1,
  });
  expect(tail.scan_origin).toEqual([100, 200, 10]);
  expect(tail.scan_params).toMatchObject({ origin: [100, 200, 10], n_theta: 2, n_phi: 2 });
  expect(tail.warnings?.join()).toMatch(/2 scans were merged.*1 sky points have no direction/s);
  const rows = await rowsOf(made, tail.session_id, ["row_index", "column_index", "scan_index", "is_miss"]);
  expect(rows.map((row) => [row.X, row.Y, row.Z])).toEqual([
    [101, 200, 10],
    [100, 201, 10],
    [100, 200, 10],
    [100, 200, 9],
    [5, 5, 5],
    [6, 6, 6],
    [7, 7, 7],
    [8, 8, 8],
  ]);
  expect(rows.map((row) => [row.scan_index, row.column_index, row.row_index, row.is_miss]).slice(0, 5)).toEqual([
    [0, 0, 0, 0],
    [0, 0, 1, 0],
    [0, 1, 0, 1],
    [0, 1, 1, 0],
    [1, 0, 0, 0],
  ]);
});

test("scan_index picks one; beyond the file it is an error naming the count", async () => {
  const file = made.file("pick.ptx", `${FIRST}\n${SECOND}\n`);
  const tail = await create(made, file, { scan_index: 1 });
  expect([tail.total_count, tail.has_misses, tail.scan_origin]).toEqual([4, false, [0, 0, 0]]);
  expect(await createError(made, file, { scan_index: 2 })).toMatch(/scan/);
  const text = await refused(made, "/api/cloud/session/create", {
    source_path: made.file("a.xyz", "1 2 3\n"),
    scan_index: 1,
  });
  expect([text.status, text.detail]).toEqual([400, expect.stringMatching(/holds one scan/)]);
});

test("a preview tells the raster and offers nothing to remap", async () => {
  const file = made.file("look.ptx", FIRST);
  const preview = (
    await made.app.inject({ method: "POST", url: "/api/pointcloud/preview", payload: { file_path: file } })
  ).json();
  expect(preview).toMatchObject({ kind: "ptx", warning: expect.stringMatching(/2 columns and 2 rows/) });
  expect(preview.columns.every((column: { remappable: boolean }) => !column.remappable)).toBe(true);
});
