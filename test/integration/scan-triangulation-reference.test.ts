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
  test.each([
    ["cube1m_spherical_lad0p5_1scan", "A"],
    ["cube1m_spherical_lad0p5_1scan", "B"],
    ["cube1m_spherical_lad2_multi_1scan", "A"],
    ["cube1m_spherical_lad2_multi_1scan", "B"],
    ["tree_almond_leaves_2scans", "A"],
  ] as const)("%s, setting %s: triangles within 0.1 %, area within 0.2 %", async (name, setting) => {
    const { scans, grid, settings, triangles } = referenceCase(name);
    const { meta } = await scanMesh(made, { scans, grid, ...settings[setting] });
    const [count, area] = triangles[setting];
    expect(Math.abs(meta.num_triangles / count - 1)).toBeLessThan(0.001);
    expect(Math.abs(meta.surface_area / area - 1)).toBeLessThan(0.002);
  });
});
