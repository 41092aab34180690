import { describe, expect, test } from "vitest";
import { ExtractByColumnTail } from "../../shared/contract/cloud-session/extract-by-column.ts";
import { halfIntercepted, parallelBeams, scanRows, UNIT_GRID } from "../support/lad/beams.ts";
import { HALF, ladCalls } from "../support/lad/calls.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { cloud, columnOf, streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute, failure, refusedWith } = ladCalls(made);

describe("sources", () => {
  const WORLD = [450_000, 5_400_000, 100] as const;

  test("a session with a world shift gives what its pulses give inline", async () => {
    const inline = halfIntercepted();
    const rows = scanRows({
      ...inline,
      points: inline.points.map(([x, y, z]) => [x + WORLD[0], y + WORLD[1], z + WORLD[2]]),
      scalar_columns: {
        ...inline.scalar_columns,
        origin_x: inline.scalar_columns.origin_x?.map((x) => x + WORLD[0]) ?? [],
        origin_y: inline.scalar_columns.origin_y?.map((y) => y + WORLD[1]) ?? [],
        origin_z: inline.scalar_columns.origin_z?.map((z) => z + WORLD[2]) ?? [],
      },
    });
    const { session_id } = await cloud(made, rows, { world_shift: [...WORLD] });
    const scans = [{ session_id, origin: [0, 0, 0] }];
    const tail = await compute({ scans, grid: { ...UNIT_GRID, center: [...WORLD] } });
    const [wanted] = (await compute()).cells;
    expect(tail.cells[0]).toMatchObject({ beam_count: 400, hit_count: 200 });
    expect(tail.cells[0]?.lad).toBeCloseTo(wanted?.lad ?? 0, 6);
  });

  test("deleted hits count outside the grid, and are told inside", async () => {
    const fan = parallelBeams(1, 20, (i) => (i % 4 === 0 ? -3 : i % 4 === 1 ? 0.25 : i % 4 === 2 ? 3 : null));
    const { session_id } = await cloud(made, scanRows(fan));
    const scans = [{ session_id, origin: [-10, 0, 0] }];
    const all = await compute({ scans });
    await made.remove(session_id, -4, -2);
    await made.remove(session_id, 2, 4);
    const outside = await compute({ scans });
    expect(outside.cells).toEqual(all.cells);
    expect(outside.warnings.join()).not.toMatch(/deleted/);
    await made.remove(session_id, -1, 1);
    const inside = await compute({ scans });
    expect(inside.cells[0]).toMatchObject({ beam_count: 200, hit_count: 0 });
    expect(inside.warnings.join()).toMatch(/100 deleted hits inside the grid/);
  });

  test("a file, only when it is allowed", async () => {
    const path = made.file("pulses.txt", `${scanRows(halfIntercepted()).join("\n")}\n`);
    const scan = { file_path: path, origin: [-10, 0, 0] };
    const tail = await compute({ scans: [{ ...scan, allow_file_source: true }] });
    expect(tail.cells[0]?.lad).toBeCloseTo(HALF, 6);
    expect(await refusedWith({ scans: [scan] })).toEqual([400, expect.stringMatching(/names a file but no session/)]);
  });

  test("a file: its units and what its reader tells are told, as an import tells them", async () => {
    const pulses = halfIntercepted();
    const rows = pulses.points.map(([x, y, z], i) => ({
      x,
      y,
      z,
      extra: { is_miss: pulses.scalar_columns.is_miss?.[i] ?? 0 },
    }));
    const extras = [{ name: "is_miss", type: "u8" }] as const;
    const warned = async (system: number, declared = rows.length) => {
      const geotiff = [1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, system];
      const path = made.file("pulses.las", lasBytes(rows, { extras, geotiff, declared }));
      const scan = { file_path: path, origin: [-10, 0, 0], allow_file_source: true, label: "south" };
      return (await compute({ scans: [scan] })).warnings;
    };
    const [metres, feet] = [26910, 2229]; // projected systems
    const plain = ['Scan "south" has no time stamps.'];
    expect(await warned(metres)).toEqual(plain);
    expect(await warned(feet)).toEqual([
      expect.stringMatching(
        /^Scan "south": The file's coordinates are in US survey foot .*read as metres.*source_units/,
      ),
      ...plain,
    ]);
    expect(await warned(metres, rows.length + 5)).toEqual([
      expect.stringMatching(/^Scan "south": the file is incomplete: the header declares 405 points/),
      ...plain,
    ]);
  });

  test("an unknown session, and no source at all", async () => {
    const [status, sentence] = await refusedWith({ scans: [{ session_id: "00000000", origin: [0, 0, 0] }] });
    expect([status, sentence]).toEqual([404, expect.stringMatching(/not found: 00000000\. Scan 1 is gone/)]);
    expect(await refusedWith({ scans: [{ origin: [0, 0, 0] }] })).toEqual([
      400,
      "Scan 1 has neither a session_id nor points.",
    ]);
    const short = { ...halfIntercepted(), scalar_columns: { is_miss: [1] } };
    expect(await refusedWith({ scans: [short] })).toEqual([
      400,
      "Scan 1: scalar_columns.is_miss has 1 values for 400 points.",
    ]);
  });

  test("every scan needs misses", async () => {
    const full = { ...parallelBeams(1, 4, () => 0.25), label: "south" };
    const { error, code } = await failure({ scans: [halfIntercepted(), full] });
    expect(code).toBe("invalid_argument");
    expect(error).toMatch(/^Scan "south" has no miss points.*run Backfill Misses first/);
  });

  test("rows without a direction are told; unknown keys are named", async () => {
    const scan = halfIntercepted();
    const points = [...scan.points];
    points[scan.scalar_columns.is_miss?.indexOf(0) ?? 0] = [-10, -0.475, -0.475];
    const tail = await compute({ scans: [{ ...scan, points }], tmax: 0.1 });
    expect(tail.warnings[0]).toMatch(/"tmax"/);
    expect(tail.warnings.join()).toMatch(/1 rows without a direction/);
    expect(tail.cells[0]?.beam_count).toBe(399);
  });

  test("several scans of one file without their positions are refused; apart they are not", async () => {
    const [header = "", ...rows] = scanRows(halfIntercepted());
    const drop = header.split(" ").indexOf("origin_x");
    const cut = (row: string) => row.split(" ").slice(0, drop).join(" ");
    const text = [`${cut(header)} scan_index`, ...rows.map((row, i) => `${cut(row)} ${(i >> 1) % 2}`)];
    const { session_id } = await cloud(made, text);
    const scans = [{ session_id, origin: [-10, 0, 0] }];
    const { error, code } = await failure({ scans });
    expect(code).toBe("invalid_argument");
    expect(error).toMatch(/^Scan 1 has the points of 2 scans \(scan_index\), but not where these stood/);
    const wanted = { slug: "scan_index", exclude_values: [], include_misses: true };
    const url = `/api/cloud/session/${session_id}/extract_by_column`;
    const { children } = (await streamed(made, ExtractByColumnTail, url, wanted)).tail;
    const counts = await Promise.all(
      children.map(async ({ session_id: id }) => (await columnOf(made, id, "extra/is_miss"))?.length),
    );
    expect(counts).toEqual([200, 200]);
    const apart = children.map((child) => ({ session_id: child.session_id, origin: [-10, 0, 0] }));
    expect((await compute({ scans: apart })).cells[0]?.beam_count).toBeGreaterThan(200);
  });

  test("misses without a direction are told; a scan that has no others is refused", async () => {
    const scan = halfIntercepted();
    const isMiss = (scan.scalar_columns.is_miss ?? []).map((flag) => flag === 1);
    const at = (lost: (i: number) => boolean) => scan.points.map(([x, y, z], i) => [lost(i) ? -10 : x, y, z]);
    const last = isMiss.lastIndexOf(true);
    const some = await compute({ scans: [{ ...scan, points: at((i) => isMiss[i] === true && i !== last) }] });
    const count = isMiss.filter((flag) => flag).length;
    expect(some.warnings.join()).toContain(`has ${count - 1} misses without a direction besides 1 others`);
    const all = await failure({ scans: [{ ...scan, label: "ptx", points: at((i) => isMiss[i] === true) }] });
    expect(all.code).toBe("invalid_argument");
    expect(all.error).toMatch(/^Scan "ptx" has \d+ misses, all without a direction.*run Backfill Misses first/);
  });
});

