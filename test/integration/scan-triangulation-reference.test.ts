import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DATA } from "../support/scans/data-folder.ts";
import { referenceCase } from "../support/scans/lidar-reference.ts";
import { scanMesh } from "../support/session/scan-triangulation.ts";
import { sessionTest } from "../support/session/session-test.ts";

const present = existsSync(join(DATA, "lidar_reference"));
if (!present) console.warn(`scans of another program are absent from ${DATA}: set APP_TEST_DATA`);

describe.skipIf(!present)("triangulations of another program", () => {
  const made = sessionTest();
  // The reference triangulates in the plane of zenith and azimuth; the more zenith a scan covers, the more triangles at gaps differ.
  test.each([
    ["cube1m_spherical_lad0p5_1scan", "A", 0.001, 0.002],
    ["cube1m_spherical_lad0p5_1scan", "B", 0.001, 0.002],
    ["cube1m_spherical_lad2_multi_1scan", "A", 0.001, 0.002],
    ["cube1m_spherical_lad2_multi_1scan", "B", 0.001, 0.002],
    ["tree_almond_leaves_2scans", "A", 0.0015, 0.004],
  ] as const)("%s, setting %s: triangles within %f, area within %f", async (name, setting, share, area_share) => {
    const { scans, grid, settings, triangles } = referenceCase(name);
    const { meta } = await scanMesh(made, { scans, grid, ...settings[setting] });
    const [count, area] = triangles[setting];
    expect(Math.abs(meta.num_triangles / count - 1)).toBeLessThan(share);
    expect(Math.abs(meta.surface_area / area - 1)).toBeLessThan(area_share);
  });
});
