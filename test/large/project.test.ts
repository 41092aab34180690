import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { ColumnRef } from "../../backend/sessions/column-ref.ts";
import { GIB, MIB } from "../../shared/limits.ts";
import { makeApp, type TestApp } from "../support/app/app.ts";
import { opened, saved } from "../support/project/project.ts";
import { cloud, lineRows } from "../support/session/session-edits.ts";

/* Members and an archive above 4 GiB, written and read back: `npm run test:large`. Takes 25 GB of the temporary folder. */

const EXTRAS = 3;
/** Rows: one column has more than 4 GiB. */
const ROWS = 200_000_000;
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

test("a project above 6 GB comes back with every bit", { timeout: 3_600_000 }, async () => {
  made = await makeApp();
  const { deps } = made;
  const seed = await cloud(made, lineRows([1, 2]));
  const { meta } = (await deps.sessions.get(seed.session_id)).state;
  const path = join(made.folder, "large.proj");
  const track = async <T>(start: () => { promise: Promise<T> }) => start().promise;
  // Points repeat, so that 4.8 GB of them need no buffer of that size; they do not compress.
  const slugs = Array.from({ length: EXTRAS }, (_, i) => `x${i}`);
  const columns = new Map<string, ColumnRef>();
  const part = new addon.Column("vec3d", noise(24 * (ROWS / 10)));
  const parts = Array.from({ length: 10 }, () => ({
    column: part,
    rows: part.length,
    drop: null,
    offset: [0, 0, 0] as const,
    fill: null,
  }));
  columns.set("positions", new ColumnRef(await addon.concatColumns(parts, { dtype: "vec3d", fill: 0 }).promise));
  part.release();
  for (const slug of slugs) columns.set(`extra/${slug}`, new ColumnRef(new addon.Column("f32", noise(4 * ROWS))));
  const extra_dims_meta = slugs.map((slug) => ({ slug, label: slug }));
  const staged = await deps.sessions.stage(columns, track as never, { mustBeSaved: true });
  const none = { octree_cache_id: null, miss_octree_cache_id: null, octree_point_count: null };
  const { session } = await deps.sessions.register(staged, { ...meta, ...none, extra_dims_meta });
  const raw = [...session.state.columns.values()].reduce((sum, { native }) => sum + native.bytes, 0);
  const began = performance.now();
  const rss = process.memoryUsage.rss();
  const { bytes } = await saved(made, path, [session.id]);
  const middle = performance.now();
  const back = await opened(made, path);
  const ended = performance.now();
  const rate = (ms: number) => `${Math.round(raw / MIB / (ms / 1000))} MiB/s`;
  console.log(
    `large project: ${raw} bytes of columns, ${bytes} in the archive, rss before ${Math.round(rss / MIB)} MiB`,
  );
  console.log(`save ${rate(middle - began)}, open ${rate(ended - middle)}`);
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
