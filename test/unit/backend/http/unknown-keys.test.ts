import { expect, test } from "vitest";
import { z } from "zod";
import { unknownKeys } from "../../../../backend/http/unknown-keys.ts";

const Item = z.object({ name: z.string(), at: z.array(z.number()).nullish().default(null) });
const Body = z.object({ items: z.array(Item).nullish(), one: Item.optional(), rows: z.array(z.array(z.number())) });

test("names unknown keys of nested objects and of lists of objects, in the order of the body", () => {
  const items = [{ name: "a", at: [1] }, { name: "b", size: 2 }, [{ extra: 1 }], null, "c"];
  const value = { items, one: { nme: 1 }, rows: [[1]], other: { deep: 1 } };
  expect(unknownKeys(Body, value)).toEqual(["items[1].size", "one.nme", "other"]);
  expect(unknownKeys(Body, { items: [{ name: "a" }], constructor: 1 })).toEqual(["constructor"]);
});

test("what is no object, or has no schema of one, has no unknown keys", () => {
  for (const value of [null, undefined, 3, "text", [{ extra: 1 }], new Uint8Array(4)])
    expect(unknownKeys(Body, value)).toEqual([]);
  expect(unknownKeys(undefined, { extra: 1 })).toEqual([]);
  expect(unknownKeys(Body, { items: { extra: 1 }, one: [{ extra: 1 }] })).toEqual([]);
});
