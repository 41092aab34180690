import { expect, onTestFinished, test, vi } from "vitest";
import { Progress, printable } from "../../../backend/cli/progress.ts";
import { textSink } from "../../support/cli/analyze-fake.ts";

test("without a terminal, each stage is one plain line without a bar", () => {
  const stream = textSink();
  const progress = new Progress(stream);
  progress.stage("First");
  progress.update(0.5, "half");
  progress.stage("Second");
  progress.update(null, "waiting");
  progress.done();
  expect(stream.text).toBe("First\nSecond\n");
});

test("text from outside cannot control the terminal", () => {
  expect(printable("a\u001b[31mb\r\nc\u202ed")).toBe("a\ufffd[31mb\ufffd\ufffdc\ufffdd");
});

test("on a terminal, the rest of a stage is estimated from its speed", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stream = Object.assign(textSink(), { isTTY: true, columns: 120, cursorTo: () => true, clearLine: () => true });
  const progress = new Progress(stream);
  progress.stage("Measuring");
  vi.advanceTimersByTime(10_000);
  progress.update(0.25, "Measuring tree 3 of 12");
  vi.advanceTimersByTime(1_000);
  expect(stream.text).toContain("30 s left, Measuring tree 3 of 12");
  vi.advanceTimersByTime(300_000);
  progress.update(0.5, "x");
  vi.advanceTimersByTime(1_000);
  expect(stream.text).toContain("6 min left, x");
  progress.stop();
});
