import { existsSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CustomFitResponse } from "../../shared/contract/fit-custom.ts";
import { digits, NIST, nistRequest, nistSet } from "../support/fit/nist.ts";
import { answered } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const present = existsSync(NIST);
if (!present) console.warn(`the regression sets of NIST are absent from ${NIST}: set APP_TEST_DATA`);
const names = present ? readdirSync(NIST).filter((file) => file.endsWith(".dat")) : [];

const made = sessionTest();
const scores: number[] = [];

describe.skipIf(!present)("certified values of NIST, from both starts", () => {
  describe.each(names.map((file) => file.replace(".dat", "")))("%s", (name) => {
    test.each([0, 1] as const)("start %i", async (start) => {
      const set = nistSet(name);
      const fit = await answered(made, CustomFitResponse, "/api/fit/custom", nistRequest(set, start));
      expect(fit.converged).toBe(true);
      const values = set.certified.map((_, i) => fit.parameters[`b${i + 1}`]);
      const correct = set.certified.map((value, i) => digits(values[i]?.value ?? Number.NaN, value));
      scores.push(...correct);
      expect(Math.min(...correct)).toBeGreaterThan(10);
      set.deviations.forEach((deviation, i) => {
        expect(digits(values[i]?.std_error ?? Number.NaN, deviation)).toBeGreaterThan(name === "Lanczos1" ? 1 : 6);
      });
      if (name !== "Lanczos1") expect(digits(fit.loss ?? Number.NaN, set.residual_sum)).toBeGreaterThan(8);
    });
  });

  test("mean digits over parameters and runs", () => {
    expect(names).toHaveLength(27);
    expect(scores.reduce((sum, score) => sum + score / scores.length, 0)).toBeGreaterThan(10);
  });
});
