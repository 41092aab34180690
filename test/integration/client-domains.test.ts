import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../shared/client/index.ts";
import { uniform } from "../accuracy/random.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* One workflow of each domain as a user of the TypeScript client walks it, from data with a known answer to a result. */

const made = sessionTest({ listening: true });
const client = () => createClient({ baseUrl: made.base });

/** Triangles of equal size with random normals, spread over a cube of 3 m above the ground. */
function leaves(count: number, area_m2: number, random: () => number) {
  const vertices: [number, number, number][] = [];
  const edge = Math.sqrt((4 * area_m2) / Math.sqrt(3));
  for (let i = 0; i < count; i += 1) {
    const center = [3 * random(), 3 * random(), 1 + 3 * random()];
    const up = 2 * random() - 1;
    const [turn, spin] = [2 * Math.PI * random(), 2 * Math.PI * random()];
    const flat = Math.sqrt(1 - up * up);
    const [a, b] = [
      [Math.sin(turn), -Math.cos(turn), 0],
      [up * Math.cos(turn), up * Math.sin(turn), -flat],
    ] as const;
    for (const corner of [0, 1, 2]) {
      const angle = spin + (corner * 2 * Math.PI) / 3;
      const [u, v] = [(edge / Math.sqrt(3)) * Math.cos(angle), (edge / Math.sqrt(3)) * Math.sin(angle)];
      vertices.push([0, 1, 2].map((k) => (center[k] ?? 0) + u * (a[k] ?? 0) + v * (b[k] ?? 0)) as never);
    }
  }
  return { vertices, indices: vertices.map((_, i) => i) };
}

test("leaf area: leaves of a known area are scanned from four sides and measured", async () => {
  const [count, area] = [4000, 0.0035];
  const scanners = [-4, 7].flatMap((x) =>
    [-4, 7].map((y) => ({
      id: `at ${x} ${y}`,
      origin: [x, y, 1.5] as [number, number, number],
      n_theta: 150,
      n_phi: 300,
      theta_min_deg: 40,
      theta_max_deg: 110,
      phi_min_deg: 0,
      phi_max_deg: 360,
    })),
  );
  const mesh = leaves(count, area, uniform(11));
  const scanned = await client().lidarScan({ meshes: [mesh], scanners, record_misses: true, rays_per_pulse: 1 });
  expect(scanned.meta.scanners.map(({ session }) => session?.has_misses)).toEqual([true, true, true, true]);
  const measured = await client().ladCompute({
    scans: scanned.meta.scanners.map(({ session }, i) => ({
      session_id: session?.session_id ?? "",
      origin: scanners[i]?.origin ?? [0, 0, 0],
    })),
    grid: { center: [1.5, 1.5, 2.5], size: [3, 3, 3], nx: 3, ny: 3, nz: 3 },
    gtheta_override: true,
    gtheta: 0.5,
    element_width: 0.08,
  });
  expect(measured.cells).toHaveLength(27);
  // Random leaves, G = 0.5 exactly; what is left is the sampling of 27 voxels by about 20,000 beams.
  expect(measured.total_leaf_area / (count * area)).toBeGreaterThan(0.9);
  expect(measured.total_leaf_area / (count * area)).toBeLessThan(1.1);
});

/** Points on the faces of a box of 2 x 3 x 1 m. */
function boxPoints(count: number, random: () => number): number[][] {
  const size = [2, 3, 1];
  return Array.from({ length: count }, () => {
    const axis = random() < 6 / 11 ? 2 : random() < 0.6 ? 0 : 1;
    return size.map((edge, k) => (k === axis ? (random() < 0.5 ? 0 : edge) : edge * random()));
  });
}

test("surfaces and registration: a scan becomes a mesh, a moved scan is laid on it, and the distances vanish", async () => {
  const random = uniform(5);
  const rows = (points: readonly number[][]) => `x y z\n${points.map((point) => point.join(" ")).join("\n")}\n`;
  const still = await client().createSession({ source_path: made.file("box.txt", rows(boxPoints(6000, random))) });
  const surface = await client().triangulate({
    sources: [{ session_id: still.session_id }],
    method: "alpha_shape",
    alpha: 0.15,
  });
  expect(surface.meta.surface_area).toBeGreaterThan(21);
  const [vertices, indices] = [surface.buffers.get("vertices"), surface.buffers.get("indices")];
  const mesh = { mesh_vertices: Array.from(vertices ?? []), mesh_indices: Array.from(indices ?? []) };
  const [turn, shift] = [0.06, [0.05, -0.04, 0.03]];
  const moved = boxPoints(4000, random).map(([x = 0, y = 0, z = 0]) => [
    Math.cos(turn) * x - Math.sin(turn) * y + (shift[0] ?? 0),
    Math.sin(turn) * x + Math.cos(turn) * y + (shift[1] ?? 0),
    z + (shift[2] ?? 0),
  ]);
  const { session_id } = await client().createSession({ source_path: made.file("moved.txt", rows(moved)) });
  const source = { session_id };
  const far = await client().meshDistance({ source, ...mesh });
  // The mesh is brought onto the moved scan, then the scan onto the one it came from.
  const forth = await client().meshRegister({ source, ...mesh, method: "point_to_plane" });
  const back = await client().cloudRegister({
    source_source: source,
    target_source: { session_id: still.session_id },
  });
  const turnOf = ([a = 0, , , , b = 0]: readonly number[]) => Math.atan2(b, a);
  expect(turnOf(forth.transformation_matrix)).toBeCloseTo(turn, 2);
  expect(turnOf(back.transformation_matrix)).toBeCloseTo(-turn, 2);
  await client().transform(session_id, { matrix: back.transformation_matrix });
  const near = await client().meshDistance({ source, ...mesh });
  expect(near.mean_distance).toBeLessThan(0.3 * far.mean_distance);
});

