import { describe, expect, test } from "vitest";
import { FitResponse } from "../../shared/contract/fit.ts";
import { CustomFitResponse } from "../../shared/contract/fit-custom.ts";
import { checked } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

async function send(model: string, text: string) {
  const edge = "----edge";
  const [model_category, model_type] = model.split("/");
  const part = (name: string, value: string, file = "") =>
    `--${edge}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  const payload = `${part("model_category", model_category ?? "")}${part("model_type", model_type ?? "")}${part("file", text, '; filename="t.csv"')}--${edge}--\r\n`;
  const headers = { "content-type": `multipart/form-data; boundary=${edge}` };
  return made.app.inject({ method: "POST", url: "/api/fit", headers, payload });
}
async function fitted(model: string, text: string) {
  const answer = await send(model, text);
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  return checked(FitResponse, answer.json());
}
const refused = async (model: string, text: string) => {
  const answer = await send(model, text);
  return [answer.statusCode, answer.json().detail];
};
const said = (fit: { warnings?: string[] | undefined }) => (fit.warnings ?? []).join("\n");

/** A table of rows, and a wave that stands for noise. */
const table = (header: string, rows: readonly (readonly (string | number)[])[]) =>
  `${header}\n${rows.map((row) => row.join(",")).join("\n")}\n`;
const wave = (i: number) => Math.sin(12.9 * i * i + 4.1 * i);

/** Spot measurements: gs0 0.03, g1 4 kPa^0.5. */
const SPOTS = Array.from({ length: 16 }, (_, i) => {
  const [A, VPD] = [3 + ((7 * i) % 17), 0.7 + ((5 * i) % 11) / 5];
  return { A, VPD, gs: 0.03 + (1.6 * (1 + 4 / Math.sqrt(VPD)) * A) / 410 + 0.004 * wave(i) };
});
const spots = (header: string, scale = { gs: 1, VPD: 1 }) =>
  table(
    header,
    SPOTS.map(({ A, VPD, gs }) => [A, VPD * scale.VPD, gs * scale.gs, 410]),
  );

describe("units", () => {
  test.each<[string, string, { gs: number; VPD: number }]>([
    ["in the header", "A,VPD (hPa),gs [mmol m-2 s-1],Ca", { gs: 1000, VPD: 10 }],
    ["in the row below", "A,VPD,gs,Ca\numol m-2 s-1,Pa,mmol m⁻² s⁻¹,ppm", { gs: 1000, VPD: 1000 }],
  ])("%s are converted, and told", async (_, header, scale) => {
    const fit = await fitted("stomatal/med2011", spots(header, scale));
    const plain = await fitted("stomatal/med2011", spots("A,VPD,gs,Ca"));
    expect(plain.warnings).toBeUndefined();
    expect(fit.parameters.g1).toBeCloseTo(plain.parameters.g1 ?? 0, 9);
    expect(fit.parameters.g1).toBeCloseTo(4, 0);
    expect(fit.curves[0]?.columns.gs?.[0]).toBeCloseTo(SPOTS[0]?.gs ?? 0, 12);
    expect(said(fit)).toMatch(/"VPD" is stated in h?Pa; it was converted to kPa: \d+ became 2.7\./);
    expect(said(fit)).toContain('"gs" is stated in mmol m');
  });

  test("those that cannot be converted are refused", async () => {
    expect(await refused("stomatal/med2011", spots("A,VPD,gs (mm s-1),Ca"))).toEqual([
      400,
      expect.stringMatching(/"gs" is stated in mm s-1, the model takes mol m-2 s-1/),
    ]);
  });

  test("unstated ones show where no leaf has such values", async () => {
    expect(said(await fitted("stomatal/med2011", spots("A,VPD,gs,Ca", { gs: 1000, VPD: 1 })))).toMatch(
      /"gs" runs from .*divide mmol m-2 s-1 by 1000/,
    );
  });

  test("an equation of one's own is not asked; a built-in model is", async () => {
    const column = (of: (spot: (typeof SPOTS)[number]) => number) => SPOTS.map(of);
    const request = (name: string, gs: number[]) => ({
      model_type: "builtin",
      model_id: "med2011",
      parameters: [],
      inputs: ["A", "VPD", "Ca"].map((symbol) => ({ name: symbol, symbol })),
      outputs: [{ name: "gs", symbol: "gs" }],
      column_mappings: { input_A: "A", input_VPD: "VPD", input_Ca: "Ca", output_gs: name },
      data: { A: column((s) => s.A), VPD: column((s) => s.VPD), Ca: column(() => 410), [name]: gs },
    });
    const post = (payload: object) => made.app.inject({ method: "POST", url: "/api/fit/custom", payload });
    const milli = await post(
      request(
        "gs (mmol m-2 s-1)",
        column(({ gs }) => 1000 * gs),
      ),
    );
    expect([milli.statusCode, milli.json().detail]).toEqual([
      400,
      expect.stringMatching(/column of "gs" states mmol m-2 s-1, and the model takes mol m-2 s-1/),
    ]);
    const plain = await post(
      request(
        "gs (mol m-2 s-1)",
        column(({ gs }) => gs),
      ),
    );
    expect(checked(CustomFitResponse, plain.json()).warnings).toBeUndefined();
    const unstated = await post(
      request(
        "gs",
        column(({ gs }) => 1000 * gs),
      ),
    );
    expect(said(checked(CustomFitResponse, unstated.json()))).toContain("divide mmol m-2 s-1 by 1000");
  });
});

describe("what a table does not say", () => {
  test("the CO2 around the leaf", async () => {
    const text = table(
      "A,VPD,gs",
      SPOTS.map(({ A, VPD, gs }) => [A, VPD, gs]),
    );
    expect(said(await fitted("stomatal/med2011", text))).toContain(
      "The table has no Ca; 420 umol mol-1 was taken for every row.",
    );
  });

  test("codes of missing values are left out", async () => {
    const text = `${spots("A,VPD,gs,Ca")}-9999,1.5,0.2,410\n12,1.5,-9999,410\n`;
    const fit = await fitted("stomatal/med2011", text);
    expect([fit.curves[0]?.n_points, said(fit)]).toEqual([
      16,
      "Rows with -9999, which marks missing values, were left out: 18, 19.",
    ]);
  });

  test("rows above the header, and another delimiter in them", async () => {
    const above = "[Header]\nAverage, seconds\nSysConst;AvgTime;4\n\n[Data]\n";
    const text = `${above}obs\tA\tVPD (kPa)\tgs\tCa\n${SPOTS.map((s, i) => [i + 1, s.A, s.VPD, s.gs, 410].join("\t")).join("\n")}\n`;
    const fit = await fitted("stomatal/med2011", text);
    expect([fit.curves[0]?.n_points, said(fit)]).toEqual([
      16,
      "The columns are named in row 6; 4 rows above it were skipped.",
    ]);
  });

  test("formulas that were never calculated", async () => {
    const text = table(
      "A,VPD,gs,Ca",
      SPOTS.map(({ A, VPD }) => [A, VPD, 0, 410]),
    );
    expect(said(await fitted("stomatal/med2011", text))).toContain(
      'All 16 values of "gs" are 0, which tells nothing of the curve; a workbook with formulas',
    );
  });

  test("curves of a model that takes one", async () => {
    const rows = SPOTS.map(({ A, VPD, gs }, i) => [i % 2 === 0 ? "oak" : "beech", A, VPD, gs, 410]);
    expect(said(await fitted("stomatal/med2011", table("CurveID,A,VPD,gs,Ca", rows)))).toContain(
      "CurveID has 2 values, which this model does not tell apart: all rows were fitted as one curve.",
    );
  });

  test("rows of the dark", async () => {
    expect(said(await fitted("stomatal/med2011", `${spots("A,VPD,gs,Ca")}-1,1,0.02,410\n`))).toContain(
      "One row has A of 0 or less",
    );
  });
});

describe("what the residuals say", () => {
  const x = Array.from({ length: 20 }, (_, i) => i + 1);
  test("a row that does not belong to the curve is named as in the table", async () => {
    const rows = x.map((at, i) => [at, (i === 12 ? 25 : 2 * at) + 0.1 * wave(i)]);
    expect(said(await fitted("generic/linear", table("x,y", rows)))).toMatch(
      /^Row 14 of the table lies \d+ standard deviations of the others off the curve \(25(\.\d+)? measured, 2\d(\.\d+)? fitted\): check it/,
    );
  });

  test("a curve that the rows do not follow", async () => {
    const rows = x.map((at, i) => [at, at * at + wave(i)]);
    expect(said(await fitted("generic/linear", table("x,y", rows)))).toMatch(
      /^The curve does not follow the data: the residuals of 20 rows keep their sign over 3 stretches, as few as chance gives in one of [\d,]+ fits/,
    );
  });

  test("nothing, where the rows follow it, or lie on it but for rounding", async () => {
    const noisy = x.map((at, i) => [at, 2 * at + wave(i)]);
    expect((await fitted("generic/linear", table("x,y", noisy))).warnings).toBeUndefined();
    const exact = x.map((at) => [at, 0.1 * at + 0.3]);
    expect((await fitted("generic/linear", table("x,y", exact))).warnings).toBeUndefined();
    const almost = x.map((at) => [at, at + 1e-10 * at * at]);
    expect((await fitted("generic/linear", table("x,y", almost))).warnings).toBeUndefined();
  });
});

describe("what the rows do not reach", () => {
  const vulnerability = (psi: readonly number[]) =>
    table(
      "psi,K",
      psi.map((at, i) => [at, 8 / (1 + Math.abs(at / 3) ** 3) + 0.05 * wave(i)]),
    );
  test("half of the conductance", async () => {
    const dry = await fitted("hydraulics/sigmoidal", vulnerability([-0.2, -0.5, -0.9, -1.2, -1.5, -1.8, -2, -2.2]));
    expect(said(dry)).toMatch(/psi50 -\d\.\d+ MPa lies beyond the driest psi, -2.2 MPa: it is extrapolated/);
    const wet = await fitted("hydraulics/sigmoidal", vulnerability([-2.6, -3, -3.3, -3.6, -4, -4.5, -5, -6]));
    expect(said(wet)).toMatch(/At the wettest psi, -2.6 MPa, the curve has \d\d % of Kmax/);
    const whole = await fitted("hydraulics/sigmoidal", vulnerability([0, -0.5, -1.5, -2.5, -3, -3.5, -4.5, -6]));
    expect(whole.warnings).toBeUndefined();
  });

  test("nothing is said of a parameter that the request gives", async () => {
    const psi = [-0.2, -0.5, -0.9, -1.2, -1.5, -1.8, -2, -2.2];
    const payload = {
      model_type: "builtin",
      model_id: "sigmoidal",
      parameters: [{ name: "psi50", symbol: "psi50", default: -3, fixed: true }],
      inputs: [{ name: "psi", symbol: "psi" }],
      outputs: [{ name: "K", symbol: "K" }],
      column_mappings: { input_psi: "psi", output_K: "K" },
      data: { psi, K: psi.map((at, i) => 8 / (1 + Math.abs(at / 3) ** 3) + 0.05 * wave(i)) },
    };
    const answer = await made.app.inject({ method: "POST", url: "/api/fit/custom", payload });
    expect(checked(CustomFitResponse, answer.json()).warnings).toBeUndefined();
    const free = await made.app.inject({
      method: "POST",
      url: "/api/fit/custom",
      payload: { ...payload, parameters: [] },
    });
    expect(said(checked(CustomFitResponse, free.json()))).toContain("it is extrapolated");
  });

  test("percentages of loss are no conductance", async () => {
    const text = "psi,K\n-0.5,3\n-1,9\n-2,30\n-3,52\n-4,80\n-5,93\n";
    expect(await refused("hydraulics/sigmoidal", text)).toEqual([
      400,
      expect.stringMatching(/Of percentages of loss \(PLC\) send 100 - PLC/),
    ]);
  });

  const pressure = (w: readonly number[], sign = 1) =>
    table(
      "w,psi",
      w.map((at, i) => [at, sign * (1.5 * Math.max(0, (at - 0.85) / 0.15) ** 1.5 - 1.5 / at + 0.005 * wave(i))]),
    );
  test("turgor loss", async () => {
    const wet = await fitted("hydraulics/sjb2018", pressure([1, 0.98, 0.96, 0.94, 0.92, 0.9, 0.88, 0.86, 0.84]));
    expect(said(wet)).toMatch(/(No|One|2) rows? lies? below the turgor loss point/);
    const soaked = `${pressure([0.97, 0.95, 0.93, 0.91, 0.89, 0.82, 0.78, 0.74])}1,-0.25\n0.99,-0.27\n0.98,-0.26\n`;
    expect(said(await fitted("hydraulics/sjb2018", soaked))).toContain(
      "psi hardly falls between w 1 and 0.98 (3 rows)",
    );
    const whole = await fitted("hydraulics/sjb2018", pressure([1, 0.97, 0.94, 0.91, 0.88, 0.82, 0.78, 0.74, 0.7]));
    expect(whole.warnings).toBeUndefined();
    expect(await refused("hydraulics/sjb2018", pressure([1, 0.97, 0.94, 0.91, 0.82, 0.78], -1))).toEqual([
      400,
      expect.stringContaining("balancing pressures with a minus"),
    ]);
  });

  test("where a hyperbola levels off", async () => {
    const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((at, i) => [at, (30 * at) / (40 + at) + 0.01 * wave(i)]);
    expect(said(await fitted("generic/rectangular_hyperbola", table("x,y", rows)))).toMatch(
      /At the largest x, 8, the curve has reached \d+ % of ymax: ymax and x50 are extrapolated/,
    );
  });

  /** Vcmax 60, Jmax 105, TPU 7 at 25 degrees; constants of Bernacchi et al. 2001. */
  function aci(Ci: number): number {
    const [Km, G, I2, Jmax] = [404.9 * (1 + 210 / 278.4), 42.75, 0.361 * 1500, 105];
    const J = (I2 + Jmax - Math.sqrt((I2 + Jmax) ** 2 - 2.8 * I2 * Jmax)) / 1.4;
    return Math.min((60 * (Ci - G)) / (Ci + Km), (J * (Ci - G)) / (4 * Ci + 8 * G), 21) - 1;
  }
  const curve = (Ci: readonly number[]) =>
    table(
      "A,Ci,Qin,Tleaf",
      Ci.map((at, i) => [aci(at) + 0.05 * wave(i), at, 1500, 25]),
    );
  test("limits of photosynthesis", async () => {
    const low = await fitted("photosynthesis/fvcb", curve([50, 80, 120, 160, 200, 250, 300, 500, 650]));
    expect(said(low)).toContain(
      "No row is limited by triose phosphate use: TPU25 is at least about its value, not measured.",
    );
    expect(said(low)).toMatch(/(One row is|2 rows are) limited by electron transport: Jmax25 rests on/);
    const pascal = await fitted("photosynthesis/fvcb", curve([50, 80, 120, 160, 200, 230]));
    expect(said(pascal)).toContain("The largest Ci is 230 umol mol-1. If it is in Pa");
  });
});
