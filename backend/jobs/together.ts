import type { Job } from "./job.ts";

/** Both results. If the first fails, `job`, which runs the second, is canceled. Throws after both have ended. */
export async function together<A, B>(first: Promise<A>, second: Promise<B>, job: Job): Promise<[A, B]> {
  void first.catch(() => job.cancel());
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
}
