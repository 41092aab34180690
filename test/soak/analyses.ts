// Steps of the domains beyond files and edits: trees, wood, models of trees, surfaces, scanners and leaves, plants, fits,
// projects. Each takes a small part of a cloud or makes what it needs, checks what must hold, and closes what it made.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { RunOptions } from "../../shared/client/index.ts";
import { type Cloud, type CloudStep, left, part, pick, type Step, same, type User, Wrong } from "./steps.ts";

/** Most points of a part that analyses look at: a user must not wait for minutes. */
const MOST_POINTS = 60_000;

/** Runs `body` on a cloud of its own, cut out of the user's. */
async function onPart(
  user: User,
  cloud: Cloud,
  share: number,
  run: RunOptions,
  body: (id: string, points: number) => Promise<void>,
): Promise<void> {
  if (left(cloud) === 0) return;
  const size = Math.min(share, Math.sqrt(MOST_POINTS / left(cloud)));
  const { extracted } = await user.client.extract(cloud.id, { region: part(user.random, cloud, size) }, run);
  if (!extracted) return;
  const { session_id } = extracted;
  try {
    if (extracted.point_count <= 2 * MOST_POINTS) await body(session_id, extracted.point_count);
  } finally {
    await user.client.closeSession(session_id).catch(() => undefined);
  }
}

const trees: CloudStep = (user, cloud, run) =>
  onPart(user, cloud, 0.3, run, async (id, points) => {
    const method = pick(user.random, ["chm", "default", "auto"] as const);
    const request = { method, defer_octree: true, acknowledge_cost: true };
    const found = await user.client.segmentTreesSession(id, request, run);
    if (found.analyzed_points > points) throw new Wrong("trees of more points than there are"); // noise is left out
    if (found.num_trees === 0) return;
    const { trees: rows } = await user.client.treeInventory(id, { min_points: 1 }, run);
    if (rows.length > found.num_trees) throw new Wrong(`${rows.length} trees measured of ${found.num_trees}`);
    await user.client.fitCrown({ source: { session_id: id }, shape: "ellipsoid" }, run);
  });

const wood: CloudStep = (user, cloud, run) =>
  onPart(user, cloud, 0.15, run, async (id, points) => {
    const method = pick(user.random, ["geometric", "connectivity", "sota"] as const);
    const request = { method, defer_octree: true, acknowledge_cost: true };
    const found = await user.client.segmentWoodSession(id, request, run);
    same("labels of wood and leaves", found.num_wood + found.num_leaf, points);
  });

const surface: CloudStep = (user, cloud, run) =>
  onPart(user, cloud, 0.1, run, async (id, points) => {
    const source = { session_id: id };
    // Far from the origin float32 would round the vertices to millimetres and more: the answer is relative to a shift.
    const world_shift = cloud.min.map(Math.floor);
    const request = { sources: [source], method: "delaunay", world_shift } as const;
    const { meta, buffers } = await user.client.triangulate(request, run);
    const vertices = buffers.get("vertices") as Float32Array;
    const mesh = {
      mesh_vertices: Array.from(vertices, (value, i) => value + (meta.world_shift?.[i % 3] ?? 0)),
      mesh_indices: buffers.get("indices") as Uint32Array,
    };
    if (mesh.mesh_indices.length === 0) return;
    if (meta.points_used > points) throw new Wrong("a mesh of more points than there are");
    const { median_distance } = await user.client.meshDistance({ source, ...mesh }, run);
    if (!(median_distance < 1e-4)) throw new Wrong(`points are ${median_distance} m from the mesh of them`);
  });

const register: Step = async (user, run) => {
  const { random } = user;
  const target = Float32Array.from({ length: 9000 }, (_, i) => (i % 3 === 2 ? 0.4 : 2) * random());
  const shift = [0.02, -0.01, 0.015];
  const source = target.map((value, i) => value + (shift[i % 3] ?? 0));
  const pose = await user.client.cloudRegister({ source_points: source, target_points: target }, run);
  const off = [3, 7, 11].map((at, axis) => (pose.transformation_matrix[at] ?? 0) + (shift[axis] ?? 0));
  if (Math.hypot(...off) > 0.01) throw new Wrong(`a shifted copy was registered ${Math.hypot(...off)} m off`);
};

/** A stem of 3 m with two branches, as points of their surfaces. */
function stemWithBranches(random: () => number, count: number): [number, number, number][] {
  return Array.from({ length: count }, (_, i) => {
    const turn = 2 * Math.PI * random();
    const along = random();
    if (i % 2 === 0) return [0.1 * Math.cos(turn), 0.1 * Math.sin(turn), 3 * along];
    const side = i % 4 === 1 ? 1 : -1;
    return [side * along, 0.04 * Math.cos(turn), 2 + 0.5 * along + 0.04 * Math.sin(turn)];
  });
}

const models: Step = async (user, run) => {
  const points = stemWithBranches(user.random, 4000);
  const { cylinders, shoots } = await user.client.buildQsm({ points, radius_model: "tapered" }, run);
  const stem = cylinders.filter(({ rank, start }) => rank === 0 && start[2] > 0.3 && start[2] < 1.5);
  const radius = stem.reduce((most, one) => Math.max(most, one.radius), 0);
  if (Math.abs(radius - 0.1) > 0.03) throw new Wrong(`a stem of 0.1 m has a radius of ${radius} m`);
  const leaves = await user.client.qsmLeaves({ cylinders, shoots, builtin_texture_name: "AlmondLeaf.png" }, run);
  same("leaves placed", leaves.success, true);
  const line = await user.client.extractSkeleton({ points, search_radius: 0.2 }, run);
  if (!(line.total_length > 2)) throw new Wrong(`the skeleton of a tree of 3 m is ${line.total_length} m long`);
};

