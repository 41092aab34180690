import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestApp } from "../app/app.ts";

export const octreeIds = ({ octrees }: TestApp): string[] =>
  readdirSync(octrees)
    .filter((name) => /^[0-9a-f]{40}$/.test(name))
    .sort();

/** What must be as before after a refused or canceled open. */
export const worldOf = (made: TestApp) => {
  const scenes = join(made.folder, "data", "scenes");
  return {
    sessions: made.deps.sessions.list().map(({ id }) => id),
    folders: readdirSync(made.sessions).sort(),
    octrees: octreeIds(made),
    scenes: existsSync(scenes) ? readdirSync(scenes) : [],
  };
};
