// Fields of the service's own plants: what they consist of, and the meshes that a scan takes.
import type { Client } from "../../shared/client/index.ts";

/** Codes of organs. */
const LEAF = 1;
const [PETIOLE, SHOOT, PETIOLULE] = [2, 3, 6];

export interface FieldPlan {
  readonly species: string;
  readonly age_days: number;
  /** Along rows and between them, metres, and plants along both. */
  readonly spacing: readonly [number, number];
  readonly count: readonly [number, number];
}

export interface Field {
  /** Of the ground that belongs to the plants, metres; the middle is (0, 0), the ground z = 0. */
  readonly size: readonly [number, number];
  readonly top_m: number;
  /** Middle (x, y, z) and area of each triangle of a leaf: metres, square metres. */
  readonly leaves: Float64Array;
  /** Half of the surface of all other organs. */
  readonly stems_m2: number;
  /** Volume of internodes, petioles and petiolules, cubic metres. */
  readonly tubes_m3: number;
  /** Diameter of the lowest internode, metres. */
  readonly base_diameter_m: number;
  /** In the form that lidarScan takes. */
  readonly meshes: readonly object[];
}

type Lists = ReadonlyMap<string, ArrayLike<number>>;
type Place = [number, number, number];

/** Corners of each triangle of each instance, metres. */
function* triangles(lists: Lists, firsts: readonly number[]) {
  const list = (name: string) => lists.get(name) ?? [];
  const [corners, organs] = [list("prototype_vertices"), list("prototype_organ_codes")];
  const [prototypes, matrices] = [list("instance_prototype"), list("instance_matrix")];
  for (let i = 0; i < prototypes.length; i += 1) {
    const prototype = prototypes[i] ?? 0;
    for (let t = firsts[prototype] ?? 0; t < (firsts[prototype + 1] ?? 0); t += 1) {
      const places = [0, 1, 2].map((k) => {
        const from = [0, 1, 2].map((axis) => corners[9 * t + 3 * k + axis] ?? 0);
        return [0, 4, 8].map(
          (row) =>
            [0, 1, 2].reduce((sum, axis) => sum + (matrices[12 * i + row + axis] ?? 0) * (from[axis] ?? 0), 0) +
            (matrices[12 * i + row + 3] ?? 0),
        ) as Place;
      }) as [Place, Place, Place];
      yield { places, is_leaf: organs[t] === LEAF };
    }
  }
}

function areaOf([a, b, c]: readonly [Place, Place, Place]): number {
  const [u, v] = [b, c].map((corner) => corner.map((value, k) => value - (a[k] ?? 0)) as Place) as [Place, Place];
  return Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
}

/** Area of the convex polygon at the lower end of a tube prototype. */
function crossSection(corners: ArrayLike<number>, first: number, end: number): number {
  const ring = new Map<string, readonly [number, number]>();
  for (let at = 9 * first; at < 9 * end; at += 3) {
    const [x = 0, y = 0, z = 0] = [corners[at], corners[at + 1], corners[at + 2]];
    if (Math.abs(z) < 1e-6) ring.set(`${x.toFixed(5)},${y.toFixed(5)}`, [x, y]);
  }
  const around = [...ring.values()].sort(([ax, ay], [bx, by]) => Math.atan2(ay, ax) - Math.atan2(by, bx));
  return around.reduce((sum, [x, y], i) => {
    const [nx, ny] = around[(i + 1) % around.length] ?? [0, 0];
    return sum + (x * ny - y * nx) / 2;
  }, 0);
}

/** Volume of the tubes of a plant, and the diameter of its lowest internode: each instance is a prism of length 1 along z. */
function tubesOf(lists: Lists, firsts: readonly number[]) {
  const list = (name: string) => lists.get(name) ?? [];
  const [corners, organs, matrices] = [
    list("prototype_vertices"),
    list("prototype_organ_codes"),
    list("instance_matrix"),
  ];
  let [tubes_m3, base_diameter_m, lowest] = [0, 0, Number.POSITIVE_INFINITY];
  for (const [i, prototype] of Array.from(list("instance_prototype")).entries()) {
    const first = firsts[prototype] ?? 0;
    const organ = organs[first] ?? 0;
    if (organ !== PETIOLE && organ !== SHOOT && organ !== PETIOLULE) continue;
    const m = (row: number, column: number) => matrices[12 * i + 4 * row + column] ?? 0;
    const det =
      m(0, 0) * (m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)) -
      m(0, 1) * (m(1, 0) * m(2, 2) - m(1, 2) * m(2, 0)) +
      m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0));
    const volume = crossSection(corners, first, firsts[prototype + 1] ?? 0) * Math.abs(det);
    tubes_m3 += volume;
    if (organ !== SHOOT || m(2, 3) >= lowest) continue;
    lowest = m(2, 3);
    const length = Math.hypot(m(0, 2), m(1, 2), m(2, 2));
    base_diameter_m = 2 * Math.sqrt(volume / (Math.PI * length));
  }
  return { tubes_m3, base_diameter_m };
}

const GROUND_M = 60;
const GROUND = {
  vertices: [
    [-GROUND_M, -GROUND_M, 0],
    [GROUND_M, -GROUND_M, 0],
    [GROUND_M, GROUND_M, 0],
    [-GROUND_M, GROUND_M, 0],
  ],
  triangles: [
    [0, 1, 2],
    [0, 2, 3],
  ],
  organ_codes: [0, 0],
};

/** Grows a field through the service, and adds flat ground. */
export async function growField({ species, age_days, spacing, count }: FieldPlan, client: Client): Promise<Field> {
  const { meta, buffers } = await client.generateCanopy({
    ...{ plant_type: species, age: age_days, random_seed: 7, instances: true },
    ...{ spacing_x: spacing[0], spacing_y: spacing[1], count_x: count[0], count_y: count[1] },
  });
  const firsts = meta.prototype_first_triangle ?? [];
  const leaves: number[] = [];
  let [top_m, stems_m2] = [0, 0];
  for (const { places, is_leaf } of triangles(buffers as Lists, firsts)) {
    const area = areaOf(places);
    top_m = Math.max(top_m, ...places.map(([, , z]) => z));
    if (!is_leaf) stems_m2 += area / 2;
    else leaves.push(...([0, 1, 2] as const).map((k) => places.reduce((sum, place) => sum + place[k] / 3, 0)), area);
  }
  const { materials, textures, origin } = meta;
  const lists = Object.fromEntries([...buffers].filter(([name]) => name !== "sim_xml" && name !== "instance_plant"));
  const mesh = { ...lists, origin, prototype_first_triangle: firsts, materials, textures };
  return {
    size: [spacing[0] * count[0], spacing[1] * count[1]],
    top_m,
    leaves: Float64Array.from(leaves),
    stems_m2,
    ...tubesOf(buffers as Lists, firsts),
    meshes: [mesh, GROUND],
  };
}
