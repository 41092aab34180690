import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TrajectoryParseResponse } from "../../shared/contract/trajectory.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const PARSE = "/api/trajectory/parse";
const DEGREE = Math.PI / 180;

interface Sample {
  t?: number;
  lat?: number;
  lon?: number;
  z?: number;
  roll?: number;
  pitch?: number;
  heading?: number;
}
/** A trajectory of records; angles in degrees. */
const sbet = (samples: readonly Sample[]) =>
  Buffer.concat(
    samples.map(({ t = 0, lat = 48, lon = 9, z = 0, roll = 0, pitch = 0, heading = 0 }) => {
      const out = Buffer.alloc(136);
      const values = [t, lat * DEGREE, lon * DEGREE, z, 1, 2, 3, roll * DEGREE, pitch * DEGREE, heading * DEGREE];
      for (const [k, value] of values.entries()) out.writeDoubleLE(value, 8 * k);
      return out;
    }),
  );
const times = (count: number) => Array.from({ length: count }, (_, t) => ({ t }));

async function answered(payload: object) {
  const answer = await made.app.inject({ method: "POST", url: PARSE, payload });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
}
async function parsed(samples: readonly Sample[], fields: object = {}) {
  const path = made.file("flight.out", sbet(samples));
  const { status, body } = await answered({ path, ...fields });
  expect([status, body.detail]).toEqual([200, undefined]);
  return TrajectoryParseResponse.parse(body);
}

/** The image of a vector of the body in the world. */
function turned({ qx, qy, qz, qw }: { qx: number; qy: number; qz: number; qw: number }, v: readonly number[]) {
  const [x = 0, y = 0, z = 0] = v;
  const [tx, ty, tz] = [2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)];
  return [x + qw * tx + qy * tz - qz * ty, y + qw * ty + qz * tx - qx * tz, z + qw * tz + qx * ty - qy * tx].map(
    (value) => Math.round(value * 1e9) / 1e9 + 0,
  );
}

describe("positions", () => {
  test("a place on the central meridian, and constants of the format", async () => {
    const { poses, warnings, ...rest } = await parsed([{ t: 3, lat: 45, lon: 9, z: 123.5 }]);
    expect(rest).toEqual({
      frame: { crs: "EPSG:32632", up_axis: "z", body_convention: "FRD", time_ref: "gps" },
      lever_arm: [0, 0, 0],
      boresight_rpy: [0, 0, 0],
      source_format: "sbet",
    });
    expect(poses[0]).toMatchObject({ t: 3, z: 123.5 });
    expect(poses[0]?.x).toBeCloseTo(500_000, 6);
    // Length of the meridian from the equator to 45 degrees on WGS 84, 4984944.378 m, times 0.9996.
    expect(poses[0]?.y).toBeCloseTo(4_984_944.378 * 0.9996, 2);
    expect(warnings).toEqual([]);
  });

  test.each([
    [-33, 151, "EPSG:32756"],
    [60, -180, "EPSG:32601"],
    [60, 179.9999, "EPSG:32660"],
    [0, -0.5, "EPSG:32630"],
  ])("latitude %d, longitude %d is in %s", async (lat, lon, crs) => {
    expect((await parsed([{ lat, lon }])).frame.crs).toBe(crs);
  });

  test("a flight across the 180th meridian stays in one zone", async () => {
    const { poses, warnings } = await parsed([
      { t: 0, lat: 10, lon: 179.999 },
      { t: 1, lat: 10, lon: -179.999 },
    ]);
    expect(Math.abs((poses[1]?.x ?? 0) - (poses[0]?.x ?? 0))).toBeLessThan(250);
    expect(warnings).toEqual([expect.stringMatching(/0\.52 degrees (east|west) of true north/)]);
  });
});

