import { AppError } from "../../../shared/errors.ts";
import type { CropBox, FilterRule } from "../report/findings.ts";

type Triple = readonly [number, number, number];

const bad = (message: string) => new AppError("invalid_argument", message);
const number = (text: string) => (text.trim() === "" ? Number.NaN : Number(text));

/** "xmin,ymin,zmin,xmax,ymax,zmax" in metres. Errors: invalid_argument. */
export function parseCrop(text: string): CropBox {
  const numbers = text.split(",").map(number);
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) {
    throw bad(
      `--crop "${text}" must be six numbers in metres, xmin,ymin,zmin,xmax,ymax,zmax, such as 476000,5429000,0,476050,5429050,40`,
    );
  }
  const [min, max] = [numbers.slice(0, 3), numbers.slice(3)] as unknown as [Triple, Triple];
  for (const axis of [0, 1, 2] as const) {
    if (min[axis] <= max[axis]) continue;
    const letter = "xyz"[axis];
    throw bad(
      `--crop "${text}": ${letter}min ${min[axis]} is above ${letter}max ${max[axis]}; give the lower corner first`,
    );
  }
  return { min, max };
}

/** "slug=min..max" (either end may be left out) or "slug=1,2,5". Errors: invalid_argument. */
export function parseFilter(text: string): FilterRule {
  const at = text.indexOf("=");
  const slug = text.slice(0, Math.max(0, at)).trim();
  const rule = text.slice(at + 1).trim();
  if (slug === "" || rule === "") {
    throw bad(
      `--filter "${text}" must be a column, = and the values to keep: reflectance=-20..0, height=2.. or class=1,2,5`,
    );
  }
  return rule.includes("..") ? range(text, slug, rule) : values(text, slug, rule);
}

function range(text: string, slug: string, rule: string): FilterRule {
  const dots = rule.indexOf("..");
  const end = (part: string) => (part.trim() === "" ? null : number(part));
  const [min, max] = [end(rule.slice(0, dots)), end(rule.slice(dots + 2))];
  if ([min, max].some((value) => value !== null && !Number.isFinite(value)) || (min === null && max === null)) {
    throw bad(
      `--filter "${text}": a range must be min..max with two numbers, one of which may be left out, such as 2..`,
    );
  }
  if (min !== null && max !== null && min > max) {
    throw bad(`--filter "${text}": ${min} is above ${max}; give the lower end first`);
  }
  return { slug, min, max };
}

function values(text: string, slug: string, rule: string): FilterRule {
  const numbers = rule.split(",").map(number);
  if (!numbers.every(Number.isSafeInteger)) {
    throw bad(
      `--filter "${text}": values must be whole numbers such as 1,2,5; for other values give a range, min..max`,
    );
  }
  return { slug, values: numbers };
}
