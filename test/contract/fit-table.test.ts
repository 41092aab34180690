import { describe, expect, test } from "vitest";
import { FitResponse } from "../../shared/contract/fit.ts";
import { MAX_FIT_TABLE_BYTES } from "../../shared/limits.ts";
import { checked } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

interface Sent {
  readonly fields?: Readonly<Record<string, string>>;
  readonly file?: { readonly name: string; readonly text: string } | null;
  /** The file before the fields. */
  readonly file_first?: boolean;
  /** A part that comes once more. */
  readonly twice?: "file" | "fields";
}
const VULNERABILITY = { model_category: "hydraulics", model_type: "sigmoidal" };
const psi = [-0.1, -0.5, -1, -1.5, -2, -2.5, -3, -4];
const CURVE = `psi,K\n${psi.map((p) => `${p},${8 / (1 + Math.abs(p / 1.7) ** 3.5)}`).join("\n")}\n`;
const TABLE = { name: "curve.csv", text: CURVE };

async function send({ fields = VULNERABILITY, file = TABLE, file_first = false, twice }: Sent) {
  const edge = "----edge";
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${edge}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const files = file
    ? [`--${edge}\r\ncontent-disposition: form-data; name="file"; filename="${file.name}"\r\n\r\n${file.text}\r\n`]
    : [];
  const again = twice === "file" ? files : twice === "fields" ? texts : [];
  const parts = [...(file_first ? [...files, ...texts] : [...texts, ...files]), ...again];
  const headers = { "content-type": `multipart/form-data; boundary=${edge}` };
  const payload = `${parts.join("")}--${edge}--\r\n`;
  return made.app.inject({ method: "POST", url: "/api/fit", headers, payload });
}
async function fitted(sent: Sent) {
  const answer = await send(sent);
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  return checked(FitResponse, answer.json());
}
async function refused(sent: Sent): Promise<[number, unknown]> {
  const answer = await send(sent);
  return [answer.statusCode, answer.json().detail];
}

describe("fits", () => {
  test.each([
    [0.1, 6],
    [0.1, 3],
    [0.7, 10],
  ])("%f measured %i times: r_squared is 0", async (value, count) => {
    const text = `x,y\n${Array.from({ length: count }, (_, i) => `${i},${value}`).join("\n")}\n`;
    const fields = { model_category: "generic", model_type: "linear" };
    const fit = await fitted({ fields, file: { name: "flat.csv", text } });
    expect([fit.r_squared, fit.curves[0]?.r_squared]).toEqual([0, 0]);
  });

  test.each([false, true])("a vulnerability curve, file first: %s", async (file_first) => {
    const fit = await fitted({ file_first });
    expect(fit.parameters).toEqual({
      Kmax: expect.closeTo(8, 9),
      psi50: expect.closeTo(-1.7, 9),
      s: expect.closeTo(3.5, 9),
    });
    expect(fit).toMatchObject({ converged: true, r_squared: expect.closeTo(1, 12) });
    expect(fit.curves.map((curve) => curve.curve_id)).toEqual([null]);
  });

  test("an alias, and the given start alone", async () => {
    const fields = {
      ...VULNERABILITY,
      model_type: "vulnerability",
      method: "levenberg_marquardt",
      max_iterations: "50",
    };
    expect((await fitted({ fields })).curves[0]?.start_count).toBe(1);
  });

  test("a parameter that no row depends on much is named", async () => {
    const rows = [50, 100, 200, 300, 400, 600, 900].map(
      (Ci, i) => `${(20 * Ci) / (Ci + 300) - (i % 2) / 5},${Ci},1500,25`,
    );
    const fit = await fitted({
      fields: { model_category: "photosynthesis", model_type: "fvcb" },
      file: { name: "a.csv", text: `A,Ci,Qin,Tleaf\n${rows.join("\n")}\n` },
    });
    expect(fit.warnings?.join()).toMatch(
      /hardly determine "Vcmax25": its standard error [\d.e+]+ exceeds the range of its bounds, 0 to 1000/,
    );
  });

  test("several curves by CurveID, in the order of the table", async () => {
    const rows = [50, 100, 200, 300, 400, 600, 800, 1000, 1200, 1500];
    const curve = (id: string, Vcmax: number) => rows.map((Ci) => `${id},${aci(Ci, Vcmax)},${Ci},1500,25`).join("\n");
    const text = `CurveID,A,Ci,Qin,Tleaf\n${curve("sun", 80)}\n${curve("shade", 40)}\n`;
    const fit = await fitted({
      fields: { model_category: "photosynthesis", model_type: "fvcb" },
      file: { name: "a.txt", text },
    });
    expect(fit.curves.map(({ curve_id, parameters }) => [curve_id, parameters.Vcmax25?.value])).toEqual([
      ["sun", expect.closeTo(80, 6)],
      ["shade", expect.closeTo(40, 6)],
    ]);
    expect(fit.parameters["Vcmax25 (sun)"]).toBe(fit.curves[0]?.parameters.Vcmax25?.value);
  });

  test("ignored columns are no problem, ignored fields are named", async () => {
    const fit = await fitted({
      fields: { ...VULNERABILITY, colour: "red" },
      file: { name: "curve.CSV", text: CURVE.replace("psi,K", "psi,K,note") },
    });
    expect(fit.warnings?.[0]).toContain('"colour"');
  });
});

