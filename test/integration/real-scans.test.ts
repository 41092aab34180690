import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { create, makeApp, type TestApp } from "../support/app.ts";
import { octreeValues } from "../support/octree-folder.ts";

const DATA = process.env.APP_TEST_DATA ?? fileURLToPath(new URL("../../../shared/data", import.meta.url));
const present = existsSync(join(DATA, "MANIFEST.md"));
if (!present) console.log("real scans: skipped, the test data is not there (APP_TEST_DATA)");

/** How a file opens: its number of points, or the sentence it is refused with. Counts are those of the data's manifest. */
type Opens = number | RegExp;
const NO_Z = /no z column: the header names .*; say which columns they are/;
const SCANS: Readonly<Record<string, Readonly<Record<string, Opens>>>> = {
  "las/copc": { "ellipsoid.copc.laz": 100_000, "ellipsoid.laz": 100_000 },
  "las/crs": {
    "1.2-empty-geotiff-vlrs.las": 43,
    "certainty3d-color-utm-feet-navd88.las": 10_126,
    "epsg_4326.las": 5_380,
    "file_with_both_wkt_and_geotiff_vlrs.las": 25_408,
    "test_epsg_4326_axis.las": 10,
  },
  "las/extra_bytes": {
    "extra_bytes_scalar_types.las": 3_000,
    "extra_bytes_scalar_types.laz": 3_000,
    "laszip_5points_14.las": 5,
    "lazperf_extrabytes.laz": 1_065,
    "pdal_extrabytes.las": 1_065,
    "unregistered_extra_bytes.las": 4,
  },
  "las/formats": {
    "1_4_w_evlr.las": 1_000,
    "1_4_w_evlr.laz": 1_000,
    "laspy_pf7_1.4.las": 22_600,
    "pdrf10-1.4.las": 1_024,
    "pdrf10-1.4.laz": 1_024,
    "pdrf4-1.3.las": 1_024,
    "pdrf4-1.3.laz": 1_024,
    "pdrf5-1.3.las": 1_024,
    "pdrf6-1.4.las": 1_024,
    "pdrf6-1.4.laz": 1_024,
    "pdrf8-1.4.las": 1_024,
    "pdrf8-1.4.laz": 1_024,
    "pdrf9-1.4.las": 1_024,
    "point-color-time.las": 1_065,
    "point-color-time.las.laz": 1_065,
    "point-color.las": 1_065,
    "point-color.las.laz": 1_065,
    "point-time-1.4.las.laz": 1_065,
    "point-time.las": 1_065,
    "point-time.las.laz": 1_065,
    "point-version-1-point-wise.las": 11_781,
    "point-version-1-point-wise.laz": 11_781,
    "point10.las": 1_065,
    "point10.las.laz": 1_065,
  },
  "las/malformed": {
    "1.2-no-points.las": /the header declares 1065 points, but no complete record follows byte 229/,
    "bad_vlr_count.las": 10,
    "broken_coder.laz": /coder|compress/,
    "broken_size.laz": /./,
    "garbage_nVariableLength.las": 718,
    "gps-time-nan.las": 1,
    "no-points.las": 0,
  },
  "las/waveform": { "simple1_3.las": 999 },
  als: {
    "autzen_trim.laz": 110_000,
    "csf_sample.ply": 100_000,
    "pdal_sample_c.las": 14_408,
    "pyfor_pine_200m.laz": 217_222,
  },
  text_tables: {
    "pdal_badheader.txt": /no z column: the header names X, Y, X/,
    "pdal_crlf_test.txt": 10,
    "pdal_missingheader.txt": 5,
    "pdal_quoted.txt": 9,
    "pdal_text.txt": /no data rows: "This is a file/,
    "points_agisoft.xyz": 100,
    "treecompr_inventory.csv": NO_Z,
    "treecompr_inventory1.csv": NO_Z,
    "treecompr_smallinv1.csv": NO_Z,
    "treecompr_smallinv2.csv": NO_Z,
    "treecompr_targettrees_inventory.csv": NO_Z,
    "treecompr_tinytree1.csv": 10,
    "treecompr_tinytree2.csv": 10,
    "treecompr_tinytree4.txt": /no x, y and z columns: the header names text, a, b, c/,
  },
  ply: {
    "assimp_crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply": /line 7: expected: property/,
    "assimp_issue623.ply": 24,
    "pdal_issue_2421.ply": 1,
    "pdal_sized_dims.ply": /must have one scalar property z/,
    "platonic_shelf.ply": 50,
    "platonic_shelf_ascii.ply": 50,
    "platonic_shelf_big_endian.ply": 50,
    "trimesh_BoxTextured.ply": 24,
    "trimesh_cube_blender_uv.ply": 24,
    "trimesh_empty.ply": 0,
    "trimesh_metadata.ply": 4,
    "trimesh_ply_empty_header.ply": /declares no vertex element/,
    "trimesh_points_ascii_with_lists.ply": 5,
    "trimesh_points_bin.ply": 5,
  },
  pcd: {
    "Zaghetto.pcd": 59_750,
    "autzen-utm.pcd": 1_065,
    "missingheader.pcd": /line 1: "289814\.15" is not a PCD header entry/,
    "pcl_colored_cloud.pcd": 1_000,
    "room_scan1.pcd": 112_586,
    "room_scan2.pcd": 112_624,
    "simple-ascii.pcd": 213,
    "utm17_comma.pcd": /line 11: .* separated by blanks, not commas/,
  },
  ptx_pts: {
    "bunny_8.pts": 9,
    "complex-transform.ptx": 12,
    "multiple-and-transform.ptx": 8,
    "no-color.ptx": 15,
    "test.pts": 19,
  },
  e57: {
    "bunnyFloat.e57": 30_571,
    "bunnyInt19.e57": 30_571,
    "corrupt_crc.e57": /checksum/,
    "empty.e57": 0,
    "empty_pc.e57": 0,
    "float_intensity_without_min_max.e57": 1,
    "integer_intensity.e57": 2,
    "las2e57_no_images_tag.e57": 153,
    "no_ext_namespace.e57": 1,
    "original_guids.e57": 1,
    "pdal_A_B.e57": 6,
    "pdal_A_B_different_dims.e57": 2,
    "pdal_A_moved_B.e57": 6,
    "read_error.e57": 2_651,
    "scaled_integer_intensity.e57": 2,
    "tinyCartesianFloatRgb.e57": 2_090,
    "tiny_pc_and_images.e57": 2,
    "tiny_pc_with_extension.e57": 1,
    "tiny_spherical.e57": 360,
  },
  trees_composite: {
    "composite_plot_a.laz": 300_658,
    "composite_plot_a_trees.csv": /no x, y and z columns|no x/,
  },
  leaf_wood: { "lewos_tropical.xyz": 50_000, "weiser_oak.xyz": 50_000 },
  trees_tls: {
    "itsme_buttressed1.txt": 64_082,
    "itsme_dtm.txt": 11_415,
    "itsme_metrics_a.csv": NO_Z,
    "itsme_tree1.las": 30_826,
    "itsme_tree1.ply": 30_826,
    "itsme_tree1.txt": 30_826,
    "itsme_tree2.txt": 51_750,
    "treeiso_LPine1_demo.laz": 1_544_202,
  },
};

