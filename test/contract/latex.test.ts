import { describe, expect, test } from "vitest";
import { LatexResponse } from "../../shared/contract/latex.ts";
import { refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const rendered = async (payload: object) => {
  const answer = await made.app.inject({ method: "POST", url: "/api/latex", payload });
  expect(answer.statusCode).toBe(200);
  return LatexResponse.parse(answer.json());
};

test("GET without an equation before anything was rendered: 404", async () => {
  const answer = await made.app.inject({ url: "/api/latex" });
  expect([answer.statusCode, answer.json()]).toEqual([
    404,
    { code: "not_found", detail: "No equation was rendered yet; send `equation`, or POST one first." },
  ]);
});

test("POST renders, GET repeats it", async () => {
  const answer = await rendered({ equation: "a*x + b", output_symbol: "A_net" });
  expect(answer).toEqual({ success: true, latex: String.raw`A_{\mathrm{net}} = a x + b` });
  await rendered({ equation: "a +" }); // as text: not kept
  expect((await made.app.inject({ url: "/api/latex" })).json()).toEqual(answer);
});

test("GET with an equation renders it", async () => {
  const answer = await made.app.inject({ url: "/api/latex?equation=x%2F2&equation_type=implicit" });
  expect(answer.json()).toEqual({ success: true, latex: String.raw`0 = \frac{x}{2}` });
});

describe("left side and lines", () => {
  test.each([
    [{ equation: "x", output_symbol: "psi50" }, String.raw`\psi_{50} = x`],
    [{ equation: "x" }, "y = x"],
    [{ equation: "x", output_symbol: " " }, "y = x"],
    [{ equation: "x", output_symbol: "50%" }, String.raw`\text{50\%} = x`],
    [{ equation: "x\ny + z" }, "y = x"],
    [{ equation: "f(x) + 1" }, String.raw`y = \operatorname{f}\left(x\right) + 1`],
    [{ equation: "x", equation_type: "implicit", output_symbol: "q" }, "0 = x"],
  ])("%j", async (payload, latex) => {
    expect(await rendered(payload)).toEqual({ success: true, latex });
  });
});

test("an equation that cannot be read is shown as text, with the reason", async () => {
  expect(await rendered({ equation: " a_1 + {b} & #~^\\ " })).toEqual({
    success: true,
    latex: String.raw`y = \text{a\_1 + \{b\} \& \#\textasciitilde{}\textasciicircum{}\textbackslash{}}`,
    warnings: ['Equation, column 8: "{" has no meaning here. The equation is shown as text.'],
  });
  expect((await rendered({ equation: "" })).latex).toBe(String.raw`y = \text{}`);
});

test("an unknown key is named", async () => {
  const { warnings } = await rendered({ equation: "x", outputs: "y" });
  expect(warnings?.[0]).toContain('"outputs"');
});

test.each([{}, { equation: 5 }, { equation: "x", equation_type: "both" }])("%j: 422", async (payload) => {
  expect((await refusal(made, "/api/latex", payload))[0]).toBe(422);
});
