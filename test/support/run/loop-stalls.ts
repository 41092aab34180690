import { existsSync, readFileSync } from "node:fs";

/** Waits of this process's main thread for a processor, ms; 0 where the system does not count them. */
const WAITS = `/proc/self/task/${process.pid}/schedstat`;
const waited = existsSync(WAITS) ? () => Number(readFileSync(WAITS, "utf8").split(" ")[1]) / 1e6 : () => 0;

/**
 * Watches the event loop until the answer is called, which tells how long a request that comes at any time waits for
 * it in 99 of 100 cases, ms. What other programs take of the processor is left out.
 */
export function loopWatch(): () => { p99_ms: number } {
  const stalls: number[] = [];
  let last = performance.now();
  let before = waited();
  const look = () => {
    const now = performance.now();
    const wait = waited();
    stalls.push(Math.max(0, now - last - (wait - before)));
    last = now;
    before = wait;
  };
  const timer = setInterval(look, 1);
  return () => {
    clearInterval(timer);
    look();
    return { p99_ms: waitOf(stalls, 0.99) };
  };
}

/** A request that comes during a stall of s ms waits 0 to s ms, evenly distributed. */
function waitOf(stalls: readonly number[], share: number): number {
  const total = stalls.reduce((sum, stall) => sum + stall, 0);
  const longer = (ms: number) => stalls.reduce((sum, stall) => sum + Math.max(0, stall - ms), 0);
  for (let ms = 0; ; ms += 1) if (longer(ms) <= (1 - share) * total) return ms;
}
