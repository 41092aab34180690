// Trunks with rough bark, seen by scans that fit: what the bark moves single places by is no drift of the scanner.
import { expect, test } from "vitest";
import { startBackend } from "../../backend/entry/serve.ts";
import { createClient } from "../../shared/client/index.ts";
import { gaussian, uniform } from "../accuracy/random.ts";
import { folderOfTest } from "../support/run/folders.ts";

const [SIDES, RINGS, HEIGHT_M] = [36, 60, 6];
const PLACES = Array.from({ length: 9 }, (_, k) => ({ x: 5 * (k % 3) - 5, y: 5 * Math.floor(k / 3) - 5 }));
const radiusOf = (k: number) => 0.15 + 0.01 * k;

/** A cylinder whose corners stand out or lie back, standard deviation `rough_m`. */
function trunk(k: number, rough_m: number, next: () => number) {
  const { x, y } = PLACES[k] ?? { x: 0, y: 0 };
  const [vertices, triangles]: [number[][], number[][]] = [[], []];
  for (let ring = 0; ring <= RINGS; ring += 1)
    for (let side = 0; side < SIDES; side += 1) {
      const r = radiusOf(k) + rough_m * Math.max(-2, Math.min(2, gaussian(next)));
      const turn = (2 * Math.PI * side) / SIDES;
      vertices.push([x + r * Math.cos(turn), y + r * Math.sin(turn), (HEIGHT_M * ring) / RINGS]);
      if (ring === RINGS) continue;
      const [a, b] = [ring * SIDES + side, ring * SIDES + ((side + 1) % SIDES)];
      triangles.push([a, b, b + SIDES], [a, b + SIDES, a + SIDES]);
    }
  return { vertices, triangles };
}

const corners = [
  [-12, -12, 0],
  [12, -12, 0],
  [12, 12, 0],
  [-12, 12, 0],
];
const GROUND = { vertices: corners, triangles: [0, 1].map((k) => [0, k + 1, k + 2]) };
const TRIPODS = [-8, 0, 8]
  .flatMap((x) => [-8, 0, 8].map((y) => [x, y, 1.7]))
  .filter(([x, y]) => x !== 0 || y !== 0)
  .concat([
    [-2.5, -2.5, 1.7],
    [2.5, 2.5, 1.7],
  ]);

test.each([0.01, 0.02])("bark that is rough by %d m does not move scans that fit", async (rough_m) => {
  const folder = folderOfTest("rough-trunks-");
  const backend = await startBackend({
    dataDir: folder,
    octreeCacheRoot: `${folder}/octrees`,
    port: 0,
    logLevel: "silent",
  });
  try {
    const client = createClient({ baseUrl: backend.url });
    const next = uniform(5);
    const { meta } = await client.lidarScan({
      meshes: [GROUND, ...PLACES.map((_, k) => trunk(k, rough_m, next))] as never,
      scanners: TRIPODS.map((origin, k) => ({
        ...{ id: `${k}`, origin, n_theta: 225, n_phi: 1800, theta_min_deg: 60, theta_max_deg: 105 },
        ...{ phi_min_deg: 0, phi_max_deg: 359.8, range_noise_m: 0.003 },
      })) as never,
      ...{ record_misses: false, seed: 3 },
    });
    const session_ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
    const id = (await client.merge({ session_ids })).merged.session_id;
    await client.segmentGroundSession(id, { defer_octree: true });
    await client.segmentTreesSession(id, { method: "auto", defer_octree: true });
    const { trees, view_fit, warnings } = await client.treeInventory(id, {});
    expect(view_fit).toMatchObject({ aligned: false });
    expect(warnings.join()).not.toMatch(/Stems stand at different places/);
    const errors = PLACES.map(({ x, y }, k) => {
      const tree = trees.find(({ stem_base: [tx = 99, ty = 99] = [] }) => Math.hypot(tx - x, ty - y) < 0.5);
      return Math.abs((tree?.dbh_m ?? 0) - 2 * radiusOf(k));
    });
    expect(Math.max(...errors)).toBeLessThan(0.008);
  } finally {
    await backend.stop({ removeSessions: true });
  }
});