describe("grid north", () => {
  test.each([
    [48, 11.5, "east"],
    [48, 6.2, "west"],
    [-33, 11.5, "west"],
    [-33, 6.2, "east"],
  ])("at latitude %d, longitude %d lies %s of true north, as two places on a meridian show", async (lat, lon, side) => {
    const { poses, warnings } = await parsed([
      { t: 0, lat, lon },
      { t: 1, lat: lat + 1e-5, lon },
    ]);
    const [a, b] = poses;
    if (!a || !b) throw new Error("two poses are expected");
    const true_north_deg = Math.atan2(b.x - a.x, b.y - a.y) / DEGREE; // bearing in the grid
    expect(true_north_deg < 0).toBe(side === "east");
    const told = warnings.map((text) => text.match(/grid lies (\d+\.\d\d) degrees (east|west) of true north/));
    expect(told).toHaveLength(1);
    expect([told[0]?.[2], Number(told[0]?.[1])]).toEqual([side, expect.closeTo(Math.abs(true_north_deg), 2)]);
  });

  test("is not told of where it differs by 0.1 degrees or less; the widest difference of a flight counts", async () => {
    expect((await parsed([{ lat: 48, lon: 9.13 }])).warnings).toEqual([]); // 0.13 sin 48 = 0.097
    const flight = await parsed([
      { lat: 48, lon: 9 },
      { t: 1, lat: 48, lon: 8 },
      { t: 2, lat: 48, lon: 9.5 },
    ]);
    expect(flight.warnings).toEqual([expect.stringMatching(/0\.74 degrees west.*what is 100 m away lies 1\.3 m off/)]);
  });
});

test.each([
  [{ heading: 0 }, [0, 1, 0], [1, 0, 0], [0, 0, -1]],
  [{ heading: 90 }, [1, 0, 0], [0, -1, 0], [0, 0, -1]],
  [{ pitch: 90 }, [0, 0, 1], [1, 0, 0], [0, 1, 0]],
  [{ roll: 90 }, [0, 1, 0], [0, 0, -1], [-1, 0, 0]],
])("the attitude of %o", async (attitude, forward, right, down) => {
  const [pose] = (await parsed([attitude])).poses;
  if (!pose) throw new Error("no pose");
  expect([turned(pose, [1, 0, 0]), turned(pose, [0, 1, 0]), turned(pose, [0, 0, 1])]).toEqual([forward, right, down]);
});

describe("thinning out and warnings", () => {
  test("every so many-th record is kept, and the last one", async () => {
    const { poses, warnings } = await parsed(times(11), { target_poses: 4 });
    expect(poses.map(({ t }) => t)).toEqual([0, 3, 6, 9, 10]);
    expect(warnings).toEqual([expect.stringMatching(/every 3th of 11 records, 5 poses/)]);
    expect((await parsed(times(11))).poses).toHaveLength(11);
  });

  test("latitudes beyond UTM, wide flights, times that stand still, a new week", async () => {
    expect((await parsed([{ lat: 85 }])).warnings).toEqual([expect.stringMatching(/mean latitude is 85/)]);
    const wide = await parsed([{ lon: 5 }, { t: 1, lon: 8.5 }]);
    expect(wide.warnings[0]).toMatch(/span 3\.50 degrees/);
    const still = await parsed([{ t: 1 }, { t: 1 }]);
    expect(still.warnings).toEqual([expect.stringMatching(/do not strictly increase: 1 s follows 1 s at pose 1\.$/)]);
    const week = await parsed([{ t: 604_799 }, { t: 1 }]);
    expect(week.warnings).toEqual([expect.stringMatching(/a new GPS week begins there/)]);
  });

  test.each([10, 17, 9])("the accuracy file of %d numbers per record", async (numbers) => {
    const accuracy = Buffer.alloc(3 * 8 * numbers);
    for (let i = 0; i < 3; i += 1) {
      for (const [k, value] of [i + 1, 0.03, 0.04, i === 1 ? 0.12 : 0].entries())
        accuracy.writeDoubleLE(value, 8 * (numbers * i + k));
    }
    const smrmsg_path = made.file("accuracy.out", accuracy);
    expect((await parsed(times(2), { smrmsg_path })).warnings).toEqual([expect.stringMatching(/is 0\.130 m/)]);
  });

  test("an accuracy file that is missing or something else never fails the request", async () => {
    for (const smrmsg_path of ["/data/missing.out", made.file("other.out", Buffer.alloc(81, 7))])
      expect((await parsed(times(2), { smrmsg_path })).warnings).toEqual([expect.stringMatching(/was not used/)]);
  });
});

