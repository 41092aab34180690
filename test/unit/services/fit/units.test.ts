import { describe, expect, test } from "vitest";
import { modelOf } from "../../../../backend/services/fit/models/catalogue.ts";
import { doubtfulValues, inModelUnits } from "../../../../backend/services/fit/quantities/model-units.ts";
import { unitKey } from "../../../../backend/services/fit/quantities/unit-text.ts";

describe("spellings of a unit", () => {
  test.each<[string, string[]]>([
    [
      "umol m-2 s-1",
      [
        "µmol m⁻² s⁻¹",
        "μmol/m2/s",
        "umol m^-2 s^-1",
        "umol·m-2·s-1",
        "umol.m-2.s-1",
        "umol/(m2 s)",
        "umol/(m² s)",
        "umol m**-2 s**-1",
        "umol_CO2_m-2_s-1",
        "umol CO2 m−2 s−1",
        "umolm-2s-1",
        "UMOL M-2 S-1",
        "umol photons m-2 s-1",
        "umol m-2 sec-1",
        "umol/m^2/s",
        "umol m^{-2} s^{-1}",
      ],
    ],
    ["mmol m-2 s-1", ["mmol H2O m-2 s-1", "mmol m⁻² s⁻¹"]],
    ["umol mol-1", ["µmol/mol", "umol CO2 mol-1", "μmol mol⁻¹"]],
    ["degc", ["°C", "℃", "C", "deg C", "degrees Celsius"]],
    ["%", ["percent", "pct", "％"]],
    ["1", ["", "-", "fraction", "unitless"]],
    ["mpa", ["MPa", " mpa "]],
    ["-mpa", ["-MPa", "−MPa", "- MPa"]],
    ["w m-2", ["W/m2", "W m⁻²"]],
  ])("%s", (key, texts) => {
    for (const text of texts) expect([text, unitKey(text)]).toEqual([text, key]);
  });

  test.each(["predawn", "leaf 3", "m/s/leaf", "2", "umol m-2 s-1 of leaf", "()", "/"])("%j is none", (text) =>
    expect(unitKey(text)).toBeNull(),
  );
});

const columns = (of: Record<string, number[]>) => new Map(Object.entries(of));
const stated = (of: Record<string, string>) => new Map(Object.entries(of));

