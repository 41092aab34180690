import { expect, test } from "vitest";
import { backfilled } from "../../support/session/backfill.ts";
import { cloud } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const [ROWS, COLUMNS] = [80, 120];
const TOLD = /^The scan: of the beams amid hits of one surface (\d+) % are misses/;

/** A raster that sees a wall 4 m away, of whose hits those that `stays` names are in the file. */
async function recovered(stays: (i: number) => boolean) {
  const rows = ["x y z row_index column_index"];
  for (let i = 0; i < ROWS * COLUMNS; i += 1) {
    const [row, column] = [Math.floor(i / COLUMNS), i % COLUMNS];
    const [zenith, azimuth] = [1.3 + 0.006 * row, 0.006 * (column - COLUMNS / 2)];
    const along = [Math.sin(zenith) * Math.cos(azimuth), Math.sin(zenith) * Math.sin(azimuth), Math.cos(zenith)];
    // The wall has a gap: sky.
    if ((column > 60 && column < 90) || !stays(i)) continue;
    rows.push([...along.map((part) => (4 * part) / (along[0] ?? 1)), row, column].join(" "));
  }
  const { session_id } = await cloud(made, rows);
  return (await backfilled(made, session_id, { origin: [0, 0, 0] })).tail;
}

test("misses of a scan from which hits were taken out are told, those of a whole one are not", async () => {
  const whole = await recovered(() => true);
  expect(whole.backfilled).toBeGreaterThan(2000);
  expect(whole.warnings?.join()).not.toMatch(/amid hits/);
  const thinned = await recovered((i) => (i * 7919) % 10_007 < 7500);
  const said = thinned.warnings?.find((one) => TOLD.test(one)) ?? "";
  expect(Math.abs(Number(TOLD.exec(said)?.[1]) - 25)).toBeLessThan(4);
});

/** 16 channels that look down from a mast that is driven over a field: 120 turns of 40 columns; `stays` names the hits in the file. */
async function driven(stays: (i: number) => boolean) {
  const [channels, columns, turns] = [16, 40, 120];
  const poses = [0, 1].map((t) => ({ t, x: 6 * t - 3, y: 0, z: 8, qx: 0, qy: 0, qz: 0, qw: 1 }));
  const rows = ["x y z timestamp"];
  const count = channels * columns * turns;
  for (let i = 0; i < count; i += 1) {
    const [channel, column] = [i % channels, Math.floor(i / channels)];
    const [zenith, azimuth] = [Math.PI - 0.1 - 0.045 * channel, (2 * Math.PI * column) / columns];
    const along = [Math.sin(zenith) * Math.cos(azimuth), Math.sin(zenith) * Math.sin(azimuth), Math.cos(zenith)];
    const range = 8 / -(along[2] ?? 1);
    if (range * (along[1] ?? 0) > 3 || !stays(i)) continue; // a pond sends nothing back
    const x = (6 * i) / count - 3 + range * (along[0] ?? 0);
    rows.push([x, range * (along[1] ?? 0), 0, i / count].map((value) => value.toFixed(7)).join(" "));
  }
  const { session_id } = await cloud(made, rows);
  const request = { origin: [0, 0, 8], origin_known: false, trajectory: { poses } };
  return (await backfilled(made, session_id, request)).tail;
}

test("of a scanner that moves as well", async () => {
  const whole = await driven(() => true);
  expect(whole.error).toBeUndefined();
  expect(whole.warnings?.join()).not.toMatch(/amid hits/);
  const thinned = await driven((i) => (i * 7919) % 10_007 < 6000);
  const said = thinned.warnings?.find((one) => TOLD.test(one)) ?? "";
  expect(Math.abs(Number(TOLD.exec(said)?.[1]) - 40)).toBeLessThan(12);
});
