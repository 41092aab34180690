import { z } from "zod";
import type { ListRequest } from "../../../shared/client/list-request.ts";
import type { Point } from "../../../shared/contract/geometry.ts";
import { LidarScanRequest } from "../../../shared/contract/lidar.ts";
import { strings } from "../strings.ts";
import { count } from "../workflow/format.ts";
import type { Scene } from "../workflow/scene.ts";
import { freeOperation } from "./operation.ts";

const words = strings.workflow.operations.scan;

/** Zenith angles of a terrestrial scanner, degrees. */
const THETA = { theta_min_deg: 30, theta_max_deg: 130 } as const;

const ScanForm = LidarScanRequest.pick({ rays_per_pulse: true, record_misses: true, seed: true }).extend({
  positions: z.int().default(1),
  distance_m: z.number().default(5),
  height_m: z.number().default(1.5),
  step_deg: z.number().default(0.2),
  range_noise_m: z.number().default(0),
});

/** Scans the plants of the scene from positions on a circle around them. */
export const scan = freeOperation({
  id: "scan",
  schema: ScanForm,
  words,
  run: async (form, { client, run, clouds, scene }) => {
    const { positions = 1, distance_m = 5, height_m = 1.5, step_deg = 0.2, range_noise_m = 0, ...request } = form;
    const plants = plantsOf(scene);
    if (plants.length === 0) throw new Error(words.noPlants);
    if (!(step_deg > 0 && positions >= 1)) throw new Error(words.badRaster);
    const middle = middleOf(plants);
    const scanners = Array.from({ length: positions }, (_, i) => ({
      id: words.scanner(i + 1),
      origin: around(middle, (2 * Math.PI * i) / positions, distance_m, height_m),
      n_theta: Math.max(1, Math.round((THETA.theta_max_deg - THETA.theta_min_deg) / step_deg)),
      n_phi: Math.max(1, Math.round(360 / step_deg)),
      ...THETA,
      phi_min_deg: 0,
      phi_max_deg: 360,
      range_noise_m,
    }));
    const meshes = plants.map(({ meta, buffers }) => ({
      ...meta,
      materials:
        meta.materials?.map(({ name, texture_name, has_alpha }) => ({ name, texture_name, has_alpha })) ?? null,
      ...scanned(buffers),
    }));
    const body = { ...request, scanners, meshes } as unknown as ListRequest<typeof LidarScanRequest>;
    const { meta } = await client.lidarScan(body, run);
    await clouds.refresh();
    for (const { session, scanner_id } of meta.scanners) {
      if (!session) continue;
      clouds.change(session.session_id, { name: scanner_id, scan_origin: session.scan_origin });
      await clouds.show(session.session_id);
      clouds.selected.set(session.session_id);
    }
    return {
      facts: meta.scanners.map(({ scanner_id, num_points }) => [scanner_id, words.points(count(num_points))] as const),
      warnings: meta.warnings ?? [],
    };
  },
});

const plantsOf = ({ objects }: Scene) =>
  objects.value.map(({ source }) => source).filter((source) => source.kind === "plant");
type Plant = ReturnType<typeof plantsOf>[number];

/** The lists of a plant's frame that a scan takes. */
function scanned(buffers: Plant["buffers"]): Plant["buffers"] {
  const taken =
    /^(vertices|indices|colors|uv_coordinates|triangle_materials|organ_codes|instance_prototype|instance_matrix)$/;
  return Object.fromEntries(
    Object.entries(buffers).filter(
      ([name]) => taken.test(name.replace(/^prototype_/, "")) && name !== "prototype_prototype",
    ),
  );
}

/** The mean place of the plants: of the instances where there are any. */
function middleOf(plants: readonly Plant[]): Point {
  const sum: [number, number, number] = [0, 0, 0];
  for (const { meta, buffers } of plants) {
    const matrices = buffers.instance_matrix;
    const origin = meta.origin ?? [0, 0, 0];
    const places = Math.max(1, Math.floor((matrices?.length ?? 0) / 12));
    for (let axis = 0; axis < 2; axis += 1) {
      let mean = 0;
      for (let i = 0; matrices && i < places; i += 1) mean += (matrices[i * 12 + axis * 4 + 3] ?? 0) / places;
      sum[axis as 0 | 1] += ((origin[axis] ?? 0) + mean) / plants.length;
    }
    sum[2] += origin[2] / plants.length;
  }
  return sum;
}

const around = ([x, y, z]: Point, angle: number, distance: number, height: number): Point => [
  x + distance * Math.sin(angle),
  y - distance * Math.cos(angle),
  z + height,
];
