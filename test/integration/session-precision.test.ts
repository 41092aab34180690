import { describe, expect, test } from "vitest";
import { readNumbers } from "../../backend/services/files/preview/values.ts";
import { create, exported } from "../support/app/app.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";

type Triple = readonly [number, number, number];
/** What a user may see of all arithmetic together, metres. */
const WORST_M = 1e-6;
const CORNER: Triple = [4_000_000, 5_000_000, 1200];
const SHIFT: Triple = [4_000_000, 5_000_000, 0];
const OTHER_SHIFT: Triple = [3_999_123.25, 5_000_777.5, -31.75];
const POINTS = 400;

const made = sessionTest();

/** World coordinates to six decimals within 60 x 60 x 30 m: the shortest text of each is its double. */
function worldPoints(seed: number): Triple[] {
  const next = random(seed);
  const coordinate = (axis: 0 | 1 | 2, size: number) => Number((CORNER[axis] + next() * size).toFixed(6));
  return Array.from({ length: POINTS }, () => [coordinate(0, 60), coordinate(1, 60), coordinate(2, 30)]);
}
async function open(points: readonly Triple[], world_shift: Triple | null): Promise<string> {
  const rows = points.map((point) => point.join(" "));
  return (await cloud(made, ["x y z", ...rows], { world_shift })).session_id;
}
async function post(url: string, payload: object) {
  const answer = await made.app.inject({ method: "POST", url, payload });
  expect([answer.statusCode, answer.json().detail]).toEqual([200, undefined]);
  return answer.json() as Record<string, unknown>;
}
/** World coordinates as the session holds them. */
async function worldOf(id: string): Promise<Triple[]> {
  const { columns, meta } = (await made.deps.sessions.get(id)).state;
  const column = columns.get("positions")?.native;
  const flat = column ? Array.from(readNumbers(column).slice(0, 3 * column.length), Number) : [];
  const [x, y, z] = meta.world_shift ?? [0, 0, 0];
  return Array.from({ length: flat.length / 3 }, (_, i) => [
    (flat[3 * i] ?? 0) + x,
    (flat[3 * i + 1] ?? 0) + y,
    (flat[3 * i + 2] ?? 0) + z,
  ]);
}
function worstError(actual: readonly Triple[], expected: readonly Triple[]): number {
  expect(actual.length).toBe(expected.length);
  return Math.max(
    ...actual.flatMap((point, i) => point.map((value, axis) => Math.abs(value - (expected[i]?.[axis] ?? 0)))),
  );
}

describe.each([
  ["as they are", null],
  ["shifted", SHIFT],
  ["shifted by a fraction", OTHER_SHIFT],
])("coordinates of 4e6 and 5e6 m, %s", (_name, shift) => {
  test("import, a turn about the world's origin and its inverse: less than a micrometre off", async () => {
    const points = worldPoints(1);
    const id = await open(points, shift);
    expect(worstError(await worldOf(id), points)).toBeLessThan(1e-9); // half a step of a double at 5e6
    const angle = 0.7;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const turn = [c, -s, 0, 10.5, s, c, 0, -7.25, 0, 0, 1, 3.125, 0, 0, 0, 1];
    const back = [c, s, 0, -c * 10.5 + s * 7.25, -s, c, 0, s * 10.5 + c * 7.25, 0, 0, 1, -3.125, 0, 0, 0, 1];
    await post(`/api/cloud/session/${id}/transform`, { matrix: turn });
    const moved = points.map(([x, y, z]): Triple => [c * x - s * y + 10.5, s * x + c * y - 7.25, z + 3.125]);
    expect(worstError(await worldOf(id), moved)).toBeLessThan(WORST_M / 100);
    await post(`/api/cloud/session/${id}/transform`, { matrix: back });
    expect(worstError(await worldOf(id), points)).toBeLessThan(WORST_M / 100);
  });

  test("100 small steps there and back leave no error", async () => {
    const points = worldPoints(2);
    const id = await open(points, shift);
    const step = (by: number) => ({
      matrix: [1, 0, 0, by, 0, 1, 0, -by, 0, 0, 1, by / 3, 0, 0, 0, 1],
      octree_mode: "pose",
    });
    for (let i = 0; i < 50; i += 1) await post(`/api/cloud/session/${id}/transform`, step(0.1));
    for (let i = 0; i < 50; i += 1) await post(`/api/cloud/session/${id}/transform`, step(-0.1));
    expect(worstError(await worldOf(id), points)).toBeLessThan(WORST_M / 10);
  });

  test.each(["csv", "txt", "xyz"])("written as %s and read again", async (format) => {
    const points = worldPoints(3);
    const id = await open(points, shift);
    const file = made.file(`again.${format}`, await exported(made, id, format));
    for (const world_shift of [null, SHIFT]) {
      const again = await create(made, file, { world_shift });
      expect(worstError(await worldOf(again.session_id), points)).toBeLessThan(WORST_M);
    }
  });
});

describe.each(["las", "laz"])("written as %s and read again", (format) => {
  const again = async (id: string) =>
    (await create(made, made.file(`from-${id}.${format}`, await exported(made, id, format)), { world_shift: SHIFT }))
      .session_id;

  test("a scan in micrometres keeps them", async () => {
    const points = worldPoints(6);
    const rows = points.map(([x, y, z]) => ({ x, y, z }));
    const source = made.file(`fine-${format}.las`, lasBytes(rows, { scale: 1e-6, offset: CORNER }));
    const { session_id } = await create(made, source, { world_shift: OTHER_SHIFT });
    expect(worstError(await worldOf(session_id), points)).toBeLessThan(WORST_M);
    expect(worstError(await worldOf(await again(session_id)), points)).toBeLessThan(WORST_M);
  });

  test("a text cloud is rounded to millimetres once and stays there", async () => {
    const points = worldPoints(7);
    const first = await again(await open(points, SHIFT));
    const rounded = await worldOf(first);
    expect(worstError(rounded, points)).toBeLessThan(0.0005 + WORST_M); // the format's scale is a millimetre
    expect(worstError(await worldOf(await again(first)), rounded)).toBeLessThan(WORST_M);
  });
});

test.each([
  ["both shifted", SHIFT, OTHER_SHIFT],
  ["only the first", SHIFT, null],
  ["only the second", null, OTHER_SHIFT],
])("merge of two frames, %s: every point keeps its place", async (_name, first, second) => {
  const [a, b] = [worldPoints(4), worldPoints(5)];
  const session_ids = [await open(a, first), await open(b, second)];
  const { merged } = await post("/api/cloud/session/merge", { session_ids });
  const { session_id, world_shift } = merged as { session_id: string; world_shift: Triple | null };
  expect(world_shift).toEqual(first);
  expect(worstError(await worldOf(session_id), [...a, ...b])).toBeLessThan(WORST_M / 100);
});
