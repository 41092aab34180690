import { expect } from "vitest";
import type { TestApp } from "../app/app.ts";
import { cloud } from "../session/session-edits.ts";

/** Rows with colour, intensity, time, origin, labels, a fraction, and sky points. */
export function richRows(count: number): string[] {
  const rows = ["x y z r255 g255 b255 intensity timestamp class frac is_miss origin_x origin_y origin_z"];
  for (let i = 0; i < count; i += 1) {
    const sky = i % 17 === 16;
    rows.push(
      `${500_000 + i * 0.013} ${4_000_000 - i * 0.007} ${sky ? 900 : (i % 31) * 0.1} ${i % 256} ${(3 * i) % 256} 7 ${i % 4000} ${350_000_000 + i * 1e-4} ${i % 5} ${Math.sin(i)} ${sky ? 1 : 0} 500000 4000000 ${1.5 + i * 1e-6}`,
    );
  }
  return rows;
}

/** A box round rows of richRows by x. */
export const box = (from: number, to: number) => ({
  kind: "box",
  min: [500_000 + from, 3_999_000, -1],
  max: [500_000 + to, 4_001_000, 5],
});

/** A session with pending deletions, label strokes and everything a file can bring. */
export async function richSession(made: TestApp, count = 2000): Promise<string> {
  const { session_id } = await cloud(made, richRows(count));
  const { app } = made;
  const act = async (action: string, payload: object) => {
    const answer = await app.inject({ method: "POST", url: `/api/cloud/session/${session_id}/${action}`, payload });
    expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  };
  await act("delete_region", { region: box(1, 2) });
  await act("delete_region", { region: box(1.5, 3) });
  await act("bake?compact=false", {});
  await act("delete_region", { region: box(5, 6) });
  await act("delete_region", { region: box(8, 8.05) });
  for (const [i, to_class] of [7, 200, 2].entries()) {
    const stroke = { stroke_id: `s${i}`, region: box(4 + i, 9 + i), to_class };
    await act("label_region", { slug: "class", strokes: [stroke] });
  }
  return session_id;
}
