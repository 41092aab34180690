import { describe, expect, test } from "vitest";
import { invertLeaf } from "../../backend/native/leaf-optics.ts";
import { FULL_INVERSION_DEFAULTS, ProspectResponse } from "../../shared/contract/fit-prospect.ts";
import { GREEN_LEAF, GREEN_LEAF_PRO, measuredLeaf, NANOMETRES } from "../support/fit/leaves.ts";
import { stopwatch } from "../support/run/stopwatch.ts";
import { refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL = "/api/fit/prospect";
const wavelengths = NANOMETRES;
const noisy = measuredLeaf(GREEN_LEAF, 0.003);

async function fitted(payload: object) {
  const answer = await made.app.inject({ method: "POST", url: URL, payload });
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  return ProspectResponse.parse(answer.json());
}
const refused = async (payload: object) => refusal(made, URL, payload);

describe("inversions", () => {
  test("full: the contract's answer, and a warning about what its prior moves", async () => {
    const reflectance = await noisy;
    const answer = await fitted({ wavelengths, reflectance });
    expect(Object.keys(answer.parameters)).toEqual([..."N Cab Car Cbrown Cw Cm Ant a_scale b_offset".split(" ")]);
    expect(answer.n_points).toBe(2101);
    expect(answer.converged).toBe(true);
    expect(answer.wavelengths).toEqual(wavelengths);
    expect(answer.measured_spectrum).toEqual(reflectance);
    for (const i of [0, 700, 2100]) {
      expect(answer.residuals[i]).toBeCloseTo((answer.fitted_spectrum[i] ?? 0) - (reflectance[i] ?? 0), 15);
    }
    const squares = answer.residuals.reduce((sum, value) => sum + value * value, 0);
    expect(answer.rmse).toBeCloseTo(Math.sqrt(squares / 2101), 15);
    expect(answer.rmse).toBeLessThan(0.0045);
    expect(answer.r_squared).toBeGreaterThan(0.999);
    expect(answer.parameters.Cab).toMatchObject({ symbol: "Cab", units: "ug/cm2", fixed: false, at_bound: null });
    expect(answer.parameters.Ant?.units).toBe("ug/cm2");
    expect(Math.abs((answer.parameters.Cab?.value ?? 0) - 38)).toBeLessThan(3);
    expect(answer.message).toMatch(/^PROSPECT-D, full inversion: RMSE 0\.00290 over 2101 wavelengths$/);
    expect(answer.warnings?.[0]).toMatch(/move estimates by more than a standard error: .*Cm .*\(likelihood 0\.006/);
  });

  test.each([
    ["D", GREEN_LEAF, ["N", "Cab", "Car", "Cbrown", "Cw", "Cm", "Ant"], [0, 1, 2, 3, 4, 5, 6]],
    ["PRO", GREEN_LEAF_PRO, ["N", "Cab", "Car", "Cbrown", "Cw", "Ant", "prot", "cbc"], [0, 1, 2, 3, 4, 6, 7, 8]],
  ] as const)("likelihood, model %s: truth within three standard errors", async (model, traits, names, places) => {
    const reflectance = await measuredLeaf(traits, 0.003);
    const { parameters, rmse } = await fitted({ wavelengths, reflectance, model, inversion: "likelihood" });
    expect(Object.keys(parameters)).toEqual(names);
    expect(rmse).toBeCloseTo(0.003, 3);
    for (const [i, name] of names.entries()) {
      const { value, std_error } = parameters[name] ?? { value: Number.NaN, std_error: null };
      expect(std_error).toBeGreaterThan(0);
      expect([name, Math.abs(value - (traits[places[i] ?? 0] ?? 0)) < 3 * (std_error ?? 0)]).toEqual([name, true]);
    }
  });

  test("windowed: without noise the traits of the leaf", async () => {
    const reflectance = await measuredLeaf(GREEN_LEAF);
    const { parameters } = await fitted({ wavelengths, reflectance, inversion: "windowed" });
    expect(parameters.N?.value).toBeCloseTo(1.7, 2);
    expect(parameters.Cab?.value).toBeCloseTo(38, 0);
    expect(parameters.Cw?.value).toBeCloseTo(0.013, 4);
    expect(parameters.Cm?.value).toBeCloseTo(0.006, 4);
  });

  test("likelihood with a calibration on request", async () => {
    const reflectance = (await measuredLeaf(GREEN_LEAF, 0.001)).map((value) => 1.03 * value + 0.01);
    const answer = await fitted({ wavelengths, reflectance, inversion: "likelihood", do_calib: true });
    const { a_scale, b_offset } = answer.parameters;
    expect(Math.abs((a_scale?.value ?? 0) - 1.03)).toBeLessThan(3 * (a_scale?.std_error ?? 0));
    expect(Math.abs((b_offset?.value ?? 0) - 0.01)).toBeLessThan(3 * (b_offset?.std_error ?? 0));
  });
});

describe("options of the full inversion change it", () => {
  test.each([
    [{}, { vis_weight: 1 }],
    [{}, { do_calib: false }],
    [{}, { loss: "linear" }],
    [{}, { f_scale: 0.001 }],
    [{}, { feature_boost: 50 }],
    [{}, { violet_boost: 50 }],
    [{ feature_boost: 50 }, { green_center: 1500 }],
    [{ feature_boost: 50 }, { rededge_center: 1500 }],
    [{ violet_boost: 50 }, { violet_center: 1500 }],
    [{}, { window_sigma: 200 }],
    [{}, { vis_min: 600 }],
    [{}, { vis_max: 600 }],
    [{}, { model: "PRO" }],
  ])("%j and %j", async (base, options) => {
    const request = { wavelengths, reflectance: await noisy, n_starts: 1, ...base };
    const plain = await fitted(request);
    const other = await fitted({ ...request, ...options });
    const moved = Math.abs((other.parameters.N?.value ?? 0) - (plain.parameters.N?.value ?? 0));
    expect(moved).toBeGreaterThan(1e-6); // more than the search leaves open
  });

  test("the first stage leads to the same minimum", async () => {
    const reflectance = await noisy;
    const plain = await fitted({ wavelengths, reflectance });
    const one = await fitted({ wavelengths, reflectance, stage1: false, n_starts: 1 });
    expect(one.parameters.Cab?.value).toBeCloseTo(plain.parameters.Cab?.value ?? Number.NaN, 4);
  });
});

describe("what a spectrum does not tell", () => {
  test("visible light alone: water and dry matter are those of the prior, and warnings say so", async () => {
    const reflectance = (await noisy).slice(0, 351);
    const answer = await fitted({ wavelengths: wavelengths.slice(0, 351), reflectance, inversion: "likelihood" });
    expect(answer.warnings?.join()).toMatch(/says little about .*Cw/);
    expect(answer.parameters.Cw?.std_error).toBeGreaterThan(0.01);
  });

  test("estimates at a bound are named", async () => {
    const reflectance = await measuredLeaf([1.7, 38, 9, 0, 0.013, 0.006, 0, 0, 0]);
    const answer = await fitted({
      wavelengths,
      reflectance: reflectance.map((value) => value * 1.005),
      inversion: "likelihood",
    });
    const held = Object.values(answer.parameters).filter(({ at_bound }) => at_bound);
    expect(held.length).toBeGreaterThan(0);
    expect(answer.warnings?.join()).toContain(`${held[0]?.symbol} is at its ${held[0]?.at_bound} bound`);
  });

  test("a constant spectrum has no R2", async () => {
    const answer = await fitted({ wavelengths, reflectance: wavelengths.map(() => 0.3) });
    expect(answer.r_squared).toBeNull();
  });
});

test("coarse spectra in any order are interpolated", async () => {
  const all = await noisy;
  const every = wavelengths.flatMap((nm, i) => (i % 10 === 0 ? [[nm, all[i] ?? 0] as const] : [])).reverse();
  const answer = await fitted({
    wavelengths: every.map(([nm]) => nm),
    reflectance: every.map(([, value]) => value),
    inversion: "likelihood",
  });
  expect(answer.n_points).toBe(2101);
  // A tenth of the values: errors about sqrt(10) times those of the whole spectrum.
  const whole = await fitted({ wavelengths, reflectance: all, inversion: "likelihood" });
  const ratio = (answer.parameters.Cab?.std_error ?? 0) / (whole.parameters.Cab?.std_error ?? 1);
  expect(ratio).toBeGreaterThan(1.8);
  expect(ratio).toBeLessThan(6);
});

test("wide gaps are named", async () => {
  const all = await noisy;
  const places = wavelengths.flatMap((nm, i) => (nm > 1000 && nm < 1400 ? [] : [i]));
  const answer = await fitted({
    wavelengths: places.map((i) => 400 + i),
    reflectance: places.map((i) => all[i]),
    inversion: "likelihood",
  });
  expect(answer.warnings?.join()).toContain("no value between 1000 and 1400 nm");
});

test.each(["full", "likelihood", "windowed"])("%s: what is no leaf is told", async (inversion) => {
  const soil = wavelengths.map((nm) => 0.1 + (0.2 * (nm - 400)) / 2100);
  const told = /^The model follows the spectrum to 0\.\d+ only \(RMSE/m;
  expect((await fitted({ wavelengths, reflectance: soil, inversion })).warnings?.join("\n")).toMatch(told);
  expect((await fitted({ wavelengths, reflectance: await noisy, inversion })).warnings?.join("\n") ?? "").not.toMatch(
    told,
  );
});

describe("refusals", () => {
  const pair = { wavelengths: [500, 600], reflectance: [0.1, 0.1] };
  test.each([
    [{ wavelengths: [500], reflectance: [45] }, "reflectance[0] is 45, outside -0.1..1.2"],
    [{ wavelengths: [500], reflectance: [45] }, "divide percents by 100"],
    [{ wavelengths: [500], reflectance: [-9999] }, "leave values that mark missing ones out"],
    [{ wavelengths: [0.5, 0.6], reflectance: [0.1, 0.1] }, "nm are needed; multiply micrometres by 1000"],
    [{ wavelengths: [500, 600], reflectance: [0.1] }, "wavelengths has 2 values, reflectance 1"],
    [{ wavelengths: [], reflectance: [] }, "the spectrum has 0 values over 0 nm"],
    [{ wavelengths: [500, 500], reflectance: [0.1, 0.2] }, "wavelengths has 500 nm more than once"],
    [{ ...pair, inversion: "likelihood", vis_weight: 6 }, "vis_weight is an option of the full inversion"],
    [{ ...pair, inversion: "windowed", do_calib: true }, "the windowed inversion has no calibration"],
    [
      {
        wavelengths: NANOMETRES.slice(0, 900),
        reflectance: NANOMETRES.slice(0, 900).map(() => 0.2),
        inversion: "windowed",
      },
      "the windowed inversion needs wavelengths in each window",
    ],
  ])("%#: 400", async (payload, detail) => {
    const [status, body] = await refused(payload);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(detail)]);
  });

  test.each([
    {},
    { ...pair, wavelengths: [500, null] },
    { ...pair, model: "X" },
    { ...pair, inversion: "fast" },
    { ...pair, n_starts: 0 },
    { ...pair, n_starts: 101 },
    { ...pair, loss: "l2" },
    { ...pair, f_scale: 0 },
    { ...pair, window_sigma: 0 },
    { ...pair, vis_weight: -1 },
  ])("%j: 422", async (payload) => {
    expect((await refused(payload))[0]).toBe(422);
  });
});

test("an unknown key is named", async () => {
  const answer = await fitted({ wavelengths, reflectance: await noisy, n_starts: 1, brown: 0 });
  expect(answer.warnings?.[0]).toContain('"brown"');
});

test("a cancel ends the search at once", async () => {
  const spectrum = { wavelengths, reflectance: await noisy };
  const params = {
    ...FULL_INVERSION_DEFAULTS,
    inversion: "full",
    model: "D",
    do_calib: true,
    n_starts: 10_000,
  } as const;
  const job = invertLeaf(spectrum, params);
  const ended = expect(job.promise).rejects.toMatchObject({ code: "canceled" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const stop = stopwatch();
  job.cancel();
  await ended;
  expect(stop().own_ms).toBeLessThan(250);
});
