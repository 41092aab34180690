import { describe, expect, test, vi } from "vitest";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { create, createError, rowsOf, run, scanFile } from "../../support/app/app.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { type LasOptions, type LasRow, lasBytes } from "../../support/scans/las-bytes.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
/** A LAS file of points in a row along x, each with what `of` says. */
const las = (count: number, of: (i: number) => Partial<LasRow> = () => ({}), options: LasOptions = {}) => {
  const rows = Array.from({ length: count }, (_, i) => ({ x: i, y: 0, z: 0, ...of(i) }));
  return scanFile(made, lasBytes(rows, options));
};
const slugs = async (id: string) =>
  (await made.deps.sessions.get(id)).state.meta.extra_dims_meta.map(({ slug }) => slug);

describe("sizes and coordinates at their limits", () => {
  test("a session without points supports all operations", async () => {
    const tail = await create(made, las(0));
    expect(tail).toMatchObject({
      point_count: 0,
      total_count: 0,
      ground_z: null,
      robust_bounds: null,
      robust_extent: null,
      tight_bounds: null,
      warnings: ["The file contains no points."],
    });
    expect(await slugs(tail.session_id)).toEqual([]);
    const answer = await made.app.inject({
      method: "POST",
      url: `/api/cloud/session/${tail.session_id}/rebuild_octree`,
    });
    expect([answer.statusCode, (answer.json() as { point_count: number }).point_count]).toEqual([200, 0]);
  });

  test("one point, and a thousand points at the same position", async () => {
    const one = await create(
      made,
      las(1, () => ({ x: 7, y: 8, z: 9 })),
    );
    expect(one).toMatchObject({ point_count: 1, point_spacing: null, ground_z: 9, robust_extent: [0, 0, 0] });
    expect(octreePoints(made.octrees, one.cache_id)).toEqual([[7, 8, 9]]);
    const same = await create(
      made,
      las(1000, () => ({ x: 7 })),
    );
    expect(same).toMatchObject({
      point_count: 1000,
      point_spacing: 0,
      tight_bounds: { min: [7, 0, 0], max: [7, 0, 0] },
    });
  });

  test("every point twice: the spacing is that of different positions, with a warning", async () => {
    const tail = await create(
      made,
      las(2000, (i) => ({ x: Math.floor(i / 2) * 0.25 })),
    );
    expect(tail.point_spacing).toBeCloseTo(0.25, 9);
    expect(tail.warnings).toContainEqual(expect.stringContaining("share their position"));
  });

  test("10 000 km from the origin in steps of 0.1 mm: octree and export are right to half a step", async () => {
    const offset = [1e7, -1e7, 0] as const;
    const at = (i: number) => ({ x: 1e7 + i * 0.0001, y: -1e7 - i * 0.0003, z: i * 0.0007 });
    const tail = await create(made, las(50, at, { scale: 0.0001, offset }));
    expect(Math.max(...tail.scale)).toBeLessThanOrEqual(0.0001);
    const points = octreePoints(made.octrees, tail.cache_id).sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
    const back = await rowsOf(made, tail.session_id);
    for (const [i, { X = 0, Y = 0, Z = 0 }] of back.entries()) {
      const { x, y, z } = at(i);
      // Half a step, and the last digit of a float64 of ten million.
      for (const [got, want] of [
        [X, x],
        [Y, y],
        [Z, z],
        [points[i]?.[0], x],
        [points[i]?.[1], y],
        [points[i]?.[2], z],
      ]) {
        expect(Math.abs((got ?? Number.NaN) - (want ?? 0))).toBeLessThanOrEqual(0.00005 + 4e-9);
      }
    }
  });

  test.each([
    [4, 3],
    [1e9, 3],
  ])(
    "a header that declares %s points for %s: the existing points are read, with a warning",
    async (declared, present) => {
      const tail = await create(
        made,
        las(present, () => ({}), { declared }),
      );
      expect(tail.total_count).toBe(present);
      expect(tail.warnings?.join(" ")).toMatch(new RegExp(`${declared}`));
    },
  );

  test("a file cut at any hundredth byte opens with fewer points or is rejected by name, without hanging or crashing", async () => {
    const whole = lasBytes(Array.from({ length: 8 }, (_, i) => ({ x: i, y: 0, z: 0 })));
    for (let length = 0; length < whole.length; length += 31) {
      const file = made.file("cut.las", whole.subarray(0, length));
      const answer = await create(made, file).then(
        (tail) => tail.total_count,
        (error: Error) => error.message,
      );
      if (typeof answer === "number") expect(answer).toBeLessThan(8);
      else expect(answer).toMatch(/cut\.las/);
    }
  });

  test("a coordinate step that is zero or not a number is rejected", async () => {
    for (const scale of [0, Number.NaN]) {
      const bytes = lasBytes([{ x: 1, y: 2, z: 3 }]);
      bytes.writeDoubleLE(scale, 131);
      expect(await createError(made, made.file("scale.las", bytes))).toMatch(/scale\.las.*scale/);
    }
  });
});

test("a cancel during publishing removes the session, because no client knows its id", async () => {
  const { octreeCache, jobs, sessions } = made.deps;
  const before = sessions.list().length;
  const pins = vi.spyOn(octreeCache, "writePins").mockImplementationOnce(async () => jobs.cancelAll());
  try {
    const file = made.file("late.xyz", "1 2 3\n4 5 6\n");
    const { outcome } = await run(made, "/api/cloud/session/create", { source_path: file });
    expect(outcome.kind).toBe("canceled");
  } finally {
    pins.mockRestore();
  }
  expect(sessions.list().length).toBe(before);
});

test("more columns than a session can have are refused; a plan chooses among them", async () => {
  const names = Array.from({ length: 4200 }, (_, column) => `c${column}`);
  const path = scanFile(made, [
    ["x", "y", "z", ...names].join(" "),
    ...[1, 2].map((row) => [row, row, row, ...names.map((_, column) => (row + column) % 7)].join(" ")),
  ]);
  expect(await createError(made, path)).toMatch(
    /^the file has 4\d{3} columns, more than the 4096 of a session; .*column_plan or drop_slugs/,
  );
  const columns = ["x", "y", "z"].map((role, index) => ({ index, role }));
  const chosen = [...columns, { index: 4202, role: "extra", slug: "last" }];
  const { session_id } = await create(made, path, { column_plan: { columns: chosen } });
  expect((await made.deps.sessions.get(session_id)).state.columns.has(extraKey("last"))).toBe(true);
});
