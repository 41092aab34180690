import { describe, expect, test } from "vitest";
import { LidarScanSuccess } from "../../shared/contract/lidar-frame.ts";
import { lidarScanned, SCANNER, scanOfFrame, wall } from "../support/session/lidar-scans.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const scan = (payload: object) => lidarScanned(made, payload);
const WALL = { meshes: [wall(5, 3)], scanners: [SCANNER], rays_per_pulse: 1 };

describe("forms of the request", () => {
  const flat = {
    "meshes.0.vertices": Float32Array.from(wall(5, 3).vertices.flat()),
    "meshes.0.triangles": Uint32Array.from(wall(5, 3).triangles.flat()),
  };

  test("a PHB1 frame answers like JSON", async () => {
    const wanted = await scan(WALL);
    const { meshes: _, ...rest } = WALL;
    const found = await scanOfFrame(made, rest, flat);
    if (!("outcome" in found) || found.outcome?.kind !== "frame") throw new Error(JSON.stringify(found));
    expect([...(found.outcome.frame.buffers.get("s0.points") ?? [])]).toEqual(wanted.f32("s0.points"));
    const gap = { "meshes.1.vertices": flat["meshes.0.vertices"] };
    expect(await scanOfFrame(made, rest, gap)).toMatchObject({
      status: 400,
      body: expect.stringContaining("meshes.0 is not"),
    });
    const twice = await scanOfFrame(made, WALL, flat);
    expect(twice).toMatchObject({ status: 400, body: expect.stringContaining("given twice") });
  });

  test("a JSON body above 1 MiB", async () => {
    const colors = new Array(60_000).fill([0.123456789, 0.5, 0.25]);
    const vertices = [...wall(5, 3).vertices, ...new Array(59_996).fill([0, 0, 0])];
    const { meta, f32 } = await scan({ ...WALL, meshes: [{ ...wall(5, 3), vertices, colors }] });
    expect(meta.scanners[0]).toMatchObject({ num_points: 81, has_colors: true });
    expect(f32("s0.colors")[1]).toBeCloseTo(0.5, 4);
  });

  test("a plant's frame with instances is scanned like its mesh", async () => {
    const plant = { plant_type: "bean", age: 20, random_seed: 1 };
    const grown = async (instances: boolean) => {
      const answer = await made.app.inject({
        method: "POST",
        url: "/api/plant/generate",
        headers: { accept: "application/octet-stream" },
        payload: { ...plant, instances },
      });
      const { outcome } = (await import("../support/app/run-body.ts")).readRun(answer.rawPayload);
      if (outcome.kind !== "frame") throw new Error(JSON.stringify(outcome));
      return outcome.frame;
    };
    const scanners = [
      {
        ...SCANNER,
        origin: [0, -0.6, 0.2],
        n_theta: 90,
        n_phi: 90,
        theta_min_deg: 60,
        theta_max_deg: 120,
        phi_min_deg: -30,
        phi_max_deg: 30,
      },
    ];
    const rest = { scanners, rays_per_pulse: 1, extra_fields: ["organ"] };
    const results = [];
    for (const instances of [false, true]) {
      const { meta, buffers } = await grown(instances);
      const { origin, materials, textures, prototype_first_triangle } = meta;
      const fields = {
        origin,
        materials: materials ?? null,
        textures: textures ?? null,
        ...(instances ? { prototype_first_triangle } : {}),
      };
      const unused = /normals|instance_plant|sim_xml/;
      const lists = [...buffers]
        .filter(([name]) => !unused.test(name))
        .map(([name, data]) => [`meshes.0.${name}`, data] as const);
      const found = await scanOfFrame(made, { ...rest, meshes: [fields] }, Object.fromEntries(lists));
      if (!("outcome" in found) || found.outcome?.kind !== "frame")
        throw new Error(JSON.stringify(found).slice(0, 500));
      results.push(found.outcome.frame);
    }
    const [expanded, placed] = results.map((frame) => ({
      meta: LidarScanSuccess.parse(frame.meta).scanners[0],
      organs: [...(frame.buffers.get("s0.scalar5") ?? [])],
    }));
    expect(expanded?.meta?.num_points).toBeGreaterThan(200);
    expect(expanded?.meta?.has_colors).toBe(true);
    expect(Math.abs((placed?.meta?.num_points ?? 0) - (expanded?.meta?.num_points ?? 0))).toBeLessThan(5);
    const leaves = (organs: readonly number[] = []) => organs.filter((organ) => organ === 1).length;
    expect(leaves(placed?.organs)).toBeGreaterThan(100);
    expect(Math.abs(leaves(placed?.organs) - leaves(expanded?.organs))).toBeLessThan(5);
  });
});
