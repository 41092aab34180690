import { expect, test } from "vitest";
import { type ClosingChoice, WindowClosing } from "../../../backend/entry/window-closing.ts";

function make(work: boolean | undefined, ...answers: (ClosingChoice | Error)[]) {
  const seen = { asked: 0, closed: 0, stayed: 0, prevented: 0, work, isEnding: false };
  const closing = new WindowClosing({
    hasWork: () => seen.work,
    isEnding: () => seen.isEnding,
    ask: async () => {
      seen.asked += 1;
      const answer = answers.shift() ?? "cancel";
      if (answer instanceof Error) throw answer;
      return answer;
    },
    close: () => {
      seen.closed += 1;
    },
    stay: () => {
      seen.stayed += 1;
    },
  });
  const preventDefault = () => {
    seen.prevented += 1;
  };
  const close = async () => {
    closing.onClose({ preventDefault });
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { closing, close, preventDefault, seen };
}

test("a window without work closes at once, and its sessions go", async () => {
  const { closing, close, seen } = make(false);
  await close();
  expect(seen).toMatchObject({ asked: 0, prevented: 0 });
  expect(closing.keepsSessions).toBe(false);
});

test.each([
  ["keep", true],
  ["discard", false],
] as const)("work: after %s the window closes", async (answer, keeps) => {
  const { closing, close, seen } = make(true, answer);
  await close();
  expect(seen).toMatchObject({ asked: 1, prevented: 1, closed: 1 });
  expect(closing.keepsSessions).toBe(keeps);
  await close(); // the close that it has caused
  expect(seen).toMatchObject({ asked: 1, prevented: 1 });
});

test("after cancel the window stays, and asks again the next time", async () => {
  const { closing, close, seen } = make(true, "cancel", "keep");
  await close();
  expect(seen).toMatchObject({ prevented: 1, closed: 0, stayed: 1 });
  await close();
  expect(seen).toMatchObject({ asked: 2, closed: 1 });
  expect(closing.keepsSessions).toBe(true);
});

test("there is one question at a time", async () => {
  const { closing, preventDefault, seen } = make(true, "keep");
  for (let i = 0; i < 3; i += 1) closing.onClose({ preventDefault });
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(seen).toMatchObject({ asked: 1, prevented: 3, closed: 1 });
});

test("nothing is lost where nobody can answer", async () => {
  const ended = make(true);
  ended.seen.isEnding = true;
  await ended.close();
  expect(ended.seen).toMatchObject({ asked: 0, prevented: 0 });
  expect(ended.closing.keepsSessions).toBe(true);

  const early = make(undefined); // the page has not said anything yet
  await early.close();
  expect(early.seen).toMatchObject({ asked: 0, prevented: 0 });
  expect(early.closing.keepsSessions).toBe(true);

  const broken = make(true, new Error("the window is destroyed"));
  await broken.close();
  expect(broken.seen).toMatchObject({ closed: 0, stayed: 1 });
  expect(broken.closing.keepsSessions).toBe(true);
});
