import { expect, test } from "vitest";
import { create, createError, refused, rowsOf } from "../../support/app/app.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { e57Bytes, e57Element, e57Points, e57Pose, sealed } from "../../support/scans/e57-bytes.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();

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

test("every scan of a file is moved by its own pose; empty cells are misses without a direction", async () => {
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

test("scan_index selects one scan; an index beyond the file is an error that names the count", async () => {
  const file = made.file("pick.ptx", `${FIRST}\n${SECOND}\n`);
  const tail = await create(made, file, { scan_index: 1 });
  expect([tail.total_count, tail.has_misses, tail.scan_origin]).toEqual([4, false, [0, 0, 0]]);
  expect(await createError(made, file, { scan_index: 2 })).toMatch(/scan/);
  const text = await refused(made, "/api/cloud/session/create", {
    source_path: made.file("a.xyz", "1 2 3\n"),
    scan_index: 1,
  });
  expect([text.status, text.detail]).toEqual([400, expect.stringMatching(/contains one scan/)]);
});

test("every scan is listed with its position and its misses", async () => {
  const tail = await create(made, made.file("list.ptx", `${FIRST}\n${SECOND}\n`), { world_shift: [100, 0, 0] });
  const angles = { theta_min: null, theta_max: null, phi_min: null, phi_max: null };
  const raster = { n_theta: 2, n_phi: 2, row_count: 4, name: null };
  expect(tail.scans).toEqual([
    { scan_index: 0, ...raster, miss_count: 1, unplaceable_miss_count: 1, origin: [100, 200, 10], ...angles },
    { scan_index: 1, ...raster, miss_count: 0, unplaceable_miss_count: 0, origin: [0, 0, 0], ...angles },
  ]);
  expect((await create(made, made.file("plain.xyz", "1 2 3\n4 5 6\n"))).scans).toBeUndefined();
});

/** A sweep of 40 degrees from azimuth 10 (counter-clockwise from +x), seen from `heading`, all in degrees. */
function sweep(heading: number, tilt = 0): Buffer {
  const rad = (degrees: number) => (degrees * Math.PI) / 180;
  const azimuth = [10, 20, 30, 40, 50].map(rad);
  const pose = e57Pose([5, 6, 7], rad(heading));
  const bounds = e57Element("sphericalBounds", {
    elevationMinimum: rad(-30),
    elevationMaximum: rad(60),
    azimuthStart: rad(10),
    azimuthEnd: rad(50),
  });
  const tilted = pose.replace(
    /<rotation.*<\/rotation>/,
    `<rotation type="Structure"><w type="Float">${Math.cos(rad(tilt / 2))}</w><x type="Float">${Math.sin(rad(tilt / 2))}</x><y type="Float">0</y><z type="Float">0</z></rotation>`,
  );
  return e57Bytes([
    {
      xml: `${tilt === 0 ? pose : tilted}${bounds}`,
      fields: [
        { name: "sphericalRange", type: "f64", values: azimuth.map(() => 10) },
        { name: "sphericalAzimuth", type: "f64", values: azimuth },
        { name: "sphericalElevation", type: "f64", values: azimuth.map(() => 0) },
        { name: "returnIndex", type: "u8", values: azimuth.map(() => 0) },
        { name: "returnCount", type: "u8", values: [1, 2, 1, 2, 1] },
      ],
    },
  ]);
}

test.each([0, 25, -100, 200])("phi in scan_params is the bearing of the points (heading %s)", async (heading) => {
  const tail = await create(made, made.file("sweep.e57", sweep(heading)));
  const { phi_min = Number.NaN, phi_max = Number.NaN, theta_min, theta_max } = tail.scan_params ?? {};
  expect([theta_min, theta_max]).toEqual([expect.closeTo(30, 6), expect.closeTo(120, 6)]);
  expect(phi_max - phi_min).toBeCloseTo(40, 6);
  expect(phi_min).toBeGreaterThanOrEqual(0);
  expect(phi_min).toBeLessThan(360);
  const rows = await rowsOf(made, tail.session_id, []);
  const bearings = rows.map(({ X = 0, Y = 0 }) => (Math.atan2(X - 5, Y - 6) * 180) / Math.PI);
  const inside = bearings.map((bearing) => (((bearing - phi_min) % 360) + 360.01) % 360);
  expect(Math.min(...inside)).toBeCloseTo(0.01, 1); // the exported step is a millimetre at 10 m
  expect(Math.max(...inside)).toBeCloseTo(40.01, 1);
  expect(tail.scan_params).not.toHaveProperty("azimuth_offset_deg");
  expect(tail.scans?.[0]).toMatchObject({ phi_min, phi_max, theta_min, theta_max });
});

test("a tilted pose causes a warning: its angles are relative to the scanner's axis", async () => {
  const tail = await create(made, made.file("tilted.e57", sweep(0, 15)));
  expect(tail.warnings?.join()).toMatch(/tilted by 15\.0 degrees/);
  expect((await create(made, made.file("level.e57", sweep(40)))).warnings ?? []).toEqual([]);
});

test("a constant echo number is omitted, a varying one is kept", async () => {
  const tail = await create(made, made.file("echo.e57", sweep(0)));
  const names = tail.attributes.map(({ name }) => name);
  expect(names).toContain("target_count");
  expect(names).not.toContain("target_index");
});

test("a spherical scan without a pose has its scanner at the zero of the file: its misses lie on the shell around it", async () => {
  const round = {
    fields: [
      { name: "sphericalRange", type: "f64" as const, values: [10, 5, 0] },
      { name: "sphericalAzimuth", type: "f64" as const, values: [0, Math.PI / 2, Math.PI] },
      { name: "sphericalElevation", type: "f64" as const, values: [0, 0, 0] },
      { name: "sphericalInvalidState", type: "u8" as const, values: [0, 0, 1] },
    ],
  };
  const file = made.file("round.e57", e57Bytes([round]));
  const tail = await create(made, file, { world_shift: [1, 2, 3] });
  expect(tail).toMatchObject({ scan_origin: [0, 0, 0], scan_params: { origin: [0, 0, 0] }, miss_count: 1 });
  expect(tail.scans?.[0]).toMatchObject({ origin: [0, 0, 0] });
  expect(tail).not.toHaveProperty("warnings");
  // 1.4 times the farthest hit, towards -x, in the stored frame
  expect(octreePoints(made.octrees, tail.miss_octree_cache_id ?? "")).toEqual([[-14 - 1, -2, -3]]);
});

test("Cartesian points without a pose may be in any frame: no scanner position, and no word of poses", async () => {
  const parts = [e57Points([[4e5, 5e6, 1]]), e57Points([[4e5, 5e6, 2]])];
  const plain = await create(made, made.file("plain.e57", e57Bytes(parts)));
  expect(plain).not.toHaveProperty("scan_origin");
  expect(plain).not.toHaveProperty("warnings");
  expect(plain.scans?.map(({ origin }) => origin)).toEqual([null, null]);
  const posed = await create(
    made,
    made.file(
      "posed.e57",
      e57Bytes([{ ...parts[0], xml: e57Pose([1, 2, 3]), fields: parts[0]?.fields ?? [] }, ...parts]),
    ),
  );
  expect(posed.warnings).toEqual([expect.stringMatching(/^3 scans were merged, each placed by its own pose/)]);
  for (const name of ["plain.e57", "posed.e57"]) {
    const answer = await made.app.inject({
      method: "POST",
      url: "/api/pointcloud/preview",
      payload: { file_path: `${made.folder}/${name}` },
    });
    expect((answer.json() as { warning: string | null }).warning !== null).toBe(name === "posed.e57");
  }
});

test("an E57 section with a wrong header is refused, by import and preview, with the byte", async () => {
  const bytes = e57Bytes([e57Points([[1, 2, 3]])]);
  bytes.writeUInt8(9, 49);
  const file = made.file("reserved.e57", sealed(bytes));
  const reason = await createError(made, file);
  expect(reason).toMatch(/reserved\.e57, byte 49: the reserved bytes 1 to 7 of a binary section must be 0/);
  const answer = await made.app.inject({
    method: "POST",
    url: "/api/pointcloud/preview",
    payload: { file_path: file },
  });
  expect((answer.json() as { warning: string }).warning).toContain(`An import would be refused: ${reason}`);
});

test.each([
  ["none.e57", e57Bytes([])],
  ["empty.e57", e57Bytes([e57Points([])])],
  [
    "empty.ply",
    "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
  ],
])("a file without points (%s): both answers say so, and none has a box", async (name, content) => {
  const file = made.file(name, content);
  const tail = await create(made, file);
  expect(tail).toMatchObject({ total_count: 0, tight_bounds: null, robust_bounds: null, ground_z: null });
  expect(tail.warnings).toEqual(["The file contains no points."]);
  const answer = await made.app.inject({
    method: "POST",
    url: "/api/pointcloud/preview",
    payload: { file_path: file },
  });
  expect(answer.json()).toMatchObject({
    warning: "The file contains no points.",
    bounds: null,
    point_count: 0,
    suggested_shift: null,
  });
});