const SCANNER = {
  id: "one",
  origin: [0, 0, 1] as [number, number, number],
  n_theta: 60,
  n_phi: 180,
  theta_min_deg: 45,
  theta_max_deg: 135,
  phi_min_deg: 0,
  phi_max_deg: 360,
};

const scanAndLeaves: Step = async (user, run) => {
  const [low, high] = [-1.5, 1.5 + user.random()];
  const vertices: [number, number, number][] = [low, high].flatMap((y) => [low, high].map((x) => [x, y, 0.3] as never));
  const meshes = [{ vertices, indices: [0, 1, 2, 1, 3, 2] }];
  const { meta } = await user.client.lidarScan(
    { meshes, scanners: [SCANNER], record_misses: true, rays_per_pulse: 1 },
    run,
  );
  const session = meta.scanners[0]?.session;
  if (!session) throw new Wrong("a scan without a session");
  try {
    same("pulses", session.point_count, SCANNER.n_theta * SCANNER.n_phi);
    const grid = { center: [0, 0, 0.5], size: [4, 4, 1], nx: 2, ny: 2, nz: 1 } as never;
    const scans = [{ session_id: session.session_id, origin: SCANNER.origin }];
    const request = { scans, grid, gtheta_override: true, gtheta: 0.5, min_voxel_hits: 1 };
    const { cells } = await user.client.ladCompute(request, run);
    same("voxels", cells.length, 4);
  } finally {
    await user.client.closeSession(session.session_id).catch(() => undefined);
  }
};

const plants: Step = async (user, run) => {
  const plant_type = pick(user.random, ["bean", "maize", "apple"]);
  const random_seed = Math.floor(100 * user.random());
  const { client } = user;
  const { session_id } = await client.createPlantSession({ plant_type, initial_age: 8, random_seed }, run);
  try {
    same("age", (await client.advancePlant(session_id ?? "", { dt: 4 }, run)).current_age, 12);
  } finally {
    await client.closePlantSession(session_id ?? "").catch(() => undefined);
  }
  const [one, two] = await Promise.all(
    [0, 1].map(() => client.generatePlant({ plant_type, age: 12, random_seed }, run)),
  );
  same("triangles of the same seed", one?.meta.triangle_count, two?.meta.triangle_count);
  const canopy = { plant_type, age: 10, count_x: 3, count_y: 2, random_seed };
  same("plants", (await client.generateCanopy(canopy, run)).meta.plant_count, 6);
};

const fits: Step = async (user, run) => {
  const [a, b] = [1 + user.random(), 0.2 + user.random()];
  const x = Array.from({ length: 40 }, (_, i) => 0.1 * i);
  const symbol = (name: string) => ({ name, symbol: name });
  const fitted = await user.client.fitCustom(
    {
      model_type: "user",
      equation: "a * exp(-b * x)",
      parameters: ["a", "b"].map((name) => ({ ...symbol(name), default: 1 })),
      inputs: [symbol("x")],
      outputs: [symbol("y")],
      column_mappings: { input_x: "x", output_y: "y" },
      data: { x, y: x.map((at) => a * Math.exp(-b * at)) },
    },
    run,
  );
  const off = Math.abs((fitted.parameters.b?.value ?? 0) - b);
  if (!(off < 1e-5)) throw new Wrong(`a rate of ${b} was fitted ${off} off`);
  const wavelengths = Array.from({ length: 21 }, (_, i) => 450 + 50 * i);
  await user.client.fitProspect({ wavelengths, reflectance: wavelengths.map((nm) => (nm < 700 ? 0.08 : 0.45)) }, run);
};

const project: CloudStep = async (user, cloud, run) => {
  const path = join(user.folder, `project-${user.random()}.proj`);
  const scene = new Uint8Array(Buffer.from(path));
  let opened: string | undefined;
  try {
    const { token } = await user.client.stageScene(scene, run);
    await user.client.saveProject({ path, scene_token: token, session_ids: [cloud.id] }, run);
    const { session_map, scene_token } = await user.client.openProject({ path }, run);
    opened = session_map[cloud.id];
    const back = await user.client.projectScene(scene_token, run);
    same("scene of the project", Buffer.from(back).toString(), path);
    const { total_count, deleted_count } = await user.client.resetEdits(opened ?? "", { edit_count: 9999 }, run);
    same("rows of the project", total_count, cloud.total);
    same("deleted rows of the project", deleted_count, cloud.deleted);
  } finally {
    rmSync(path, { force: true });
    if (opened) await user.client.closeSession(opened).catch(() => undefined);
  }
};

/** Name, weight, step on a cloud or without one. */
export const CLOUD_ANALYSES: readonly (readonly [string, number, CloudStep])[] = [
  ["trees", 2, trees],
  ["wood", 2, wood],
  ["surface", 2, surface],
  ["project", 2, project],
];
export const ANALYSES: readonly (readonly [string, number, Step])[] = [
  ["register", 2, register],
  ["models", 2, models],
  ["scan", 2, scanAndLeaves],
  ["plants", 2, plants],
  ["fits", 2, fits],
];
