import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "../bench/folders.ts";

const SUMMARY = "summary.json";

interface PartRun {
  readonly part: string;
  readonly commit: string;
  readonly exit_code: number | null;
  readonly minutes: number;
}

/**
 * Runs parts one after the other, each in a process of its own, and writes what each prints to `<out>/<part>.txt`. Parts
 * that ended well on this commit are not run again, so that a run of hours can be ended and goes on. Returns whether all
 * ended well. Errors: changes that are not committed, since figures belong to a commit.
 */
export async function runAll(parts: readonly string[], folder: string): Promise<boolean> {
  const out = resolve(folder);
  mkdirSync(out, { recursive: true });
  const commit = cleanCommit();
  const path = join(out, SUMMARY);
  const runs = new Map(readRuns(path).map((run) => [run.part, run]));
  for (const part of parts) {
    const before = runs.get(part);
    if (before?.commit === commit && before.exit_code === 0) continue;
    const started = Date.now();
    const exit_code = await runPart(part, join(out, `${part}.txt`));
    const run = { part, commit, exit_code, minutes: Math.round((Date.now() - started) / 6000) / 10 };
    runs.set(part, run);
    writeFileSync(path, `${JSON.stringify([...runs.values()], null, 2)}\n`);
    console.log(`${part}: exit code ${exit_code}, ${run.minutes} min`);
  }
  return parts.every((part) => runs.get(part)?.exit_code === 0);
}

function cleanCommit(): string {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
  const changed = git("status", "--porcelain", "--untracked-files=no");
  if (changed !== "") throw new Error(`commit first, the figures belong to a commit:\n${changed}`);
  return git("rev-parse", "HEAD");
}

function readRuns(path: string): PartRun[] {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return [];
  }
}

function runPart(part: string, path: string): Promise<number | null> {
  const file = openSync(path, "w");
  const child = spawn(process.execPath, ["scripts/accuracy.mjs", part], { cwd: root, stdio: ["ignore", file, file] });
  closeSync(file);
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
}
