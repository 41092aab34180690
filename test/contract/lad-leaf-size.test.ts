import { expect, test } from "vitest";
import { ladCalls } from "../support/lad/calls.ts";
import { sessionTest } from "../support/session/session-test.ts";

// Leaves that are not small against the voxels, which are cubes of 1 m.

const made = sessionTest();
const { compute } = ladCalls(made);

test("what large leaves read too high is told, and is in the values", async () => {
  const large = await compute({ element_width: 0.5 });
  // Of discs half as wide as a voxel, by another program (test/cpp/ops/lad/element_gain_test.cpp).
  expect(large.element_gain).toBeCloseTo(1.0498, 2);
  expect(large.warnings.join()).toMatch(/0.5 m are large .* such leaves read too high by 5 % \(element_gain\)/);
  expect(large.cells[0]?.lad).toBe((await compute({ element_width: 0 })).cells[0]?.lad);
});

test("small leaves and points read as they are", async () => {
  const small = await compute({ element_width: 0.05 });
  expect(small.element_gain).toBeCloseTo(1.0006, 3);
  expect(small.warnings.join()).not.toMatch(/are large/);
  expect((await compute({ element_width: 0 })).element_gain).toBe(1);
});

test("leaves wider than a voxel: no figure", async () => {
  const wide = await compute({ element_width: 1.2 });
  expect(wide.element_gain).toBeNull();
  expect(wide.warnings.join()).toMatch(/1.2 m are large .* too high by more than a sixth; leaves in clumps/);
});
