// Scans that are joined, split, shuffled or written to a file and read: leaf area and its errors stay.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Client, createClient } from "../../shared/client/index.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true, closeSessions: "at the end" });
let client: Client;
beforeAll(() => {
  client = createClient({ baseUrl: made.base });
});

type Triple = [number, number, number];
const PLACES: readonly [Triple, Triple] = [
  [-5, 0, 1],
  [4, 3, 1.5],
];
const GRID = { center: [0, 0, 1] as Triple, size: [2, 2, 2] as Triple, nx: 2, ny: 2, nz: 2 };

/** Squares of 6 cm in a cube of 2 m, turned evenly. */
function leaves(count: number) {
  const even = (i: number, step: number) => (i * step) % 1;
  const vertices: Triple[] = [];
  const triangles: Triple[] = [];
  for (let i = 0; i < count; i += 1) {
    const at = [2 * even(i, 0.7548776662) - 1, 2 * even(i, 0.5698402909) - 1, 2 * even(i, 0.8191725134)];
    const [z, turn] = [2 * even(i, 0.6180339887) - 1, 2 * Math.PI * even(i, 0.4142135624)];
    const across = Math.sqrt(1 - z * z);
    const u = [-Math.sin(turn), Math.cos(turn), 0];
    const v = [z * Math.cos(turn), z * Math.sin(turn), -across];
    const first = vertices.length;
    for (const [a, b] of [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ] as const)
      vertices.push(at.map((value, k) => value + 0.03 * (a * (u[k] ?? 0) + b * (v[k] ?? 0))) as Triple);
    triangles.push([first, first + 1, first + 2], [first, first + 2, first + 3]);
  }
  return { vertices, triangles };
}

async function scanned(multi: boolean): Promise<string[]> {
  const scanner = (origin: Triple, bearing: number) => ({
    id: String(bearing),
    origin,
    n_theta: 90,
    n_phi: 90,
    theta_min_deg: 70,
    theta_max_deg: 110,
    phi_min_deg: bearing - 20,
    phi_max_deg: bearing + 20,
    ...(multi ? { return_mode: "multi" as const, max_returns: 4, beam_divergence_mrad: 4 } : {}),
  });
  const { meta } = await client.lidarScan({
    meshes: [leaves(1500)],
    scanners: [scanner(PLACES[0], 90), scanner(PLACES[1], 233)],
    rays_per_pulse: multi ? 20 : 1,
    record_misses: true,
    seed: 4,
  });
  return meta.scanners.map(({ session }) => session?.session_id ?? "");
}

async function leafArea(ids: readonly string[], return_type: "single" | "multi", places: readonly Triple[] = PLACES) {
  const scans = ids.map((session_id, i) => ({ session_id, origin: places[i] ?? PLACES[0], return_type }));
  const { cells, total_leaf_area } = await client.ladCompute({
    scans,
    grid: GRID,
    gtheta_override: true,
    gtheta: 0.5,
    min_voxel_hits: 1,
  });
  return [total_leaf_area, ...cells.flatMap(({ lad, lad_std_total, beam_count }) => [lad, lad_std_total, beam_count])];
}

/** Rows of a text file in another order. */
function shuffled(path: string): string {
  const [head = "", ...rows] = readFileSync(path, "utf8").trim().split("\n");
  const mixed = rows.map((_, i) => rows[(i * 7919) % rows.length] ?? "");
  const out = path.replace(/\.csv$/, "-shuffled.csv");
  writeFileSync(out, `${[head, ...mixed].join("\n")}\n`);
  return out;
}

test.each(["single", "multi"] as const)(
  "scans of %s returns",
  async (returns) => {
    const folder = folderOfTest("ways-");
    const apart = await scanned(returns === "multi");
    const wanted = await leafArea(apart, returns);
    expect(wanted[0]).toBeGreaterThan(1);
    const same = async (name: string, ids: readonly string[], tolerance = 1e-9, places: readonly Triple[] = PLACES) => {
      const found = await leafArea(ids, returns, places);
      for (const [i, value] of found.entries())
        expect(Math.abs((value ?? Number.NaN) / (wanted[i] ?? Number.NaN) - 1), `${name}, ${i}`).toBeLessThan(
          tolerance,
        );
    };
    await same("in another order", apart.toReversed(), 1e-9, PLACES.toReversed());
    const { merged } = await client.merge({ session_ids: apart });
    await same("merged", [merged.session_id]);
    const every = { slug: "scan_index", exclude_values: [], include_misses: true };
    const parts = await client.extractByColumn(merged.session_id, every);
    await same(
      "merged and extracted",
      parts.children.map(({ session_id }) => session_id),
    );
    const file = join(folder, "both.e57");
    await client.exportCloud({
      source: { session_id: merged.session_id, include_misses: true, want_extras: true },
      format: "e57",
      dest_path: file,
    });
    await same("one E57 file", [(await client.createSession({ source_path: file })).session_id], 2e-3);
    const scans = apart.map((session_id, i) => ({ session_id, origin: PLACES[i] ?? PLACES[0], label: `s${i}` }));
    await client.exportScans({ scans, dest_dir: folder, base_name: "x", write_xml: false, data_format: "csv" });
    const mixed = [];
    for (const [i, origin] of PLACES.entries()) {
      const source_path = shuffled(join(folder, `x_s${i}.csv`));
      mixed.push((await client.createSession({ source_path, origin })).session_id);
    }
    await same("shuffled rows of tables", mixed, 0.01); // six decimals: beams on the edges of voxels and of bins of directions
  },
  60_000,
);
