import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { ColumnRef } from "../../backend/sessions/column-ref.ts";
import { GIB, MIB } from "../../shared/limits.ts";
import { MemoryWatch } from "../bench/process.ts";
import { makeApp, type TestApp } from "../support/app/app.ts";
import { opened, saved } from "../support/project/project.ts";
import { cloud, lineRows } from "../support/session/session-edits.ts";

/* Members and an archive above 4 GiB, written and read back: `npm run test:large`. Takes 25 GB of the temporary folder. */

const EXTRAS = 3;
/** Rows: one column has more than 4 GiB. */
const ROWS = 200_000_000;
const PARTS = 100;
/** Anonymous memory that a save or an open may add. */
const MOST_MIB = 256;
let made: TestApp | undefined;
afterAll(() => made?.close());

/** Bytes that no filter makes smaller. */
function noise(bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  const words = new Uint32Array(out.buffer);
  let state = 0x9e3779b9;
  for (let i = 0; i < words.length; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return out;
}

/** A column of ROWS rows of noise, made of equal parts. */
async function repeated(dtype: "vec3d" | "f32", rowBytes: number): Promise<ColumnRef> {
  const column = new addon.Column(dtype, noise((rowBytes * ROWS) / PARTS));
  const part = { column, rows: column.length, drop: null, offset: [0, 0, 0] as const, fill: null };
  const whole = await addon.concatColumns(
    Array.from({ length: PARTS }, () => part),
    { dtype, fill: 0 },
  ).promise;
  column.release();
  return new ColumnRef(whole);
}

/** Frees what nobody holds any more, so that it does not hide what the work adds. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  await new Promise((resolve) => setTimeout(resolve, 2000)); // native memory follows on the event loop
}

/** What work takes: seconds, CPU seconds, and the anonymous memory that it adds at most, MiB. */
async function measured<T>(work: () => Promise<T>) {
  await collectGarbage();
  const memory = new MemoryWatch(process.pid);
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  return {
    result,
    wall_s: (performance.now() - began) / 1000,
    user_s: user / 1e6,
    system_s: system / 1e6,
    memory_mib: memory.stop(),
  };
}

test("a project above 6 GB comes back with every bit", { timeout: 3_600_000 }, async () => {
  made = await makeApp();
  const { deps } = made;
  const seed = await cloud(made, lineRows([1, 2]));
  const { meta } = (await deps.sessions.get(seed.session_id)).state;
  const path = join(made.folder, "large.proj");
  const track = async <T>(start: () => { promise: Promise<T> }) => start().promise;
  // Bytes repeat far beyond the window of deflate: gigabytes need no buffer of their size, and do not compress.
  const slugs = Array.from({ length: EXTRAS }, (_, i) => `x${i}`);
  const columns = new Map<string, ColumnRef>([["positions", await repeated("vec3d", 24)]]);
  for (const slug of slugs) columns.set(`extra/${slug}`, await repeated("f32", 4));
  const extra_dims_meta = slugs.map((slug) => ({ slug, label: slug }));
  const staged = await deps.sessions.stage(columns, track as never, { mustBeSaved: true });
  const none = { octree_cache_id: null, miss_octree_cache_id: null, octree_point_count: null };
  const { session } = await deps.sessions.register(staged, { ...meta, ...none, extra_dims_meta });
  const raw = [...session.state.columns.values()].reduce((sum, { native }) => sum + native.bytes, 0);
  const save = await measured(() => saved(made as TestApp, path, [session.id]));
  const { bytes } = save.result;
  const open = await measured(() => opened(made as TestApp, path));
  const back = open.result;
  console.log(`large project: ${raw} bytes of columns, ${bytes} in the archive`);
  for (const [what, { wall_s, user_s, system_s, memory_mib }] of Object.entries({ save, open })) {
    const rate = (s: number) => `${Math.round(raw / MIB / s)} MiB/s`;
    console.log(
      `${what}: ${wall_s.toFixed(1)} s (${rate(wall_s)}), user ${user_s.toFixed(1)} s, system ${system_s.toFixed(1)} s, memory +${memory_mib.toFixed(0)} MiB`,
    );
    expect(memory_mib, what).toBeLessThan(MOST_MIB);
  }
  expect(bytes).toBeGreaterThan(6e9);
  expect(statSync(path).size).toBe(bytes);
  const { state } = await deps.sessions.get(back.session_map[session.id] as string);
  const block = [Buffer.alloc(8 * MIB), Buffer.alloc(8 * MIB)] as const;
  for (const [key, { native }] of session.state.columns) {
    const other = state.columns.get(key)?.native;
    expect(native.bytes > 4 * GIB || key !== "positions").toBe(true);
    for (let at = 0; at < native.bytes; at += block[0].length) {
      const count = native.readInto(block[0], at);
      expect(other?.readInto(block[1], at)).toBe(count);
      expect(block[0].equals(block[1]), `${key} at ${at}`).toBe(true);
    }
  }
  rmSync(path);
});
