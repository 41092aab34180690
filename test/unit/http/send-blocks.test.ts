import { describe, expect, test } from "vitest";
import { SendBlocks } from "../../../backend/http/send-blocks.ts";
import { SEND_BLOCK_BYTES } from "../../../shared/limits.ts";

describe("blocks of an answer", () => {
  test("are given out again after four, while the socket keeps up", () => {
    const blocks = new SendBlocks({ writableLength: SEND_BLOCK_BYTES + 20 });
    const taken = Array.from({ length: 12 }, () => blocks.take(SEND_BLOCK_BYTES));
    expect(new Set(taken).size).toBe(4);
    for (const [i, block] of taken.slice(4).entries()) expect(block).toBe(taken[i]);
  });

  test("are fresh while two of them wait for the socket", () => {
    const blocks = new SendBlocks({ writableLength: 2 * SEND_BLOCK_BYTES });
    expect(new Set(Array.from({ length: 12 }, () => blocks.take(SEND_BLOCK_BYTES))).size).toBe(12);
  });

  test("a shorter one is always fresh", () => {
    const blocks = new SendBlocks({ writableLength: 0 });
    const taken = Array.from({ length: 9 }, () => blocks.take(8));
    expect(new Set(taken).size).toBe(9);
    expect(taken.every(({ length }) => length === 8)).toBe(true);
  });
});
