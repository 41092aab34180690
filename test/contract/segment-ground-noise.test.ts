import { describe, expect, test } from "vitest";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { gaussian, uniform } from "../accuracy/random.ts";
import { answered } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const segment = (payload: object) => answered(made, GroundResponse, "/api/segment/ground", payload);

describe("noise of the ground", () => {
  /** 100 returns per square metre of a slope. */
  const slope = (sigma: number) => {
    const next = uniform(5);
    return Array.from({ length: 25_600 }, () => {
      const [x, y] = [16 * next(), 16 * next()];
      return [x, y, 0.2 * x + sigma * gaussian(next)];
    });
  };

  test("is measured, and the layer is ground", async () => {
    const answer = await segment({ points: slope(0.03), method: "auto" });
    expect(answer.ground_noise_m).toBeGreaterThan(0.027);
    expect(answer.ground_noise_m).toBeLessThan(0.033);
    expect(answer.num_ground).toBeGreaterThan(0.98 * 25_600); // 3 deviations: 99.7 %
    expect(answer.warnings).toEqual([]);
  });

  test("that low plants do not stand out of causes a warning", async () => {
    const answer = await segment({ points: slope(0.08), method: "auto" });
    expect(answer.num_ground).toBeGreaterThan(0.98 * 25_600);
    const noise = answer.ground_noise_m ?? 0;
    expect(noise).toBeGreaterThan(0.072);
    expect(noise).toBeLessThan(0.088);
    expect(answer.warnings).toEqual([
      `The returns of bare ground scatter by ${(100 * noise).toFixed(1)} cm (standard deviation). Plants lower than ${(4.3 * noise).toFixed(2)} m do not stand out of that noise; some of their points are labelled ground.`,
    ]);
  });

  test("is null for airborne clouds and other methods", async () => {
    const thin = slope(0.03).slice(0, 2560);
    expect((await segment({ points: thin, method: "auto" })).ground_noise_m).toBeNull();
    expect((await segment({ points: slope(0.03), method: "smrf" })).ground_noise_m).toBeNull();
  });
});
