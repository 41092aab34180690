import { expect, test } from "vitest";
import { z } from "zod";
import "../../../backend/window/no-eval.ts";
import { FieldError, fieldOf, parsedValue } from "../../../backend/window/operations/field.ts";
import { OPERATIONS } from "../../../backend/window/operations/index.ts";
import { strings } from "../../../backend/window/strings.ts";
import { SessionGroundRequest } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { TreeQsmRequest } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { ExportRequest } from "../../../shared/contract/pointcloud.ts";

const words = strings.workflow.form;

test("fields have the kind, choices and default of their contract", () => {
  const of = (name: string, schema: z.ZodType) => fieldOf(name, schema, ["", ""]);
  const { method, rigidness, slope, slope_smooth } = SessionGroundRequest.shape;
  expect(of("method", method)).toMatchObject({
    kind: "choice",
    preset: null,
    choices: ["cloth", "smrf", "auto", "las_classification"],
  });
  expect(of("rigidness", rigidness)).toMatchObject({ kind: "integer", preset: null });
  expect(of("slope", slope)).toMatchObject({ kind: "number", preset: null });
  expect(of("slope_smooth", slope_smooth)).toMatchObject({ kind: "flag", preset: null });
  const qsm = TreeQsmRequest.shape;
  expect(of("tree_ids", qsm.tree_ids)).toMatchObject({ kind: "integers", preset: null });
  expect(of("max", qsm.max_points_per_tree)).toMatchObject({ kind: "integer", preset: 60_000 });
  expect(of("twig", qsm.twig_radius_mm)).toMatchObject({ kind: "number", preset: 4.23 });
  expect(of("format", ExportRequest.shape.format)).toMatchObject({ kind: "choice", preset: "laz" });
  expect(of("columns", ExportRequest.shape.columns)).toMatchObject({ kind: "names", preset: null });
  expect(of("path", z.string().min(1))).toMatchObject({ kind: "text", preset: undefined });
  expect(() => of("date", z.date())).toThrow("date");
});

test("the window models trees with the radii that are nearer to the truth", () => {
  const qsm = OPERATIONS.find(({ id }) => id === "qsm");
  expect(qsm?.fields.find(({ name }) => name === "radius_model")?.preset).toBe("tapered");
});

test("every operation has a form whose texts are one line", () => {
  expect(OPERATIONS.length).toBeGreaterThan(12);
  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  for (const { id, title, summary, fields } of OPERATIONS) {
    expect(fields.length, id).toBeGreaterThan(0);
    for (const text of [title, summary, ...fields.flatMap(({ label, explanation }) => [label, explanation])]) {
      expect(text, id).toMatch(/^\S[^\n]{1,110}$/);
    }
  }
});

test("texts become values, and wrong ones a sentence", () => {
  const number = fieldOf("n", z.number().default(1), ["", ""]);
  const whole = fieldOf("i", z.int().nullish().default(null), ["", ""]);
  const ids = fieldOf("ids", z.array(z.int()).nullish().default(null), ["", ""]);
  const path = fieldOf("path", z.string(), ["", ""]);
  expect(parsedValue(number, " 1,5 ", words)).toBe(1.5);
  expect(parsedValue(number, "-2e3", words)).toBe(-2000);
  expect(parsedValue(whole, "", words)).toBeNull();
  expect(parsedValue(ids, "1, 4;7 9", words)).toEqual([1, 4, 7, 9]);
  expect(() => parsedValue(number, "abc", words)).toThrow(FieldError);
  expect(parsedValue(number, "0,125", words)).toBe(0.125);
  expect(() => parsedValue(number, "1,000", words)).toThrow("no number"); // 1 or 1000
  expect(() => parsedValue(number, "1e999", words)).toThrow("no number");
  expect(() => parsedValue(whole, "1.5", words)).toThrow("no whole number");
  expect(() => parsedValue(ids, "1, x", words)).toThrow("“x”");
  expect(() => parsedValue(path, "  ", words)).toThrow(words.missing);
});
