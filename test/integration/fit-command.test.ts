import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, expect, test } from "vitest";
import { runReal } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";

/** Charts have one size. */
const command = (folder: string, argv: readonly string[]) => runReal(folder, argv, undefined, false);
let root = "";
let out = "";
let table = "";
const PSI = [0, -0.4, -0.8, -1.2, -1.6, -2, -2.4, -2.8, -3.2, -4];
/** Exact values, moved up and down in turn. */
const K = PSI.map((psi, i) => 8 / (1 + Math.abs(psi / 1.7) ** 3.5) + (i % 2 === 0 ? 0.05 : -0.05));
beforeEach(() => {
  root = folderOfTest("fit-");
  out = join(root, "out");
  table = join(root, "branch.csv");
  writeFileSync(table, `psi;K\nMPa;mmol\n${PSI.map((psi, i) => `${psi};${K[i]}`.replaceAll(".", ",")).join("\n")}\n`);
});

test("tables, pictures, summary and report of a vulnerability curve", async () => {
  const { code, stdout, stderr } = await command(root, ["fit", table, "--model", "vulnerability", "--out", out]);
  expect([code, stderr.split("\n").slice(0, 4)]).toEqual([
    0,
    ["Reading branch.csv", "Fitting", "Drawing pictures", "Writing the report"],
  ]);
  expect(stdout).toContain("psi50");
  expect(readdirSync(out).sort()).toEqual(
    ["fit.png", "fitted.csv", "parameters.csv", "report.html", "residuals.png", "summary.json"].sort(),
  );
  const [header, ...rows] = readFileSync(join(out, "parameters.csv"), "utf8").trim().split("\n");
  expect(header).toBe("curve,parameter,value,std_error,low,high");
  const values = Object.fromEntries(rows.map((row) => row.split(",").slice(1, 3)));
  expect(Number(values.psi50)).toBeCloseTo(-1.7, 1);
  expect(Number(values.Kmax)).toBeCloseTo(8, 1);
  const fitted = readFileSync(join(out, "fitted.csv"), "utf8").trim().split("\n");
  expect(fitted[0]).toBe("curve,psi,K,fitted,fitted_std_error,residual");
  expect(fitted).toHaveLength(1 + PSI.length);
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  expect(summary).toMatchObject({ model: { id: "sigmoidal" }, fit: { converged: true }, warnings: [] });
  const picture = PNG.sync.read(readFileSync(join(out, "fit.png")));
  expect(colours(picture)).toEqual({ dots: true, line: true, band: true });
  expect(readFileSync(join(out, "report.html"), "utf8")).toContain("data:image/png;base64,");
});

/** Which colours of the chart occur. */
function colours({ data }: PNG) {
  const seen = new Set<string>();
  for (let i = 0; i < data.length; i += 4) seen.add([...data.subarray(i, i + 3)].join(" "));
  return { dots: seen.has("29 79 145"), line: seen.has("194 65 12"), band: seen.has("242 184 143") };
}

test("what is wrong is said, and nothing is written", async () => {
  const unknown = await command(root, ["fit", table, "--model", "cubic", "--out", out]);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('--model "cubic" is no model')]);
  writeFileSync(table, "psi,K\n-1,2\n-2,two\n");
  const cell = await command(root, ["fit", table, "--model", "sigmoidal", "--out", out]);
  expect([cell.code, cell.stderr]).toEqual([2, expect.stringContaining('row 3, column "K": "two" is no number')]);
  const count = await command(root, ["fit", table, "--model", "linear", "--out", out, "--max-iterations", "0"]);
  expect([count.code, count.stderr]).toEqual([2, expect.stringContaining("--max-iterations")]);
  expect(existsSync(join(out, "report.html"))).toBe(false);
});
