// Users of one service who work side by side; every answer is checked.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../../shared/client/index.ts";
import { type Uniform, uniform } from "../accuracy/random.ts";
import { root } from "../bench/folders.ts";
import type { User } from "./steps.ts";
import { oneStep, type Tally } from "./user.ts";

const SWEEP_MS = 60_000;
const ENOUGH_WRONG = 20;
/** Used too where they are. */
const REAL = ["als/autzen_trim.laz", "als/pdal_sample_c.las", "als/csf_sample.ply"].map((name) =>
  join(process.env.APP_TEST_DATA ?? join(root, "..", "shared", "data"), name),
);

export interface Wanted {
  readonly url: string;
  /** For what the users write; the caller removes it. */
  readonly folder: string;
  readonly users: number;
  readonly seed: number;
  readonly for_ms: number;
  /** Goes on until so many steps are done, on a busy machine. */
  readonly least_steps?: number;
  /** Longest pause of a user between two steps, milliseconds. */
  readonly pause_ms: number;
  /** Share of the usual number of points. */
  readonly size?: number;
}
export interface Found extends Tally {
  /** Clouds closed because the answer that names them was lost. */
  readonly swept: number;
}

/** Hills with trees, and a line: points of three sizes and two shapes, in four formats. */
async function makeFiles(client: Client, { folder, seed, size = 1 }: Wanted): Promise<string[]> {
  const random = uniform(seed);
  const files: string[] = [];
  const write = async (name: string, format: "las" | "laz" | "csv" | "pcd", points: Float32Array) => {
    const dest_path = join(folder, name);
    await client.exportCloud({ points, format, dest_path });
    files.push(dest_path);
  };
  await write("hills.laz", "laz", hills(300_000 * size, random));
  await write("more-hills.las", "las", hills(1_500_000 * size, random));
  await write("hills.csv", "csv", hills(100_000 * size, random));
  await write(
    "line.pcd",
    "pcd",
    Float32Array.from({ length: 150_000 * size }, (_, i) => (i % 3 === 0 ? i / 1000 : 0)),
  );
  return [...files, ...REAL.filter(existsSync)];
}

function hills(count: number, random: Uniform): Float32Array {
  const points = new Float32Array(3 * count);
  for (let i = 0; i < count; i += 1) {
    const [x, y] = [100 * random(), 100 * random()];
    const tree = Math.hypot((x % 8) - 4, (y % 8) - 4) < 1 ? 12 * random() : 0;
    points.set([x, y, 3 * Math.sin(x / 15) * Math.cos(y / 20) + tree], 3 * i);
  }
  return points;
}

/** `fetch` of a client whose connection breaks: no cancel request is sent before. */
const breaking: typeof fetch = async (input, init) =>
  String(input).includes("/api/cancel/") ? new Response("{}") : fetch(input, init);

/** Closes the clouds that no user knows. */
async function sweep(client: Client, users: readonly User[]): Promise<number> {
  const known = new Set(users.flatMap(({ clouds }) => clouds.map(({ id }) => id)));
  const { sessions } = await client.listSessions();
  const old = Date.now() - SWEEP_MS;
  const lost = sessions.filter((one) => !known.has(one.session_id) && Date.parse(one.last_used) < old);
  for (const { session_id } of lost) await client.closeSession(session_id).catch(() => undefined);
  return lost.length;
}

/** Returns after `for_ms` and `least_steps`, with all clouds closed, or earlier if much is wrong. */
export async function soak(wanted: Wanted): Promise<Found> {
  const { url, folder, seed } = wanted;
  const client = createClient({ baseUrl: url });
  const rude = createClient({ baseUrl: url, fetch: breaking });
  const shared = { url, folder, files: await makeFiles(client, wanted), sizes: new Map<string, number>() };
  const users: User[] = Array.from({ length: wanted.users }, (_, i) => ({
    ...shared,
    client,
    random: uniform(seed * 1000 + i + 1),
    clouds: [],
  }));
  const tally: Tally = { steps: 0, canceled: 0, done: new Map(), refused: new Map(), wrong: [] };
  const until = Date.now() + wanted.for_ms;
  let swept = 0;
  const sweeping = async () => {
    swept += await sweep(client, users);
  };
  const sweeper = setInterval(() => void sweeping(), SWEEP_MS);
  const work = async (user: User) => {
    const hasty = { ...user, client: rude };
    const goes_on = () => Date.now() < until || tally.steps < (wanted.least_steps ?? 0);
    while (goes_on() && tally.wrong.length < ENOUGH_WRONG) {
      await oneStep(user.random() < 0.5 ? user : hasty, tally);
      await new Promise((resolve) => setTimeout(resolve, wanted.pause_ms * user.random()));
    }
  };
  await Promise.all(users.map(work));
  clearInterval(sweeper);
  const { sessions } = await client.listSessions();
  for (const { session_id } of sessions) await client.closeSession(session_id);
  return { ...tally, swept };
}
