import type { TestApp } from "../app/app.ts";

/** A column's type and bytes. */
export interface StoredColumn {
  readonly dtype: string;
  readonly bytes: Buffer;
}

/** Every column of a session, as it is stored. */
export async function storedColumns({ deps }: TestApp, session_id: string): Promise<Map<string, StoredColumn>> {
  const session = await deps.sessions.get(session_id);
  return session.read(null, async ({ columns }) => {
    const stored = new Map<string, StoredColumn>();
    for (const [key, { native }] of columns) {
      const bytes = Buffer.alloc(native.bytes);
      for (let at = 0; at < bytes.length; ) at += native.readInto(bytes.subarray(at), at);
      stored.set(key, { dtype: native.dtype, bytes });
    }
    return stored;
  });
}

/** How two sessions differ: one line a column, empty when they are the same bit for bit. */
export async function differences(made: TestApp, first: string, second: string): Promise<string[]> {
  const [a, b] = [await storedColumns(made, first), await storedColumns(made, second)];
  const lines: string[] = [];
  for (const key of new Set([...a.keys(), ...b.keys()])) {
    const [x, y] = [a.get(key), b.get(key)];
    if (!x || !y) lines.push(`${key}: only in the ${x ? "first" : "second"}`);
    else if (x.dtype !== y.dtype) lines.push(`${key}: ${x.dtype}, then ${y.dtype}`);
    else if (!x.bytes.equals(y.bytes)) lines.push(`${key}: other values`);
  }
  return lines;
}
