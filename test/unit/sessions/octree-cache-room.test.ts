import { describe, expect, test } from "vitest";
import { A, B, C, cacheFolder, D } from "../../support/session/cache-folder.ts";

const { cache, used, present } = cacheFolder();

test("discard removes only what nobody needs, and only what it is given", async () => {
  for (const [i, name] of [A, B, C].entries()) used(name, 30 - i);
  const octrees = cache();
  octrees.pinnedBy(() => [B]);
  await octrees.discard([A, B, D]);
  expect(present()).toEqual([B, C]);
});

describe("withRoom", () => {
  const noSpace = () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));

  test("removes what nobody needs and tries again; gives up when there is nothing left", async () => {
    used(A, 30);
    used(B, 20);
    const octrees = cache();
    octrees.pinnedBy(() => [B]);
    let calls = 0;
    const result = octrees.withRoom(() => {
      calls += 1;
      return calls === 1 ? noSpace() : Promise.resolve("done");
    });
    expect([await result, calls, present()]).toEqual(["done", 2, [B]]);
    calls = 0;
    const hopeless = octrees.withRoom(() => {
      calls += 1;
      return noSpace();
    });
    await expect(hopeless).rejects.toThrow("full");
    expect([calls, present()]).toEqual([1, [B]]);
  });

  test("another failure is not the disk's: nothing is removed", async () => {
    used(A, 30);
    await expect(cache().withRoom(() => Promise.reject(new Error("other")))).rejects.toThrow("other");
    expect(present()).toEqual([A]);
  });

  test("while sessions are being recovered, it waits for their needs with a signal and removes nothing without", async () => {
    used(A, 30);
    used(B, 20);
    const octrees = cache();
    let known: () => void = () => undefined;
    octrees.pinnedBy(
      () => [A],
      new Promise<void>((resolve) => {
        known = resolve;
      }),
    );
    await expect(octrees.withRoom(noSpace)).rejects.toThrow("full");
    expect(present()).toEqual([A, B]);
    const abort = new AbortController();
    const canceled = octrees.withRoom(noSpace, abort.signal);
    abort.abort(new Error("canceled"));
    await expect(canceled).rejects.toThrow("canceled");
    expect(present()).toEqual([A, B]);
    let calls = 0;
    const waiting = octrees.withRoom(() => {
      calls += 1;
      return calls === 1 ? noSpace() : Promise.resolve("done");
    }, new AbortController().signal);
    known();
    expect([await waiting, present()]).toEqual(["done", [A]]);
  });
});