/** An A-Ci curve at 25 degrees: Jmax 1.5 Vcmax, TPU 0.09 Vcmax, Rd 1; constants of Bernacchi et al. 2001. */
function aci(Ci: number, Vcmax: number): number {
  const RT = 8.314e-3 * 298.15;
  const [Kc, Ko, G] = [38.05 - 79.43 / RT, 20.3 - 36.38 / RT, 19.02 - 37.83 / RT].map(Math.exp) as [
    number,
    number,
    number,
  ];
  const [I2, Jmax] = [0.361 * 1500, 1.5 * Vcmax];
  const J = (I2 + Jmax - Math.sqrt((I2 + Jmax) ** 2 - 4 * 0.7 * I2 * Jmax)) / (2 * 0.7);
  const rubisco = (Vcmax * (Ci - G)) / (Ci + Kc * (1 + 210 / Ko));
  // Hyperbolic minimum of curvature 0.9999 (Duursma 2015).
  const lesser = (a: number, b: number) => (a + b - Math.sqrt((a + b) ** 2 - 4 * 0.9999 * a * b)) / (2 * 0.9999);
  return lesser(lesser(rubisco, (J * (Ci - G)) / (4 * Ci + 8 * G)), 3 * 0.09 * Vcmax) - 1;
}

describe("refusals", () => {
  const file = (text: string, name = "t.csv") => ({ name, text });
  test.each<[string, Sent, RegExp]>([
    ["no file", { file: null }, /^the form needs a part named "file"$/],
    ["two files", { twice: "file" }, /^the form has the part "file" twice$/],
    ["a field twice", { twice: "fields" }, /^the form has the part "model_category" twice$/],
    ["another extension", { file: file(CURVE, "curve.docx") }, /^"curve.docx": only .csv, .txt, .xlsx/],
    ["no category", { fields: { model_type: "linear" } }, /^form field "model_category": /],
    ["an unknown category", { fields: { model_category: "soil", model_type: "linear" } }, /no model category "soil"/],
    ["an unknown model", { fields: { model_category: "generic", model_type: "cubic" } }, /no built-in model "cubic"/],
    [
      "a model of another category",
      { fields: { model_category: "generic", model_type: "fvcb" } },
      /is not in the category/,
    ],
    ["an unknown method", { fields: { ...VULNERABILITY, method: "magic" } }, /^form field "method": /],
    ["no iterations", { fields: { ...VULNERABILITY, max_iterations: "0" } }, /^form field "max_iterations": /],
    ["a missing column", { file: file("psi\n1\n") }, /no column "K"; its columns are psi$/],
    ["a cell that is no number", { file: file("psi,K\n-1,2\n-2,two\n") }, /^row 3, column "K": "two" is no number$/],
    ["both signs", { file: file("psi,K\n-1,2\n1,2\n-3,1\n") }, /values of both signs/],
    [
      "too many rows",
      { file: file(`Ci,A${"\n1,2".repeat(100_000)}`) },
      /has 100001 rows; a table has at most 100000 here/,
    ],
    ["blank rows", { file: file("\n".repeat(4_000_000)) }, /has 4000001 rows/],
    ["too many cells", { file: file(",".repeat(4_000_000)) }, /has 4000001 cells; a table has at most 500000 here/],
    ["too many blanks", { file: file("1 ".repeat(600_000)) }, /has 600001 cells/],
    ["too large", { file: file("x".repeat(MAX_FIT_TABLE_BYTES + 1)) }, /is larger than 4194304 bytes/],
  ])("%s", async (_, sent, sentence) => {
    expect(await refused(sent)).toEqual([400, expect.stringMatching(sentence)]);
  });

  test("no form: 400", async () => {
    const answer = await made.app.inject({ method: "POST", url: "/api/fit", payload: { file: "x" } });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      'send a multipart form with a part named "file", not application/json',
    ]);
  });
});
