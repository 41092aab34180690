import { expect, test } from "vitest";
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