describe.skipIf(!present)("real scans", () => {
  let made: TestApp;
  const tails = new Map<string, CreateSessionTail>();
  beforeAll(async () => {
    made = await makeApp();
  });
  afterAll(() => made.close());
  const tail = async (path: string) => {
    const known = tails.get(path) ?? (await create(made, join(DATA, path)));
    tails.set(path, known);
    return known;
  };
  /** How many points of an octree have each value. */
  const histogram = (id: string, attribute: string) => {
    const counts: Record<number, number> = {};
    for (const value of octreeValues(made.octrees, id, attribute)) counts[value] = (counts[value] ?? 0) + 1;
    return counts;
  };

  test("the table knows every file of its folders", () => {
    for (const [folder, files] of Object.entries(SCANS)) {
      expect(readdirSync(join(DATA, folder)).sort(), folder).toEqual(Object.keys(files).sort());
    }
  });

  for (const [folder, files] of Object.entries(SCANS)) {
    test.each(Object.entries(files))(`${folder}/%s`, async (name, opens) => {
      const path = join(folder, name);
      if (typeof opens === "number") {
        expect((await tail(path)).total_count).toBe(opens);
        return;
      }
      const refusal = await tail(path).then(
        () => "it was opened",
        (error: Error) => error.message,
      );
      expect(refusal).toMatch(opens);
      expect(refusal).toContain(name);
    });
  }

  test("damage that leaves something to read is said", async () => {
    const said = async (path: string) => (await tail(path)).warnings?.join(" ");
    expect(await said("las/malformed/garbage_nVariableLength.las")).toMatch(
      /declares 719 points, but only 718 complete records/,
    );
    expect(await said("las/malformed/bad_vlr_count.las")).toMatch(/declares 3 variable length records, but only 2/);
    expect(await said("ptx_pts/bunny_8.pts")).toMatch(/states 8 points and holds 9/);
    expect(await said("las/crs/epsg_4326.las")).toMatch(/degrees/);
    expect(await said("las/crs/certainty3d-color-utm-feet-navd88.las")).toMatch(/US survey foot .*source_units/);
    for (const { warnings = [] } of tails.values()) expect(new Set(warnings).size).toBe(warnings.length);
  });

  test("classes and labels are those that the manifest counts", async () => {
    const town = await tail("als/pdal_sample_c.las");
    expect(town.observed_classes?.las_classification).toEqual([2, 3, 4, 5, 6, 11, 14, 31]);
    const lewos = await tail("leaf_wood/lewos_tropical.xyz");
    const oak = await tail("leaf_wood/weiser_oak.xyz");
    expect(histogram(lewos.cache_id, "point_class")).toEqual({ 1: 8_188, 2: 41_812 });
    expect(histogram(oak.cache_id, "point_class")).toEqual({ 1: 27_926, 2: 22_074 });
  });

  test("one tree as text, LAS and PLY has the same extent within half a millimetre", async () => {
    const [text, las, ply] = await Promise.all(
      ["txt", "las", "ply"].map((kind) => tail(`trees_tls/itsme_tree1.${kind}`)),
    );
    for (const other of [las, ply]) {
      for (const corner of ["min", "max"] as const) {
        for (const axis of [0, 1, 2] as const) {
          const difference = (other?.tight_bounds[corner][axis] ?? 0) - (text?.tight_bounds[corner][axis] ?? 0);
          // Half a millimetre between the files, and half a step of each octree.
          expect(Math.abs(difference)).toBeLessThanOrEqual(0.0005 + 0.001);
        }
      }
    }
  });

  test("extra bytes keep the values that the data's author wrote", async () => {
    const { cache_id } = await tail("las/extra_bytes/extra_bytes_scalar_types.las");
    const bytes = octreeValues(made.octrees, cache_id, "u8_counter");
    expect(bytes).toEqual(Array.from({ length: 3_000 }, (_, i) => (7_919 * i) % 256).sort((a, b) => a - b));
  });
});
