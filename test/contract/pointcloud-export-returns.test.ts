import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, exportTail } from "../support/app/app.ts";
import { readRawLas } from "../support/scans/las-records.ts";
import { scanExportTail } from "../support/scans/scan-export.ts";
import { lidarScanned, SCANNER, wall } from "../support/session/lidar-scans.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { differences } from "../support/session/session-values.ts";

/** LAS files of pulses with several returns, decoded by laz-perf and a reader by the letter of the specification. */

const made = sessionTest();
const MULTI = {
  meshes: [wall(5, 0.45), wall(6, 0.6), wall(7, 0.7)],
  scanners: [{ ...SCANNER, return_mode: "multi", max_returns: 9, beam_divergence_mrad: 40, exit_diameter_m: 0.01 }],
  rays_per_pulse: 60,
  record_misses: true,
  pulse_distance_threshold: 0.2,
};

async function written(session_id: string, format: string, more: object = {}) {
  const tail = await exportTail(made, { source: { session_id }, format, ...more });
  expect(tail).toMatchObject({ success: true });
  const file = Buffer.from(tail.data ?? "", "base64");
  const las = await readRawLas(file);
  const numbers = (name: string) => (las.fields.get(name) ?? []).map(Number);
  return { file, las, numbers, warnings: (tail.warnings ?? []).join(" ") };
}

async function imported(file: Buffer, name: string): Promise<string> {
  const path = join(made.folder, name);
  writeFileSync(path, file);
  return (await create(made, path)).session_id;
}

describe.each(["las", "laz"])("%s of a scan with several returns and misses", (format) => {
  test("numbers returns from 1, keeps its columns and is read back as it was", async () => {
    const { meta } = await lidarScanned(made, MULTI);
    const session_id = meta.scanners[0]?.session?.session_id ?? "";
    const { file, las, numbers, warnings } = await written(session_id, format);
    const [index, count] = [numbers("target_index"), numbers("target_count")];
    const [number, of] = [numbers("return_number"), numbers("number_of_returns")];
    expect(Math.max(...number)).toBeGreaterThan(1);
    expect(index).toContain(99);
    expect(number).toEqual(index.map((k) => (k === 99 ? 1 : k + 1)));
    expect(of).toEqual(count.map((n) => Math.max(n, 1)));
    expect(las.points_by_return.slice(0, 3)).toEqual([1, 2, 3].map((k) => number.filter((n) => n === k).length));
    // Every pulse has each of its returns once.
    const pulses = new Map<number, number[]>();
    for (const [i, time] of numbers("gps_time").entries()) pulses.set(time, [...(pulses.get(time) ?? []), i]);
    for (const rows of pulses.values())
      expect(rows.map((i) => number[i]).sort()).toEqual(Array.from({ length: of[rows[0] ?? 0] ?? 0 }, (_, k) => k + 1));
    expect(warnings).toBe("");
    const again = await imported(file, `again.${format}`);
    expect(await differences(made, session_id, again)).toEqual(["positions: other values"]); // on the grid of the file
  });
});

test.each([true, false])(
  "a scan of one return per pulse is 1 of 1 and keeps its columns; misses: %s",
  async (misses) => {
    const { meta } = await lidarScanned(made, { meshes: [wall(5, 1)], scanners: [SCANNER], record_misses: misses });
    const session_id = meta.scanners[0]?.session?.session_id ?? "";
    const { file, numbers, warnings } = await written(session_id, "las");
    expect(warnings).toBe("");
    expect(new Set([...numbers("return_number"), ...numbers("number_of_returns")])).toEqual(new Set([1]));
    expect(new Set(numbers("target_index"))).toEqual(new Set(misses ? [0, 99] : [0]));
    const again = await imported(file, `single_${misses}.las`);
    expect(await differences(made, session_id, again)).toEqual(["positions: other values"]);
  },
);

test("files of an export of scans, from inline points", async () => {
  const points = Array.from({ length: 4 }, (_, i) => [i, 5, 0]);
  const scalar_columns = { target_index: [0, 0, 1, 2], target_count: [1, 3, 3, 3] };
  const scan = { label: "a", origin: [0, 0, 0], points, scalar_columns };
  const tail = await scanExportTail(made, { scans: [scan], write_xml: false, data_format: "las" });
  expect(tail).toMatchObject({ success: true });
  const found = tail.files.find(({ name }) => name.endsWith(".las"));
  const { fields } = await readRawLas(Buffer.from(found?.data ?? "", "base64"));
  expect(fields.get("return_number")).toEqual([1, 1, 2, 3]);
  expect(fields.get("number_of_returns")).toEqual([1, 3, 3, 3]);
  expect(fields.get("target_index")?.length).toBe(4);
});

describe("numbers that LAS cannot hold", () => {
  const rows = (index: (i: number) => string, count: (i: number) => string) => [
    "x y z target_index target_count",
    ...Array.from({ length: 20 }, (_, i) => `${i} 0 0 ${index(i)} ${count(i)}`),
  ];
  const session = async (name: string, lines: readonly string[]) => {
    const path = join(made.folder, name);
    writeFileSync(path, lines.join("\n"));
    return (await create(made, path)).session_id;
  };

  test("more than 15 returns are shortened, with a warning; the columns have them all", async () => {
    const id = await session(
      "many.txt",
      rows(String, () => "20"),
    );
    const { numbers, warnings } = await written(id, "las");
    expect(numbers("return_number")).toEqual(Array.from({ length: 20 }, (_, i) => Math.min(i + 1, 15)));
    expect(numbers("number_of_returns")).toEqual(new Array(20).fill(15));
    expect(warnings).toMatch(/20 points are of pulses with more than 15 returns/);
  });

  test("values that number nothing leave 1 of 1, with a warning", async () => {
    const id = await session(
      "halves.txt",
      rows(
        (i) => String(i + 0.5),
        () => "20",
      ),
    );
    const { numbers, warnings } = await written(id, "las");
    expect(numbers("return_number")).toEqual(new Array(20).fill(1));
    expect(warnings).toMatch(/no whole numbers from 0 to 255: every point is written as return 1 of 1/);
  });

  test("fields that say otherwise are kept beside the extra dimensions", async () => {
    const id = await session(
      "some.txt",
      rows(
        (i) => String(i % 2),
        () => "2",
      ),
    );
    const { file } = await written(id, "las");
    const at = file.readUInt32LE(96) + 14; // return number and number of returns of the first point
    file.writeUInt8((file.readUInt8(at) & 0xf0) | 2, at);
    const { columns } = (await made.deps.sessions.get(await imported(file, "changed.las"))).state;
    expect([...columns.keys()]).toEqual(expect.arrayContaining(["extra/target_index", "extra/target_index_2"]));
  });
});
