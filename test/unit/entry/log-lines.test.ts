import { expect, test } from "vitest";
import { failureIn, LastFailure, lineSplitter, MAX_LINE_CHARS } from "../../../backend/entry/log-lines.ts";

function split(...chunks: (string | undefined)[]): string[] {
  const lines: string[] = [];
  const take = lineSplitter((line) => lines.push(line));
  for (const chunk of chunks) take(chunk);
  return lines;
}

test("lines are complete, wherever the chunks are cut", () => {
  expect(split("a\nb", "c\r", "\n\n", "d", undefined)).toEqual(["a", "bc", "d"]);
  expect(split("unfinished")).toEqual([]);
});

test("an endless line is passed on in pieces", () => {
  const lines = split("x".repeat(2 * MAX_LINE_CHARS + 1), undefined);
  expect(lines.map(({ length }) => length)).toEqual([MAX_LINE_CHARS, MAX_LINE_CHARS, 1]);
});

test.each([
  ['{"level":30,"msg":"listening"}', undefined],
  ['{"level":50,"msg":"run failed","err":{"message":"no space"}}', "run failed: no space"],
  ['{"level":60,"msg":"unhandled failure","err":"Error: x"}', "unhandled failure: Error: x"],
  ['{"level":60}', undefined],
  ["null", undefined],
  ["  Segmentation fault ", "Segmentation fault"],
  ["", undefined],
])("failureIn(%s)", (line, expected) => {
  expect(failureIn(line)).toBe(expected);
});

test.each([
  [
    "a crash report of Node",
    [
      "file:///x.js:20",
      "      throw new AppError(",
      "AppError: the addon is missing",
      "    at load (x.js:29:16)",
      "}",
      "Node.js v24",
    ],
    "AppError: the addon is missing",
  ],
  ["of the last process", ["Error: one", "TypeError [ERR_X]: two", "    at x"], "TypeError [ERR_X]: two"],
  ["an error record", ["Error: one", '{"level":50,"msg":"two"}', "three"], "two"],
  [
    "a native crash",
    ["terminate called after throwing", "  what():  out of memory", "Aborted"],
    "what():  out of memory",
  ],
  ["lines without a cause", ["one", '{"level":30,"msg":"listening"}', "Segmentation fault"], "Segmentation fault"],
  ["nothing", [], undefined],
] as const)("what went wrong: %s", (_, lines, expected) => {
  const failure = new LastFailure();
  for (const line of lines) failure.hear(line);
  expect(failure.text).toBe(expected);
});