describe("moving scans", () => {
  /** A scanner that passes by on a line at x = -10, from y = -0.5 at 0 s to y = 0.5 at 100 s. */
  const pose = (t: number, y: number) => ({ t, x: -10.5, y, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 });
  const trajectory = { poses: [pose(0, -0.5), pose(100, 0.5)], lever_arm: [0.5, 0, 0] };
  const passing = (clock: (t: number) => number, share = 1) => {
    const count = 100;
    const y = Array.from({ length: count }, (_, i) => (i + 0.5) / count - 0.5);
    return {
      origin: [7, 7, 7],
      points: y.map((place, i) => [i % 2 === 0 ? 0.25 : 1000, place, 0]),
      scalar_columns: {
        is_miss: y.map((_, i) => i % 2),
        timestamp: y.map((place, i) => clock(100 * (place + 0.5)) + (i < share * count ? 0 : 1e5)),
      },
      trajectory,
    };
  };

  test("the origin of every beam comes from the poses at its time and the lever arm", async () => {
    const tail = await compute({ scans: [passing((t) => t)] });
    expect(tail.cells[0]).toMatchObject({ beam_count: 100, hit_count: 50, relative_density_index: 0.5 });
    expect(tail.cells[0]?.mean_path_length).toBeCloseTo(1, 12);
    expect(tail.cells[0]?.lad).toBeCloseTo(HALF, 9);
    expect(tail.warnings).toEqual([]);
    const turned = { ...trajectory, lever_arm: [0.5, 0, 3] };
    const above = await compute({ scans: [{ ...passing((t) => t), trajectory: turned }] });
    expect(above.cells[0]?.mean_path_length).not.toBeCloseTo(1, 3);
  });

  test("points beyond the trajectory are told; beam origins of the points come first", async () => {
    const tail = await compute({ scans: [passing((t) => t, 0.9)] });
    expect(tail.warnings).toEqual([
      "The trajectory of Scan 1 covers 90.0 % of its points; the others get its first or last place.",
    ]);
    const own = { ...halfIntercepted(), trajectory };
    const [cell] = (await compute({ scans: [own] })).cells;
    expect(cell?.beam_count).toBe(400);
    expect((await compute({ scans: [own] })).warnings[0]).toMatch(/used instead of the trajectory/);
  });

  test.each<[string, (t: number) => number, RegExp]>([
    ["another flight", (t) => t + 40_000, /do not overlap, the gap is 39900\.5 s/],
    ["adjusted GPS time", (t) => t + 1e9, /about 1e9.*adjusted GPS time/],
    ["weeks", (t) => t + 3 * 604_800, /differ by 3 weeks of 604800 s.*shift it by 1814400 s/],
  ])("clocks that differ by %s are named", async (_name, clock, sentence) => {
    expect((await failure({ scans: [passing(clock)] })).error).toMatch(sentence);
  });

  test("no time stamps, no poses, a mesh: refused", async () => {
    const { scalar_columns, ...rest } = passing((t) => t);
    const timeless = { ...rest, scalar_columns: { is_miss: scalar_columns.is_miss } };
    expect((await failure({ scans: [timeless] })).error).toMatch(/a trajectory but no time stamps/);
    const still = { ...rest, scalar_columns, trajectory: { ...trajectory, poses: [] } };
    expect((await failure({ scans: [still] })).error).toMatch(/needs poses/);
    const back = { ...rest, scalar_columns, trajectory: { poses: [pose(5, 0), pose(4, 0)] } };
    expect((await failure({ scans: [back] })).error).toMatch(/poses\[1\]: times must increase/);
    const mesh = { mesh_vertices: [0, 0, 0, 0, 1, 0, 0, 0, 1], mesh_indices: [0, 1, 2], mesh_scan_ids: [0] };
    expect(await refusedWith({ scans: [passing((t) => t)], ...mesh, gtheta_override: false, gtheta: null })).toEqual([
      400,
      expect.stringMatching(/A mesh needs static scans/),
    ]);
  });
});
