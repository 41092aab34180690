import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { AppError } from "../../../shared/errors.ts";

/** The kinds of jobs of the Snakefile. */
const RULES = ["unpack", "measure", "tile", "merge", "cloud"];

/** What the names of a folder's jobs begin with: jobs of a run that was killed are found by it. */
export const jobPrefix = (root: string): string =>
  `batch-${createHash("sha256").update(root).digest("hex").slice(0, 10)}`;

/** A Snakemake profile that submits every job to Slurm with its memory and time. */
export const slurmProfile = (
  root: string,
): string => `# Written by the command batch; edit to add an account or a partition.
cluster: "sbatch --parsable --job-name=${jobPrefix(root)}-{rule} --output=/dev/null --cpus-per-task={threads} --mem={resources.mem_mb} --time={resources.runtime}"
cluster-status: "slurm-status.sh"
cluster-cancel: "scancel"
jobs: 500
latency-wait: 60
restart-times: 1
max-jobs-per-second: 10
max-status-checks-per-second: 10
`;

/** Asks Slurm about a job in the words of Snakemake; without accounting, a finished job is known for some minutes. */
export const SLURM_STATUS = `#!/bin/sh
# Written by the command batch.
state=$(sacct -j "$1" --format=State --noheader --parsable2 2>/dev/null | head -n 1)
[ -n "$state" ] || state=$(scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\\([A-Z_]*\\).*/\\1/p')
case "$state" in
  COMPLETED) echo success ;;
  PENDING|CONFIGURING|RUNNING|COMPLETING|SUSPENDED|REQUEUED) echo running ;;
  *) echo failed ;;
esac
`;

/**
 * Jobs outlive a batch that is killed, and would write to the folder while the next batch does. Errors: conflict if Slurm
 * has some of this folder; unsupported if `isNeeded` and Slurm does not answer. Without Slurm there are none.
 */
export function refuseOrphans(root: string, isNeeded: boolean): void {
  const names = RULES.map((rule) => `${jobPrefix(root)}-${rule}`).join(",");
  const asked = spawnSync("squeue", ["--noheader", "--format=%i", `--name=${names}`], { encoding: "utf8" });
  if (asked.error || asked.status !== 0) {
    if (!isNeeded) return;
    const reason = asked.error ? "squeue is not installed" : asked.stderr.trim().split("\n").at(-1);
    throw new AppError(
      "unsupported",
      `Slurm does not answer (${reason}); --slurm needs a cluster: apt-get install slurm-wlm`,
    );
  }
  const jobs = asked.stdout
    .split("\n")
    .map((line) => line.trim())
    .filter((id) => id !== "");
  if (jobs.length === 0) return;
  const are =
    jobs.length === 1 ? "1 job of a batch that was killed is" : `${jobs.length} jobs of a batch that was killed are`;
  throw new AppError(
    "conflict",
    `${are} still in Slurm's queue for "${root}"; wait, or end them: scancel --name=${names}`,
  );
}
