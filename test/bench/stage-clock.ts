import type { RunOptions } from "../../shared/client/index.ts";

/** Seconds, of a clock that only goes forward. */
export const now = () => performance.now() / 1000;
export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export type Stages = Readonly<Record<string, number>>;

/** Collects how long each stage of a run was shown, in seconds. Hand it to a run as its options. */
export function stageClock(): Required<Pick<RunOptions, "onProgress">> & { stages(): Stages } {
  const stages: Record<string, number> = {};
  let last: { readonly message: string; readonly at: number } | undefined;
  const close = () => {
    if (last) stages[last.message] = (stages[last.message] ?? 0) + now() - last.at;
  };
  return {
    onProgress: ({ message }) => {
      if (message === "" || message === last?.message) return;
      close();
      last = { message, at: now() };
    },
    stages: () => {
      close();
      last = undefined;
      return Object.fromEntries(Object.entries(stages).map(([name, s]) => [name, Number(s.toFixed(3))]));
    },
  };
}