test("fits and optics: an equation, a built-in model, a workbook, LaTeX and a leaf spectrum", async () => {
  const xs = Array.from({ length: 30 }, (_, i) => 0.2 * i);
  const fitted = await client().fitCustom({
    model_type: "user",
    equation: "a * exp(-b * x)",
    parameters: [
      { name: "a", symbol: "a", default: 1 },
      { name: "b", symbol: "b", default: 1 },
    ],
    inputs: [{ name: "x", symbol: "x" }],
    outputs: [{ name: "y", symbol: "y" }],
    column_mappings: { input_x: "x", output_y: "y" },
    data: { x: xs, y: xs.map((x) => 3 * Math.exp(-0.7 * x)) },
  });
  expect(fitted.parameters.a?.value).toBeCloseTo(3, 6);
  expect(fitted.parameters.b?.value).toBeCloseTo(0.7, 6);
  const { latex } = await client().renderLatex({ equation: "a * exp(-b * x)" });
  expect(latex).toContain("\\exp");
  expect((await client().latestLatex()).latex).toBe(latex);
  const file = await client().exportResults({
    model_name: "decay",
    parameters: { a: fitted.parameters.a?.value ?? 0, b: fitted.parameters.b?.value ?? 0 },
    format: "json",
  });
  expect(Buffer.from(file).toString()).toContain("decay");
  const nm = Array.from({ length: 41 }, (_, i) => 450 + 50 * i);
  const leaf = await client().fitProspect({
    wavelengths: nm,
    reflectance: nm.map((at) => (at < 700 ? 0.06 + 0.04 * Number(at === 550) : at < 1350 ? 0.46 : 0.25)),
  });
  expect(leaf.success).toBe(true);
});

test("plants and projects: a canopy grows, is scanned, saved with its scene and opened as it was", async () => {
  const plants = client();
  const { session_id = "" } = await plants.createPlantSession({ plant_type: "bean", initial_age: 4, random_seed: 2 });
  expect((await plants.advancePlant(session_id ?? "", { dt: 6 })).current_age).toBe(10);
  await plants.closePlantSession(session_id ?? "");
  const canopy = await plants.generateCanopy({ plant_type: "bean", age: 10, count_x: 2, count_y: 2, random_seed: 2 });
  const vertices = canopy.buffers.get("vertices") as Float32Array;
  const corners = Array.from(
    { length: vertices.length / 3 },
    (_, i) => Array.from(vertices.slice(3 * i, 3 * i + 3)) as [number, number, number],
  );
  const scanned = await plants.lidarScan({
    meshes: [{ vertices: corners, indices: corners.map((_, i) => i) }],
    scanners: [
      {
        id: "above",
        origin: [0.2, 0.2, 2],
        n_theta: 300,
        n_phi: 600,
        theta_min_deg: 140,
        theta_max_deg: 180,
        phi_min_deg: 0,
        phi_max_deg: 360,
      },
    ],
  });
  const scan = scanned.meta.scanners[0]?.session?.session_id ?? "";
  const { deleted_count } = await plants.deleteRegion(scan, {
    region: { kind: "box", min: [-9, -9, -9], max: [0.2, 9, 9] },
  });
  expect(deleted_count).toBeGreaterThan(0);
  const scene = new Uint8Array(Buffer.from("a scene of the client"));
  const { token } = await plants.stageScene(scene);
  const path = join(made.folder, "beans.proj");
  const saved = await plants.saveProject({ path, scene_token: token, session_ids: [scan] });
  expect(saved.bytes).toBe(readFileSync(path).length);
  const opened = await plants.openProject({ path });
  expect(Buffer.from(await plants.projectScene(opened.scene_token))).toEqual(Buffer.from(scene));
  const again = opened.session_map[scan] ?? "";
  const summary = (id: string) => async () => {
    const one = (await plants.listSessions()).sessions.find((session) => session.session_id === id);
    return { total: one?.total_count, deleted: one?.deleted_count, undo: one?.undo };
  };
  expect(await summary(again)()).toEqual(await summary(scan)());
  expect((await plants.resetEdits(again, { edit_count: 0 })).deleted_count).toBe(0);
});
