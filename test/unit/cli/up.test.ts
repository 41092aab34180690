import { expect, test } from "vitest";
import { parseUp, turnedUp } from "../../../backend/cli/analyze/up.ts";
import { UP_AXES, type UpAxis, uprightMatrix } from "../../../shared/up-axes.ts";
import { fakeService, smallOctree, smallTail } from "../../support/cli/analyze-fake.ts";

const AXES = Object.keys(UP_AXES) as UpAxis[];

test.each(AXES)("%s becomes z by a rotation", (up) => {
  const m = uprightMatrix(up);
  const axis = ["x", "y", "z"].map((name) => (up.endsWith(name) ? (up.startsWith("-") ? -1 : 1) : 0));
  const at = (row: number, column: number) => m[4 * row + column] ?? Number.NaN;
  const turned = [0, 1, 2].map((row) => axis.reduce<number>((sum, value, column) => sum + at(row, column) * value, 0));
  expect(turned.map((value) => value + 0)).toEqual([0, 0, 1]);
  const minor = (a: number, b: number) => at(1, a) * at(2, b) - at(1, b) * at(2, a);
  expect(at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1)).toBe(1);
  expect(m.slice(12)).toEqual([0, 0, 0, 1]);
});

test("the cloud is turned with the positions of its scanners; z and a cloud without points are left alone", async () => {
  const { client, calls, requests } = fakeService(smallOctree());
  const tail = {
    ...smallTail(),
    scan_origin: [1, 2, 3] as [number, number, number],
    scan_params: { origin: [4, 5, 6], theta_min: 30 },
    scans: [
      { scan_index: 1, origin: [7, 8, 9], theta_min: 30, phi_max: 90 },
      { scan_index: 2, origin: null },
    ],
  };
  const turned = await turnedUp(tail as never, "y", client, new AbortController().signal);
  expect(requests.transform).toMatchObject({ id: tail.session_id, matrix: uprightMatrix("y") });
  expect(turned).toMatchObject({ scan_origin: [1, -3, 2], ground_z: null });
  expect(turned.scan_params).toEqual({ origin: [4, -6, 5] }); // its angles were those of the former axes
  expect(turned.scans).toEqual([
    { scan_index: 1, origin: [7, -9, 8], theta_min: null, theta_max: null, phi_min: null, phi_max: null },
    { scan_index: 2, origin: null, theta_min: null, theta_max: null, phi_min: null, phi_max: null },
  ]);
  const before = calls.length;
  expect(await turnedUp(tail as never, "z", client, new AbortController().signal)).toBe(tail);
  expect(await turnedUp(tail as never, undefined, client, new AbortController().signal)).toBe(tail);
  const empty = { ...smallTail(), point_count: 0 };
  expect(await turnedUp(empty, "x", client, new AbortController().signal)).toBe(empty);
  expect(calls).toHaveLength(before);
});

test("axes are named", () => {
  expect(parseUp("-y")).toBe("-y");
  expect(() => parseUp("Y")).toThrow(/--up "Y" is not one of x, y, z, -x, -y, -z/);
  expect(() => parseUp("toString")).toThrow(/not one of/);
});
