import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { create } from "../support/app/app.ts";
import { octreeValues } from "../support/octree/octree-folder.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { present, SCANS } from "../support/scans/real-scans.ts";
import { sessionTest } from "../support/session/session-test.ts";

describe.skipIf(!present)("real scans", () => {
  const tails = new Map<string, CreateSessionTail>();
  const made = sessionTest({ closeSessions: "at the end" });
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

  test("the table lists every file of its folders", () => {
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

  test("partial damage is reported in a warning", async () => {
    const said = async (path: string) => (await tail(path)).warnings?.join(" ");
    expect(await said("las/malformed/garbage_nVariableLength.las")).toMatch(
      /declares 719 points, but only 718 complete records/,
    );
    expect(await said("las/malformed/bad_vlr_count.las")).toMatch(/declares 3 variable length records, but only 2/);
    expect(await said("ptx_pts/bunny_8.pts")).toMatch(/declares 8 points but contains 9/);
    expect(await said("las/crs/epsg_4326.las")).toMatch(/degrees/);
    expect(await said("las/crs/certainty3d-color-utm-feet-navd88.las")).toMatch(/US survey foot .*source_units/);
    for (const { warnings = [] } of tails.values()) expect(new Set(warnings).size).toBe(warnings.length);
  });

  test("classes and labels equal those counted in the manifest", async () => {
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
          const difference = (other?.tight_bounds?.[corner][axis] ?? 0) - (text?.tight_bounds?.[corner][axis] ?? 0);
          // Half a millimetre between the files, and half a step of each octree.
          expect(Math.abs(difference)).toBeLessThanOrEqual(0.0005 + 0.001);
        }
      }
    }
  });

  test("extra bytes keep the values written by the author of the data", async () => {
    const { cache_id } = await tail("las/extra_bytes/extra_bytes_scalar_types.las");
    const bytes = octreeValues(made.octrees, cache_id, "u8_counter");
    expect(bytes).toEqual(Array.from({ length: 3_000 }, (_, i) => (7_919 * i) % 256).sort((a, b) => a - b));
  });
});
