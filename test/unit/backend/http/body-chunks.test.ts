import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { bodyChunks } from "../../../../backend/http/body-chunks.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("chunks that were used can be collected while others arrive", async () => {
  const made: WeakRef<Buffer>[] = [];
  const source = function* () {
    for (let i = 0; i < 100; i += 1) {
      const chunk = Buffer.alloc(64 * 1024, i);
      made.push(new WeakRef(chunk));
      yield chunk;
    }
  };
  let seen = 0;
  let alive = 0;
  for await (const chunk of bodyChunks(Readable.from(source(), { highWaterMark: 1 }), 10)) {
    expect(chunk[0]).toBe(seen);
    seen += 1;
    if (seen !== 90) continue;
    await sleep(1); // weak references last until the end of a task
    collect();
    alive = made.filter((ref) => ref.deref()).length;
  }
  expect(seen).toBe(100);
  expect(alive).toBeLessThan(20);
});

test("the time in which a chunk is used does not count, the wait for the next one does", async () => {
  const source = new Readable({ read: () => undefined });
  source.push("a");
  const chunks = bodyChunks(source, 0.1);
  expect(String((await chunks.next()).value)).toBe("a");
  await sleep(250);
  source.push("b");
  expect(String((await chunks.next()).value)).toBe("b");
  await expect(chunks.next()).rejects.toMatchObject({ code: "timeout" });
  expect(source.destroyed).toBe(false); // the connection still carries the answer
});
