import fc from "fast-check";
import { expect, test } from "vitest";
import { EventParser } from "../../../shared/wire/sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("the examples of the standard", () => {
  const parse = (text: string) => new EventParser().push(bytes(text));
  expect(parse("data: YHOO\ndata: +2\ndata: 10\n\n")).toEqual([{ event: "message", data: "YHOO\n+2\n10" }]);
  expect(parse(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n")).toEqual([
    { event: "message", data: "first event" },
    { event: "message", data: "second event" },
  ]);
  expect(parse("data\n\ndata\ndata\n\ndata:")).toEqual([
    { event: "message", data: "" },
    { event: "message", data: "\n" },
  ]);
  expect(parse("data:test\n\ndata: test\n\n").map(({ data }) => data)).toEqual(["test", "test"]);
  expect(parse("\ufeffevent: run_id\r\ndata: {}\r\n\r\n")).toEqual([{ event: "run_id", data: "{}" }]);
  expect(parse("event: x\n\n")).toEqual([]);
});

test("the chunks do not matter", () => {
  const text = fc.array(fc.constantFrom("event: a", "data: \u00e9\ud83d\ude00", ": c", "", "data", "x: y"));
  const stream = fc
    .tuple(text, fc.constantFrom("\n", "\r\n", "\r"))
    .map(([lines, end]) => bytes(lines.join(end) + end));
  fc.assert(
    fc.property(stream, fc.array(fc.nat(20)), (whole, sizes) => {
      const parser = new EventParser();
      const parts = [];
      let at = 0;
      for (const size of sizes) {
        parts.push(...parser.push(whole.subarray(at, at + size)));
        at = Math.min(whole.length, at + size);
      }
      parts.push(...parser.push(whole.subarray(at)));
      expect(parts).toEqual(new EventParser().push(whole));
    }),
  );
});
