import { inflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { canReadResults, type ReadWorkbook, readResult } from "../support/fit/read-result.ts";
import { refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
if (!canReadResults) console.log("exported results: not read back, there is no python3");

const RESULT = {
  model_name: "Medlyn 2011 (β)",
  model_type: "stomatal",
  equation: "gs0 + 1.6*(1 + g1/sqrt(VPD))*A/Ca",
  file_name: "leaf & stem.csv",
  y_column_name: "gs",
  parameters: {
    gs0: { value: 0.0123, std_error: 0.001, fixed: false, symbol: "gs₀", units: "mol m-2 s-1", description: "minimum" },
    Ca: { value: 420, fixed: true },
    g1: 4.25,
    lost: { value: null },
  },
  r_squared: 0.987654321012345,
  rmse: 1e-7,
  n_points: 3,
  max_iterations: 1000,
  fitted_values: [0.1, 0.2, 0.30000000000000004],
  residuals: [-0.01, 0, null],
  y_measured: [0.11, 0.2],
  input_data: { VPD: [1, 1.5, 2], "=A1+1": [-1e-300, 1e300, null] },
  model_tags: ["C3", "leaf"],
};

const post = (payload: object) => made.app.inject({ method: "POST", url: "/api/export", payload });
async function exported(payload: object) {
  const answer = await post(payload);
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  return answer;
}
const warningsOf = (answer: { headers: Record<string, unknown> }): string[] =>
  JSON.parse(String(answer.headers["x-warnings"] ?? "[]")) as string[];

test("the file has the name and type of the contract", async () => {
  const answer = await exported(RESULT);
  expect(answer.headers["content-type"]).toBe("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  expect(answer.headers["content-disposition"]).toMatch(
    /^attachment; filename=Medlyn_2011_____FitResults_\d{8}_\d{6}\.xlsx$/,
  );
  expect(answer.headers["x-warnings"]).toBeUndefined();
  expect(answer.rawPayload.subarray(0, 4).toString("latin1")).toBe("PK\x03\x04");
});

describe.skipIf(!canReadResults)("workbooks", () => {
  const sheetsOf = async (payload: object) => readResult<ReadWorkbook>((await exported(payload)).rawPayload);

  test("three sheets as the contract says", async () => {
    const sheets = await sheetsOf(RESULT);
    expect(Object.keys(sheets)).toEqual(["Parameters", "Data", "Metadata"]);
    expect(sheets.Parameters).toEqual({
      bold: [0],
      rows: [
        ["Parameter", "Value", "Std Error", "Status", "Symbol", "Units", "Description"],
        ["gs0", 0.0123, 0.001, "Fitted", "gs₀", "mol m-2 s-1", "minimum"],
        ["Ca", 420, null, "Fixed", "Ca"],
        ["g1", 4.25, null, "Fitted", "g1"],
        ["lost", null, null, "Fitted", "lost"],
      ],
    });
    expect(sheets.Data?.rows).toEqual([
      ["VPD", "=A1+1", "gs_measured", "gs_modeled", "Residual"],
      [1, -1e-300, 0.11, 0.1, -0.01],
      [1.5, 1e300, 0.2, 0.2, 0],
      [2, null, null, 0.30000000000000004],
    ]);
    const metadata = sheets.Metadata?.rows ?? [];
    expect(metadata[6]?.[0]).toBe("Fit DateTime");
    expect(metadata[6]?.[1]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    expect(metadata.filter((_, i) => i !== 6)).toEqual([
      ["Fit Results"],
      [],
      ["DATA SOURCE"],
      ["Model Name", "Medlyn 2011 (β)"],
      ["Model Type", "stomatal"],
      ["Source File", "leaf & stem.csv"],
      ["Tags", "C3, leaf"],
      [],
      ["EQUATION"],
      [RESULT.equation],
      [],
      ["FIT OPTIONS"],
      ["Max Iterations", 1000],
      [],
      ["ERROR METRICS"],
      ["R2", 0.987654321012345],
      ["RMSE", 1e-7],
      ["N Points", 3],
    ]);
    expect(sheets.Metadata?.bold).toEqual([0, 2, 9, 12, 15]);
  });

  test("defaults", async () => {
    const sheets = await sheetsOf({ model_name: "m", parameters: {}, fitted_values: [1] });
    expect(sheets.Parameters?.rows).toHaveLength(1);
    expect(sheets.Data?.rows).toEqual([["Y_modeled"], [1]]);
    const facts = new Map((sheets.Metadata?.rows ?? []).map(([name, value]) => [name, value]));
    expect([facts.get("Model Type"), facts.get("Source File"), facts.get("Max Iterations")]).toEqual([
      "Custom",
      "Not specified",
      "Default",
    ]);
    expect((await sheetsOf({ model_name: "m", parameters: {} })).Data?.rows).toEqual([]);
  });

  test.each(["<a> & \"b\" 'c'", "_x0041_", "\u0000\u0001\u001F\uFFFE", "\uD800x", "  two  ", "🌿", "a\nb\tc"])(
    "text %j comes back",
    async (text) => {
      const { Parameters } = await sheetsOf({
        model_name: text,
        parameters: { [text]: { value: 1, description: text } },
      });
      const wanted = text.replace("\uD800", "\uFFFD");
      expect([Parameters?.rows[1]?.[0], Parameters?.rows[1]?.[6]]).toEqual([wanted, wanted]);
    },
  );

  test("20,000 rows are all there", async () => {
    const x = Array.from({ length: 20_000 }, (_, i) => i / 7);
    const { Data } = await sheetsOf({ model_name: "m", parameters: {}, input_data: { x } });
    expect(Data?.rows.slice(1).map(([value]) => value)).toEqual(x);
  });
});

describe("csv", () => {
  test.skipIf(!canReadResults)("the sheets one below the other, formulas as text", async () => {
    const answer = await exported({ ...RESULT, format: "csv" });
    expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(answer.headers["content-disposition"]).toMatch(/\.csv$/);
    const rows = readResult<string[][]>(answer.rawPayload);
    expect(rows.slice(0, 2)).toEqual([
      ["Parameters"],
      ["Parameter", "Value", "Std Error", "Status", "Symbol", "Units", "Description"],
    ]);
    const data = rows.findIndex(([name]) => name === "Data");
    expect(rows.slice(data + 1, data + 3)).toEqual([
      ["VPD", "'=A1+1", "gs_measured", "gs_modeled", "Residual"],
      ["1", "-1e-300", "0.11", "0.1", "-0.01"],
    ]);
    expect(rows.at(-1)).toEqual(["N Points", "3"]);
  });

  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])("%j begins with an apostrophe", async (name) => {
    const { body } = await exported({
      model_name: "m",
      format: "csv",
      parameters: { [name]: { value: -1, units: name } },
    });
    expect(body.split(`'${name}`)).toHaveLength(4); // name, symbol and units
    expect(body).toContain(",-1,"); // numbers stay numbers
  });
});

test("json", async () => {
  const answer = await exported({ ...RESULT, format: "json" });
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(answer.json()).toMatchObject({
    model_name: RESULT.model_name,
    rmse: 1e-7,
    tags: ["C3", "leaf"],
    data: [{ name: "VPD", values: [1, 1.5, 2] }, {}, {}, {}, { name: "Residual", values: [-0.01, 0, null] }],
  });
  expect((answer.json() as { parameters: object[] }).parameters[1]).toEqual({
    name: "Ca",
    value: 420,
    std_error: null,
    fixed: true,
    symbol: "Ca",
    units: "",
    description: "",
  });
});

test("what is cut and what is ignored is named in X-Warnings", async () => {
  const answer = await exported({ ...RESULT, input_data: { é: [1] }, colour: 1 });
  const [ignored, cut] = warningsOf(answer);
  expect(ignored).toContain('"colour"');
  expect(cut).toBe(
    'Columns longer than the first one, "é", were cut to its 1 rows: gs_measured, gs_modeled, Residual.',
  );
});

test.each([
  {},
  { model_name: "m" },
  { model_name: "", parameters: {} },
  { model_name: "m", parameters: { a: "1" } },
  { model_name: "m", parameters: {}, format: "pdf" },
  { model_name: "m", parameters: {}, fitted_values: ["1"] },
  { model_name: "m", parameters: {}, input_data: { x: 1 } },
  { model_name: "m", parameters: {}, n_points: 1.5 },
])("%j: 422", async (payload) => {
  expect((await refusal(made, "/api/export", payload))[0]).toBe(422);
});

test("a file without python3: its parts inflate and their names are those of a workbook", async () => {
  const { rawPayload } = await exported(RESULT);
  const names: string[] = [];
  for (let at = 0; rawPayload.readUInt32LE(at) === 0x04034b50; ) {
    const [packed, size, length] = [18, 22]
      .map((o) => rawPayload.readUInt32LE(at + o))
      .concat(rawPayload.readUInt16LE(at + 26));
    const start = at + 30 + (length ?? 0);
    names.push(rawPayload.toString("latin1", at + 30, start));
    expect(inflateRawSync(rawPayload.subarray(start, start + (packed ?? 0)))).toHaveLength(size ?? -1);
    at = start + (packed ?? 0);
  }
  expect(names).toContain("xl/worksheets/sheet3.xml");
  expect(names).toHaveLength(8);
});
