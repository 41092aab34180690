import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SceneStore } from "../../../backend/sessions/scene-store.ts";

/** A disk that takes its time to make a file. */
const slow = vi.hoisted(() => ({ ms: 0 }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const open = (...args: unknown[]) => setTimeout(() => Reflect.apply(fs.open, fs, args), slow.ms);
  const createWriteStream = (path: string, options: object) =>
    fs.createWriteStream(path, { ...options, fs: { ...fs, open } } as never);
  return { ...fs, createWriteStream };
});

const log = pino({ level: "silent" });
let root: string;
beforeEach(() => {
  root = join(mkdtempSync(join(tmpdir(), "scenes-")), "scenes");
});
afterEach(() => {
  slow.ms = 0;
  rmSync(join(root, ".."), { recursive: true });
});

async function* parts(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

test("a document expires", async () => {
  const store = new SceneStore(root, 30, log);
  const { token, bytes } = await store.add(parts("ab", "c"));
  expect([bytes, readdirSync(root).length]).toEqual([3, 1]);
  await vi.waitFor(() => expect(readdirSync(root)).toEqual([]), 20_000);
  expect(() => store.take(token)).toThrow(/expired/);
});

test("a document that was taken stays until it is removed", async () => {
  const store = new SceneStore(root, 20, log);
  const { token } = await store.add(parts("abc"));
  const scene = store.take(token);
  expect(store.find(token)).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(readdirSync(root).length).toBe(1);
  await scene.remove();
  expect(readdirSync(root)).toEqual([]);
});

test("a failure leaves no file, an empty document is refused", async () => {
  const store = new SceneStore(root, 1000, log);
  async function* broken() {
    yield Buffer.from("abc");
    throw new Error("connection lost");
  }
  await expect(store.add(broken())).rejects.toThrow("connection lost");
  await expect(store.add(parts())).rejects.toThrow("empty");
  expect(readdirSync(root)).toEqual([]);
});

test("the next start removes what dead processes left, and close() what is here", async () => {
  const store = new SceneStore(root, 60_000, log);
  mkdirSync(root, { recursive: true });
  const name = (pid: number) => `${pid}-${"0".repeat(32)}.psc`;
  for (const file of [name(4_000_000), name(process.ppid), "notes.txt"]) writeFileSync(join(root, file), "");
  await store.add(parts("mine"));
  await store.sweep();
  expect(
    readdirSync(root)
      .filter((file) => !file.startsWith(`${process.pid}-`))
      .sort(),
  ).toEqual([name(process.ppid), "notes.txt"].sort());
  await store.close();
  expect(readdirSync(root).filter((file) => file.startsWith(`${process.pid}-`))).toEqual([]);
});

test("a document that fails while its file is being made leaves none behind", async () => {
  const store = new SceneStore(root, 1000, log);
  slow.ms = 40;
  async function* broken() {
    yield* [];
    throw new Error("no document");
  }
  await expect(store.add(broken())).rejects.toThrow("no document");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(readdirSync(root)).toEqual([]);
});
