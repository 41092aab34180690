import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { firstReason } from "../../../backend/cli/batch/batch-log.ts";
import { folderOfTest } from "../../support/run/folders.ts";

function withLogs(logs: Readonly<Record<string, string>>): string {
  const root = folderOfTest("batch-log-");
  mkdirSync(join(root, "logs"));
  for (const [name, text] of Object.entries(logs)) writeFileSync(join(root, "logs", `${name}.log`), text);
  return root;
}

test("a failed batch says why: the tile's last line, or that of the job that all tiles wait for", async () => {
  const measured = "Warning: sparse\nb.las is not what it was\n    at stack (a.ts:1)\n";
  expect(await firstReason(withLogs({ measure: measured }), ["x0_y0", "x0_y1"])).toBe(
    "measure: b.las is not what it was",
  );
  expect(await firstReason(withLogs({ measure: "", x0_y0: "no space\n" }), ["x0_y0"])).toBe("x0_y0: no space");
  expect(await firstReason(withLogs({}), ["x0_y0"])).toMatch(/^x0_y0: it wrote no log/);
  expect(await firstReason(withLogs({}), [])).toMatch(/merge or a cloud failed/);
});
