import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PreviewResponse } from "../../shared/contract/pointcloud.ts";
import { create } from "../support/app/app.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { present, SCANS } from "../support/scans/real-scans.ts";
import { sessionTest } from "../support/session/session-test.ts";

describe.skipIf(!present)("previews of real scans", () => {
  const made = sessionTest();

  /** Files whose header says another number of points than can be read. */
  const LIARS = /1\.2-no-points|garbage_nVariableLength|broken_(coder|size)|corrupt_crc|bunny_8\.pts/;
  /** Folders whose clouds are imported, to hold the declared bounds against their points. */
  const SMALL = /^(e57|ptx_pts|las\/(crs|formats|extra_bytes))$/;
  const preview = async (path: string) => {
    const payload = { file_path: join(DATA, path), max_rows: 100 };
    const answer = await made.app.inject({ method: "POST", url: "/api/pointcloud/preview", payload });
    expect(answer.statusCode, path).toBe(200);
    return PreviewResponse.parse(answer.json());
  };
  for (const [folder, files] of Object.entries(SCANS)) {
    test.each(Object.entries(files))(`preview of ${folder}/%s`, async (name, opens) => {
      const path = join(folder, name);
      const looked = await preview(path);
      if (typeof opens !== "number") {
        expect(looked.warning).toBeTruthy();
        return;
      }
      if (looked.point_count != null && !LIARS.test(name)) expect(looked.point_count).toBe(opens);
      const roles = looked.columns.map(({ detected_role }) => detected_role);
      if (opens > 0 || looked.kind !== "e57") expect(roles).toEqual(expect.arrayContaining(["x", "y", "z"]));
      if (!looked.warning?.includes("rows are not shown")) {
        const first = looked.scans?.find(({ point_count }) => point_count > 0)?.point_count ?? opens;
        expect(looked.sample_rows.length).toBe(Math.min(100, first));
      }
      for (const row of looked.sample_rows) {
        for (const { index } of looked.columns) expect(row[index], `${name} column ${index}`).toBeDefined();
      }
      if (!looked.bounds || !SMALL.test(folder) || /certainty3d|simple1_3|5points_14|nVariable/.test(name)) return; // bounds of an uncut file
      const { tight_bounds, point_count: hits } = await create(made, join(DATA, path));
      for (const axis of hits > 0 ? ([0, 1, 2] as const) : []) {
        // Half a step of the file, and half a millimetre of the octree.
        expect(tight_bounds?.min[axis]).toBeGreaterThanOrEqual(looked.bounds.min[axis] - 0.01);
        expect(tight_bounds?.max[axis]).toBeLessThanOrEqual(looked.bounds.max[axis] + 0.01);
      }
    });
  }

  test("previews name the coordinate systems and units of the manifest", async () => {
    const of = async (path: string) => {
      const { crs, detected_units, units_certain } = await preview(path);
      return [crs?.epsg ?? null, detected_units, units_certain];
    };
    expect(await of("las/crs/certainty3d-color-utm-feet-navd88.las")).toEqual([2229, "ftUS", true]);
    expect(await of("las/crs/epsg_4326.las")).toEqual([4326, null, false]);
    expect(await of("las/crs/file_with_both_wkt_and_geotiff_vlrs.las")).toEqual([32104, "ftUS", true]);
    expect(await of("las/crs/1.2-empty-geotiff-vlrs.las")).toEqual([null, "m", true]);
    expect(await of("las/formats/point10.las.laz")).toEqual([26910, "m", true]);
    expect(await of("e57/bunnyFloat.e57")).toEqual([null, "m", true]);
    expect(await of("ptx_pts/no-color.ptx")).toEqual([null, "m", false]);
    expect(await of("ply/trimesh_points_bin.ply")).toEqual([null, null, false]);
  });

  test("previews list the scans that the import will read", async () => {
    for (const [path, counts] of [
      ["e57/pdal_A_moved_B.e57", [2, 4]],
      ["e57/read_error.e57", [2651]],
      ["e57/empty.e57", []],
      ["ptx_pts/multiple-and-transform.ptx", [4, 4]],
      ["ptx_pts/complex-transform.ptx", [12]],
    ] as const) {
      const looked = await preview(path);
      expect(
        looked.scans?.map(({ point_count }) => point_count),
        path,
      ).toEqual(counts);
      const read = (await create(made, join(DATA, path))).scans ?? [];
      expect(
        read.map(({ row_count }) => row_count),
        path,
      ).toEqual(counts);
      for (const [i, scan] of (looked.scans ?? []).entries()) expect(read[i]?.origin).toEqual(scan.origin);
    }
    expect((await preview("e57/corrupt_crc.e57")).warning).toMatch(/page 33 .* has checksum/);
    expect((await preview("e57/read_error.e57")).scans?.[0]?.has_misses).toBe(true);
    expect((await preview("e57/tiny_pc_and_images.e57")).warning).toMatch(/4 image\(s\)/);
  });
});
