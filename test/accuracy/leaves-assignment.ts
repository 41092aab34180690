import { spawnSync } from "node:child_process";
import { addon } from "../../backend/native/core/addon.ts";
import { assignRows } from "../../backend/native/leaves.ts";
import type { LeafRow } from "./leaves.ts";
import { values } from "./native.ts";
import { uniform } from "./random.ts";

/** Sum of the assignment of scipy.optimize.linear_sum_assignment. */
const PYTHON = `
import sys,numpy as np
from scipy.optimize import linear_sum_assignment as f
n=int(sys.argv[1]); c=np.frombuffer(sys.stdin.buffer.read()).reshape(n,n); i,j=f(c); print(repr(float(c[i,j].sum())))
`;

/** Sums of assignments beside those of SciPy, where it is installed. */
export async function linearAssignmentCase(): Promise<readonly LeafRow[]> {
  const rows: LeafRow[] = [];
  for (const n of [10, 100, 1000]) {
    const random = uniform(n);
    const costs = Float64Array.from({ length: n * n }, random);
    const column = new addon.Column("f64", new Uint8Array(costs.buffer.slice(0)));
    const found = await assignRows(column, n).promise;
    const own = Array.from(values(found)).reduce((sum, j, i) => sum + (costs[i * n + j] ?? 0), 0);
    column.release();
    found.release();
    const input = new Uint8Array(costs.buffer);
    const { status, stdout } = spawnSync("python3", ["-c", PYTHON, `${n}`], { input, encoding: "utf8" });
    if (status !== 0) continue;
    const scipy = Number(stdout);
    rows.push({
      group: "assignment",
      what: `${n} x ${n} random costs, sum beside scipy`,
      figure: `${own}`,
      target: `${scipy}`,
      reached: Math.abs(own - scipy) < 1e-9 * n,
    });
  }
  return rows;
}