describe("columns in the units that a table states", () => {
  test.each<[string, string, string, number, number]>([
    ["med2011", "gs", "mmol m-2 s-1", 250, 0.25],
    ["med2011", "A", "nmol m-2 s-1", 12000, 12],
    ["med2011", "VPD", "hPa", 15, 1.5],
    ["med2011", "VPD", "Pa", 1500, 1.5],
    ["med2011", "Ca", "mmol mol-1", 0.4, 400],
    ["bwb1987", "hs", "%", 65, 0.65],
    ["fvcb", "Tleaf", "K", 298.15, 25],
    ["fvcb", "Tleaf", "°F", 77, 25],
    ["fvcb", "Qin", "mmol m-2 s-1", 1.5, 1500],
    ["sigmoidal", "psi", "bar", -25, -2.5],
    ["sigmoidal", "psi", "kPa", -2500, -2.5],
    ["sjb2018", "psi", "-MPa", 1.5, -1.5],
    ["sjb2018", "psi", "-bar", 15, -1.5],
    ["sjb2018", "w", "%", 92, 0.92],
  ])("%s: %s in %s", (id, name, unit, value, converted) => {
    const model = modelOf(id);
    const found = inModelUnits(model, columns({ [name]: [value] }), stated({ [name]: unit }));
    expect(found.columns.get(name)?.[0]).toBeCloseTo(converted, 9);
    expect(found.warnings).toEqual([expect.stringContaining(`"${name}" is stated in ${unit}; it was converted to`)]);
  });

  test.each<[string, string, string]>([
    ["med2011", "gs", "mol H2O m-2 s-1"],
    ["med2011", "VPD", "kPa"],
    ["med2011", "Ca", "ppm"],
    ["sigmoidal", "K", "mmol m-2 s-1 MPa-1"], // any unit
    ["bwb1987", "hs", ""],
    ["linear", "x", "furlongs"],
  ])("%s: %s in %s is as it is", (id, name, unit) => {
    const found = inModelUnits(modelOf(id), columns({ [name]: [1, 2] }), stated({ [name]: unit }));
    expect([found.columns.get(name), found.warnings]).toEqual([[1, 2], []]);
  });

  test("a minus in the unit and in the values is said twice", () => {
    const found = inModelUnits(modelOf("sjb2018"), columns({ psi: [-1.5, -2] }), stated({ psi: "-MPa" }));
    expect([found.columns.get("psi"), found.warnings]).toEqual([[-1.5, -2], []]);
  });

  test.each<[string, string, string, RegExp]>([
    ["fvcb", "Ci", "Pa", /"Ci" is stated in Pa, the model takes umol mol-1: it depends on the air pressure/],
    ["med2011", "gs", "mm s-1", /depends on temperature and air pressure/],
    ["med2011", "VPD", "mmol mol-1", /multiply mol mol-1 by the pressure in kPa/],
    ["fvcb", "Qin", "W m-2", /depends on the spectrum/],
    ["sjb2018", "w", "g", /divide the mass of water by that at full turgor/],
  ])("%s: %s in %s is refused", (id, name, unit, sentence) => {
    expect(() => inModelUnits(modelOf(id), columns({ [name]: [1] }), stated({ [name]: unit }))).toThrow(sentence);
  });

  test("text that is no unit is told", () => {
    const found = inModelUnits(modelOf("sigmoidal"), columns({ psi: [-1] }), stated({ psi: "predawn" }));
    expect([found.columns.get("psi"), found.warnings]).toEqual([
      [-1],
      ['"psi" has "predawn" where its unit should stand; its values were taken as MPa.'],
    ]);
  });
});

describe("values that are none of the model's unit", () => {
  test.each<[string, Record<string, number[]>, RegExp]>([
    [
      "med2011",
      { gs: [80, 350] },
      /"gs" runs from 80 to 350; the model takes mol m-2 s-1, .*divide mmol m-2 s-1 by 1000\.$/,
    ],
    ["med2011", { VPD: [8, 25] }, /divide hPa and mbar by 10/],
    ["med2011", { A: [-9000, 10] }, /"A" runs from -9000 to 10/],
    ["sigmoidal", { psi: [-30, -2] }, /multiply bar by 0.1/],
    ["fvcb", { Qin: [9000] }, /full sun has 2200/],
  ])("%s: %j is told", (id, of, sentence) =>
    expect(doubtfulValues(modelOf(id), columns(of))).toEqual([expect.stringMatching(sentence)]),
  );

  test.each<[string, Record<string, number[]>, RegExp]>([
    [
      "fvcb",
      { Tleaf: [298, 303] },
      /"Tleaf" runs from 298 to 303; the model takes degrees Celsius, and subtract 273.15/,
    ],
    ["fvcb", { Tleaf: [77, 80] }, /degrees Fahrenheit/],
    ["bwb1987", { hs: [40, 80] }, /divide percent by 100/],
  ])("%s: %j is refused", (id, of, sentence) =>
    expect(() => doubtfulValues(modelOf(id), columns(of))).toThrow(sentence),
  );

  test("those of leaves are not", () => {
    const leaf = { A: [-3, 45], gs: [0, 1.8], VPD: [0.1, 6], Ca: [50, 2000], Gamma: [40, 45] };
    expect(doubtfulValues(modelOf("med2011"), columns(leaf))).toEqual([]);
    const curve = { A: [-5, 60], Ci: [20, 1800], Qin: [0, 2500], Tleaf: [4, 45] };
    expect(doubtfulValues(modelOf("fvcb"), columns(curve))).toEqual([]);
    expect(doubtfulValues(modelOf("sigmoidal"), columns({ psi: [-12, 0], K: [1, 900] }))).toEqual([]);
    expect(doubtfulValues(modelOf("sjb2018"), columns({ psi: [-6, 0], w: [0.3, 1.02] }))).toEqual([]);
  });
});
