import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { jobPrefix, refuseOrphans, slurmProfile } from "../../../backend/cli/batch/slurm.ts";
import { folderOfTest } from "../../support/run/folders.ts";

const { PATH } = process.env;
afterEach(() => {
  process.env.PATH = PATH;
});

/** A squeue that knows jobs 41 and 42, of these names, and asks nobody. */
function queueWith(...names: string[]): void {
  const folder = folderOfTest("squeue-");
  const lines = names.map((name, i) => `case ",$wanted," in *,${name},*) echo ${41 + i} ;; esac`);
  writeFileSync(
    join(folder, "squeue"),
    `#!/bin/sh\nfor one in "$@"; do case "$one" in --name=*) wanted="\${one#--name=}" ;; esac; done\n${lines.join("\n")}\nexit 0\n`,
  );
  chmodSync(join(folder, "squeue"), 0o755);
  process.env.PATH = `${folder}:${PATH}`;
}

test("jobs of a batch that was killed keep the next one out, those of other folders do not", () => {
  const [root, other] = ["/data/one", "/data/two"];
  expect(slurmProfile(root)).toContain(`--job-name=${jobPrefix(root)}-{rule} `);
  queueWith(`${jobPrefix(root)}-tile`, `${jobPrefix(root)}-cloud`);
  for (const isNeeded of [true, false])
    expect(() => refuseOrphans(root, isNeeded)).toThrow(/^2 jobs of a batch that was killed.*scancel --name=batch-/);
  expect(() => refuseOrphans(other, true)).not.toThrow();
});

test("without Slurm only --slurm is refused", () => {
  process.env.PATH = folderOfTest("empty-");
  expect(() => refuseOrphans("/data/one", false)).not.toThrow();
  expect(() => refuseOrphans("/data/one", true)).toThrow(/squeue is not installed.*slurm-wlm/);
});
