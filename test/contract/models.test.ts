import { describe, expect, test } from "vitest";
import { namesIn } from "../../backend/services/fit/expression/linearity.ts";
import { parseExpression } from "../../backend/services/fit/expression/parse.ts";
import { ModelsResponse } from "../../shared/contract/models.ts";
import { checked } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const listed = async () => checked(ModelsResponse, (await made.app.inject({ url: "/api/models" })).json());

test("categories, ids, names and data of the catalogue", async () => {
  const short = Object.entries(await listed()).flatMap(([category, models]) =>
    Object.entries(models).map(([id, { name, required_data, optional_data }]) =>
      [category, id, name, required_data.join(" "), (optional_data ?? []).join(" ")].join(" | "),
    ),
  );
  expect(short).toEqual([
    "photosynthesis | fvcb | FvCB | A Ci Qin Tleaf | CurveID",
    "stomatal | med2011 | Medlyn 2011 | A VPD gs | Ca Gamma",
    "stomatal | bwb1987 | Ball-Woodrow-Berry | A hs gs | Ca",
    "stomatal | bbl1995 | Ball-Berry-Leuning | A VPD gs | Ca Gamma D0",
    "hydraulics | sigmoidal | Vulnerability Curve | psi K | ",
    "hydraulics | sjb2018 | P-V Curve | w psi | ",
    "generic | linear | Linear | x y | ",
    "generic | rectangular_hyperbola | Rectangular Hyperbola | x y | ",
    "generic | nonrectangular_hyperbola | Non-rectangular Hyperbola | x y | ",
  ]);
  expect(
    Object.values(await listed())
      .flatMap((models) => Object.values(models))
      .every((model) => "output" in model),
  ).toBe(true);
});

describe("every equation is read, and uses each of its parameters and columns", async () => {
  const models = Object.values((await import("../../backend/services/fit/models/catalogue.ts")).modelList());
  test.each(models.flatMap((list) => Object.entries(list)))("%s", (_, model) => {
    const names = namesIn(parseExpression(model.equation));
    for (const { symbol } of model.parameters) expect(names).toContain(symbol);
    if (!model.required_data.includes("Tleaf")) {
      const inputs = model.required_data.filter((name) => name !== model.output);
      for (const name of inputs) expect(names).toContain(name);
    }
  });
});
