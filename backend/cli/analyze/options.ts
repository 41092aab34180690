import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { SOURCE_UNITS, type SourceUnits } from "../../../shared/contract/cloud-session/create.ts";
import { EXPORT_FORMATS } from "../../../shared/contract/pointcloud.ts";
import { AppError } from "../../../shared/errors.ts";
import type { UpAxis } from "../../../shared/up-axes.ts";
import { type CropBox, type FilterRule, SCENES, type SceneKind } from "../report/findings.ts";
import type { GroundChoice } from "./ground.ts";

/** Formats of the exported copy. */
export const COPY_FORMATS = EXPORT_FORMATS;
export type CopyFormat = (typeof COPY_FORMATS)[number];

export const UNITS = Object.keys(SOURCE_UNITS) as SourceUnits[];

export const DEFAULT_SAMPLE_POINTS = 3_000_000;
const MIN_SAMPLE_POINTS = 1_000;
/** A point of the sample takes about 40 bytes. */
const MAX_SAMPLE_POINTS = 50_000_000;
const MIN_PICTURE_PX = 200;
/** Drawing takes about 60 bytes per pixel. */
const MAX_PICTURE_PX = 2_800;
/** Extensions of text files, whose columns a legend names. */
const TEXT_EXTENSIONS = [".xyz", ".txt", ".csv", ".tsv", ".pts", ".asc"];

export interface AnalyzeOptions {
  readonly out: string;
  readonly format: CopyFormat;
  readonly units: SourceUnits | undefined;
  /** Axis of the file that points upwards; undefined: z. */
  readonly up: UpAxis | undefined;
  readonly shift: readonly [number, number, number] | undefined;
  /** Legend of a text file. */
  readonly columns: string | undefined;
  /** Absolute path of the project file to write. */
  readonly project: string | undefined;
  /** Files to merge with the first one, before everything else. */
  readonly merge: readonly string[];
  readonly crop: CropBox | undefined;
  /** A point must pass all filters. */
  readonly filters: readonly FilterRule[];
  /** Undefined: detected. */
  readonly scene: SceneKind | undefined;
  /** Edge of a raster's cell, metres; undefined: from the point density. */
  readonly cell: number | undefined;
  /** Replace the report of an earlier run. */
  readonly force: boolean;
  /** Largest number of points loaded for pictures and density. */
  readonly points: number;
  /** Longest side of a picture, pixels. */
  readonly pictureSize: number;
  readonly json: boolean;
  /** Steps after the import; all by default. */
  readonly denoise: boolean;
  /** false: none is labelled. */
  readonly ground: GroundChoice | false;
  readonly dem: boolean;
}

/** How the numbers of a file become metres. */
export type ReadingOptions = Pick<AnalyzeOptions, "units" | "up" | "shift" | "columns">;

export interface InputFile {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly modified: string;
}

function bad(message: string): AppError {
  return new AppError("invalid_argument", message);
}

/** "x,y,z" in metres. Errors: invalid_argument. */
export function parseShift(text: string): [number, number, number] {
  const parts = text.split(",").map((part) => part.trim());
  const [x, y, z] = parts.map((part) => (part === "" ? Number.NaN : Number(part)));
  if (
    parts.length !== 3 ||
    x === undefined ||
    y === undefined ||
    z === undefined ||
    ![x, y, z].every(Number.isFinite)
  ) {
    throw bad(`--shift "${text}" must be three numbers in metres, x,y,z, such as 476000,5429000,0`);
  }
  return [x, y, z];
}

/** Errors: invalid_argument. */
export function parseSamplePoints(text: string): number {
  return wholeNumber("--points", text, MIN_SAMPLE_POINTS, MAX_SAMPLE_POINTS);
}

/** Errors: invalid_argument. */
export function parsePictureSize(text: string): number {
  return wholeNumber("--picture-size", text, MIN_PICTURE_PX, MAX_PICTURE_PX);
}

export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw bad(`${option} "${text}" must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** Errors: invalid_argument. */
export function parseScene(text: string): SceneKind {
  const scene = SCENES.find((known) => known === text);
  if (!scene) throw bad(`--scene "${text}" is not one of ${SCENES.join(", ")}`);
  return scene;
}

/** Errors: invalid_argument. */
export function parseCell(text: string): number {
  const cell = text.trim() === "" ? Number.NaN : Number(text);
  if (!(cell > 0 && Number.isFinite(cell))) throw bad(`--cell "${text}" must be a positive number of metres`);
  return cell;
}

/** Errors: invalid_argument. */
export function parseFormat(text: string): CopyFormat {
  const format = COPY_FORMATS.find((known) => known === text.toLowerCase());
  if (!format) throw bad(`--format "${text}" is not one of ${COPY_FORMATS.join(", ")}`);
  return format;
}

/** Errors: invalid_argument. */
export function parseUnits(text: string): SourceUnits {
  const unit = UNITS.find((known) => known === text);
  if (!unit) throw bad(`--units "${text}" is not one of ${UNITS.join(", ")}`);
  return unit;
}

/**
 * Checks the file to analyze before a service is started.
 * Errors: not_found; invalid_argument for an unreadable file or one that contradicts the options.
 */
export async function checkInput(file: string, options: Pick<ReadingOptions, "columns">): Promise<InputFile> {
  const input = await checkFile(file);
  if (options.columns !== undefined && !isText(input.name)) {
    throw bad(
      `--columns names the columns of a text file (${TEXT_EXTENSIONS.join(" ")}); "${input.name}" describes its own columns; leave the option out`,
    );
  }
  return input;
}

/** The files of --merge. Errors: as checkInput, and invalid_argument for a file that is named twice. */
export async function checkMerge(first: InputFile, options: AnalyzeOptions): Promise<InputFile[]> {
  const inputs: InputFile[] = [];
  for (const file of options.merge) {
    const input = await checkFile(file);
    if ([first, ...inputs].some(({ path }) => path === input.path)) {
      throw bad(
        `--merge "${file}" names a file for the second time: each of its points would be duplicated; leave it out`,
      );
    }
    inputs.push(input);
  }
  return inputs;
}

export const isText = (name: string): boolean => TEXT_EXTENSIONS.includes(extname(name).toLowerCase());

/** The legend, for text files only: other formats describe their own columns. */
export const legendOf = (path: string, { columns }: Pick<ReadingOptions, "columns">): string | null =>
  columns !== undefined && isText(path) ? columns : null;

/** A file that can be read. Errors: not_found; invalid_argument for anything else. `what`: what it should be. */
export async function checkFile(file: string, what = "point cloud file"): Promise<InputFile> {
  const given = resolve(file);
  const found = await stat(given).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT" || cause.code === "ENOTDIR") {
      throw new AppError("not_found", `"${file}" does not exist; give the path of a ${what}`);
    }
    throw bad(`"${file}" cannot be read: ${cause.message}`);
  });
  if (!found.isFile()) throw bad(`"${file}" is not a file; give the path of a ${what}`);
  await access(given, constants.R_OK).catch(() => {
    throw bad(`"${file}" cannot be read: no permission`);
  });
  if (found.size === 0) throw bad(`"${file}" is empty: it has no bytes; give a file with points`);
  const name = basename(given);
  return { path: await realpath(given), name, bytes: found.size, modified: found.mtime.toISOString() };
}

/** Name of the exported copy: longer than that of the source, so that it cannot replace the source. */
export function copyName(sourceName: string, format: CopyFormat): string {
  return `${basename(sourceName, extname(sourceName))}_copy.${format}`;
}
