// Pulses that come twice: a scan sent twice, or a file merged with itself.
import { expect, test } from "vitest";
import { halfIntercepted, scanRows } from "../support/lad/beams.ts";
import { ladCalls } from "../support/lad/calls.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute, refusedWith } = ladCalls(made);

const twice = <T>(values: readonly T[]): T[] => [...values, ...values];

test("a session or a file that is sent twice is refused", async () => {
  const { session_id } = await cloud(made, scanRows(halfIntercepted()));
  const path = made.file("pulses.txt", `${scanRows(halfIntercepted()).join("\n")}\n`);
  for (const source of [{ session_id }, { file_path: path, allow_file_source: true }]) {
    const scan = { ...source, origin: [-10, 0, 0] };
    const [status, detail] = await refusedWith({ scans: [scan, scan] });
    expect(status).toBe(400);
    expect(detail).toMatch(/^Scan 2 is the same (session|file) .* as Scan 1: .*Send it once/);
  }
});

test("rows that come twice are told", async () => {
  const scan = halfIntercepted();
  const scalar_columns = Object.fromEntries(Object.entries(scan.scalar_columns).map(([name, of]) => [name, twice(of)]));
  const { warnings } = await compute({ scans: [{ ...scan, points: twice(scan.points), scalar_columns }] });
  expect(warnings).toContainEqual(
    expect.stringMatching(/^Scan 1: about 100 % of the hits stand at the place of another one/),
  );
  expect((await compute()).warnings.join()).not.toMatch(/place of another/);
});

test("two scans with the same points are told", async () => {
  const told = async (z: number) => {
    const other = halfIntercepted();
    const points = other.points.map(([x, y, at]) => [x, y, at + z]);
    return (await compute({ scans: [halfIntercepted(), { ...other, points }] })).warnings.join();
  };
  expect(await told(0)).toMatch(/Scan 2 has as many points as Scan 1, within the same bounds/);
  expect(await told(0.01)).not.toMatch(/same bounds/);
});