test.each<[string, Buffer, RegExp]>([
  ["empty", Buffer.alloc(0), /is empty/],
  ["cut off", sbet(times(2)).subarray(0, 271), /271 bytes, which is not a multiple of the 136/],
  ["without a time", sbet([{}, { t: Number.NaN }]), /record 1 has a time.*not finite/],
  ["with an infinite height", sbet([{ z: Number.POSITIVE_INFINITY }]), /record 0/],
  ["in degrees", sbet([{ lat: 48 / DEGREE }]), /record 0 has latitude 48.*no angles in radians/],
  [
    "with a heading in degrees",
    sbet([{ heading: 174 / DEGREE }]),
    /record 0 has roll 0, .*heading 1[73].*no angles in radians/,
  ],
  ["with a pitch in degrees", sbet([{}, { pitch: 3 / DEGREE }]), /record 1 has roll 0, pitch 3.*no angles in radians/],
  ["of noise", Buffer.alloc(136, 0xff), /record 0/],
])("a file %s is refused", async (_name, content, text) => {
  const { status, body } = await answered({ path: made.file("flight.sbet", content) });
  expect([status, body.code]).toEqual([400, "invalid_file"]);
  expect(body.detail).toMatch(text);
});

test("missing files, other formats and relative paths are refused", async () => {
  expect(await answered({ path: "/data/missing.sbet" })).toMatchObject({ status: 404 });
  const text = made.file("flight.csv", "t,x\n1,2\n");
  expect(await answered({ path: text })).toMatchObject({
    status: 400,
    body: { detail: expect.stringMatching(/format "csv".*read by the client/) },
  });
  expect(await answered({ path: made.file("flight.bin", sbet(times(2))), format: "SBET" })).toMatchObject({
    status: 200,
  });
  expect(await answered({ path: "flight.sbet" })).toMatchObject({ status: 400 });
  expect(await answered({ path: text, target_poses: 1 })).toMatchObject({ status: 422 });
});

const FLIGHT = join(DATA, "trajectory/sbet_047_part1.sbet");
if (!existsSync(FLIGHT)) console.warn(`a real flight is absent from ${DATA}: set APP_TEST_DATA`);

test.skipIf(!existsSync(FLIGHT))("a real flight is within 1 mm of its truth", async () => {
  const { body, status } = await answered({ path: FLIGHT });
  expect(status).toBe(200);
  const { poses, frame } = TrajectoryParseResponse.parse(body);
  expect(frame.crs).toBe("EPSG:32615");
  const rows = readFileSync(join(DATA, "trajectory/sbet_047_part1_truth.csv"), "utf8").trim().split("\n").slice(1);
  expect(poses).toHaveLength(rows.length);
  let worst = 0;
  for (const [i, row] of rows.entries()) {
    const [t = 0, x = 0, y = 0, z = 0, , , heading = 0] = row.split(",").map(Number);
    const pose = poses[i];
    if (!pose) throw new Error(`no pose ${i}`);
    worst = Math.max(worst, Math.hypot(pose.x - x, pose.y - y, pose.z - z));
    expect(pose.t).toBeCloseTo(t, 5);
    const [east = 0, north = 0] = turned(pose, [1, 0, 0]);
    const off = Math.atan2(east, north) / DEGREE - heading;
    expect(Math.abs(off - 360 * Math.round(off / 360))).toBeLessThan(1e-4);
  }
  expect(worst).toBeLessThan(1e-3);
});
