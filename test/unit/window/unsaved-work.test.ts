import { expect, test } from "vitest";
import { UnsavedWork } from "../../../backend/window/workflow/unsaved-work.ts";

function make() {
  const work = new UnsavedWork();
  const told: boolean[] = [];
  work.is.follow((is) => told.push(is));
  return { work, told };
}

test("a change is work until a project has it", () => {
  const { work, told } = make();
  work.setEmpty(false);
  work.changed();
  work.changed();
  work.saving()();
  work.changed();
  expect(told).toEqual([false, true, false, true]);
});

test("what changes while a project is written is not in it", () => {
  const { work } = make();
  work.setEmpty(false);
  work.changed();
  const isSaved = work.saving();
  work.changed();
  isSaved();
  expect(work.is.value).toBe(true);
});

test("projects that end out of order take nothing back", () => {
  const { work } = make();
  work.setEmpty(false);
  work.changed();
  const first = work.saving();
  work.changed();
  const second = work.saving();
  second();
  first();
  expect(work.is.value).toBe(false);
});

test("a page without clouds and objects has no work, also afterwards", () => {
  const { work } = make();
  work.setEmpty(false);
  work.changed();
  work.setEmpty(true);
  expect(work.is.value).toBe(false);
  work.setEmpty(false); // another file was opened
  expect(work.is.value).toBe(false);
});
