// One cloud that is brought about in several ways: every analysis gives the same numbers.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Client, createClient } from "../../shared/client/index.ts";
import { encodeScene } from "../../shared/wire/psc1.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true, closeSessions: "at the end" });
let client: Client;
beforeAll(() => {
  client = createClient({ baseUrl: made.base });
});

/** Uniform in [0, 1), a function of the number of the call. */
function stream(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

type Row = readonly [x: number, y: number, z: number, strength: number];

/** Rolling ground, three trees with forked stems whose crowns thin out, one of them of more points than a sample; millimetres. */
function plot(): Row[] {
  const draw = stream(7);
  const rows: [number, number, number][] = [];
  const ground = (x: number, y: number) => 0.3 * Math.sin(x / 3) + 0.05 * y;
  for (let x = 0; x < 14; x += 0.12)
    for (let y = 0; y < 14; y += 0.12) rows.push([x, y, ground(x, y) + 0.004 * draw()]);
  const trees = [
    [3.2, 3.4, 0.14, 26_000],
    [10.3, 4.1, 0.1, 5000],
    [6.4, 10.6, 0.2, 5000],
  ] as const;
  for (const [x, y, radius, crown] of trees) {
    const foot = ground(x, y);
    for (let i = 0; i < 5000; i += 1) {
      const [h, turn, fork] = [7 * draw(), 2 * Math.PI * draw(), draw() < 0.6 ? 0.1 : -0.25];
      const r = radius * (h > 2.1 ? 0.7 : 1) + 0.006 * (draw() - 0.5);
      const lean = h > 2.1 ? fork * (h - 2.1) : 0;
      rows.push([x + lean + r * Math.cos(turn), y + r * Math.sin(turn), foot + h]);
    }
    for (let i = 0; i < crown; i += 1) {
      const far = (k: number) => (2 * draw() - 1) ** 3 * k;
      rows.push([x + far(2), y + far(2), foot + 7 + far(2.5)]);
    }
  }
  return rows.map(([a, b, c]) => [a, b, c, draw() * 900].map((v) => Math.round(v * 1000) / 1000) as unknown as Row);
}

const HEADER = "x y z strength";
const text = (rows: readonly Row[], move: readonly number[] = [0, 0, 0]) =>
  `${[HEADER, ...rows.map(([x, y, z, s]) => `${[x, y, z].map((v, k) => (v + (move[k] ?? 0)).toFixed(3)).join(" ")} ${s}`)].join("\n")}\n`;
const MOVE = [100, -50, 3] as const;
const FAR = { kind: "box", min: [300, -1e4, -1e4], max: [1e4, 1e4, 1e4] } as const;

function shuffled<T>(values: readonly T[], seed: number): T[] {
  const draw = stream(seed);
  const out = [...values];
  for (let i = out.length - 1; i > 0; i -= 1) {
    const j = Math.floor(draw() * (i + 1));
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}

/** Ways to a session of the same points, by name. */
function waysTo(rows: readonly Row[], folder: string): Record<string, () => Promise<string>> {
  const opened = async (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return (await client.createSession({ source_path: path })).session_id;
  };
  const strays = rows.slice(0, 3000).map(([x, y, z, s]): Row => [x + 500, y, z, s]);
  const withStrays = () => opened("strays.txt", text(shuffled([...rows, ...strays], 3)));
  const deleted = async () => {
    const id = await withStrays();
    await client.deleteRegion(id, { region: { ...FAR, min: [...FAR.min], max: [...FAR.max] } });
    return id;
  };
  return {
    file: () => opened("plain.txt", text(rows)),
    shuffled: () => opened("shuffled.txt", text(shuffled(rows, 5))),
    deleted,
    baked: async () => {
      const id = await deleted();
      await client.bake(id);
      return id;
    },
    merged: async () => {
      const halves = [0, 1].map((k) => rows.filter((_, i) => i % 2 === k));
      const ids = [];
      for (const [k, half] of halves.entries()) ids.push(await opened(`half${k}.txt`, text(half)));
      return (await client.merge({ session_ids: ids })).merged.session_id;
    },
    moved: async () => {
      const id = await opened(
        "moved.txt",
        text(
          rows,
          MOVE.map((v) => -v),
        ),
      );
      await client.transform(id, { matrix: [1, 0, 0, MOVE[0], 0, 1, 0, MOVE[1], 0, 0, 1, MOVE[2], 0, 0, 0, 1] });
      return id;
    },
    project: async () => {
      const id = await deleted();
      const scene = await client.stageScene(encodeScene({}) as Uint8Array<ArrayBuffer>);
      const path = join(folder, "plot.proj");
      await client.saveProject({ path, scene_token: scene.token, session_ids: [id] });
      await client.closeSession(id);
      const { session_map } = await client.openProject({ path });
      rmSync(path);
      return Object.values(session_map)[0] as string;
    },
  };
}

/** What the analyses of a session say, one after the other. */
async function analysed(id: string) {
  const noise = await client.denoiseSession(id, { method: "sor" });
  const ground = await client.segmentGroundSession(id, {});
  const dtm = await client.sessionDem(id, { cell_size: 0.5, add_height_column: true });
  const stems = await client.detectStems(id, {});
  const trees = await client.segmentTreesSession(id, { method: "auto", acknowledge_cost: true });
  const list = await client.treeInventory(id, {});
  const source = { session_id: id };
  const crowns = [];
  for (const shape of ["ellipsoid", "cone", "alpha"] as const)
    crowns.push(...(await client.fitCrown({ source, shape, tree_instance_ids: [1, 2, 3] })).crowns);
  const wood = await client.segmentWoodSession(id, { method: "sota", acknowledge_cost: true });
  const models = await client.treeQsm(id, { tree_ids: [2], include_models: false });
  return {
    noise: noise.flagged,
    ground: [ground.num_ground, ground.num_plant],
    heights: [...(dtm.buffers.get("grid_z") as Float32Array)],
    stems: stems.seeds,
    trees: (await client.labelSummary(id, "tree_instance")).class_counts,
    tree_count: trees.num_trees,
    list: list.trees.map(({ flags: _, ...tree }) => tree),
    curve: list.stem_curve,
    stand: list.stand,
    crowns: crowns.map(({ metrics }) => metrics),
    wood: [wood.num_wood, wood.num_leaf],
    models: models.results.map(({ metrics }) => metrics),
  };
}

/** Every number and word of a value by its place. */
function leaves(value: unknown, place = "", out = new Map<string, unknown>()): Map<string, unknown> {
  if (value !== null && typeof value === "object")
    for (const [key, inner] of Object.entries(value)) leaves(inner, `${place}.${key}`, out);
  else out.set(place, value);
  return out;
}

function differences(a: unknown, b: unknown, tolerance: number): string[] {
  const [left, right] = [leaves(a), leaves(b)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((place) => {
    const [x, y] = [left.get(place), right.get(place)];
    if (Object.is(x, y)) return [];
    if (typeof x === "number" && typeof y === "number")
      if (Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(x))) return [];
    return [`${place}: ${x} | ${y}`];
  });
}

const ways = waysTo(plot(), folderOfFile("ways-"));
const known = new Map<string, Promise<Awaited<ReturnType<typeof analysed>>>>();

/** What the analyses of the cloud that came about in one way say, which are made once. */
function numbersOf(name: string) {
  const analyse = async () => {
    const id = await (ways[name] as () => Promise<string>)();
    const numbers = await analysed(id);
    await client.closeSession(id);
    return numbers;
  };
  const numbers = known.get(name) ?? analyse();
  known.set(name, numbers);
  return numbers;
}

test("the plot has three trees with a diameter and three crowns of each shape", async () => {
  const { tree_count, list, crowns } = await numbersOf("file");
  expect(tree_count).toBe(3);
  expect(list.every(({ dbh_m }) => dbh_m !== null)).toBe(true);
  expect(crowns).toHaveLength(9);
});

test.each(Object.keys(ways).filter((name) => name !== "file"))(
  "terrain, stems, trees, crowns, wood and models do not depend on how the cloud came about: %s",
  async (name) => {
    expect(differences(await numbersOf("file"), await numbersOf(name), 1e-6).slice(0, 5)).toEqual([]);
  },
);
