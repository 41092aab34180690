import { z } from "zod";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MANIFEST_BYTES } from "../../../shared/limits.ts";
import { type Archive, damagedProject } from "./archive-read.ts";

export const MANIFEST = "manifest.json";
export const SCENE = "scene.bin";
export const FORMAT = "scene-project";
export const VERSION = 2;

/** What a project contains; the first member. */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly app_version: string;
  /** ISO 8601, UTC. */
  readonly created: string;
  /** Names of all members but this one; absent in files of others. */
  readonly members?: readonly string[] | undefined;
  /** `n`: rows of every column. */
  readonly sessions: readonly { readonly key: string; readonly n: number }[];
  /** Embedded octrees. */
  readonly octrees: readonly string[];
  /** Octrees that were left out because a session of the project rebuilds them. */
  readonly regenerate: readonly string[];
}

const PART = /^[A-Za-z0-9_.-]{1,120}$/;
const OCTREE = /^[0-9a-f]{8,64}$/;

const isPart = (name: string): boolean => PART.test(name) && name !== "." && name !== "..";
const isName = (name: string): boolean => name.split("/").every(isPart);

/** A part of a member's name. */
export const NamePart = z.string().refine(isPart, "must be 1 to 120 of A-Z a-z 0-9 _ . -");

const Schema = z.looseObject({
  format: z.literal(FORMAT),
  version: z.int().min(1),
  app_version: z.string(),
  created: z.string().default(""),
  members: z.array(z.string().refine(isName, "is no name of a member")).optional(),
  sessions: z.array(z.looseObject({ key: NamePart, n: z.int().min(0) })).default([]),
  octrees: z.array(z.string().regex(OCTREE, "is no id of an octree")).default([]),
  regenerate: z.array(z.string().regex(OCTREE, "is no id of an octree")).default([]),
});

const said = (value: unknown): string => (typeof value === "string" && value !== "" ? value.slice(0, 100) : "unknown");

/**
 * The manifest of a project, before anything else of it is touched. Errors: invalid_file, unsupported for another format
 * or a newer version; both name the program's version that wrote the file.
 */
export async function readManifest(archive: Archive): Promise<Manifest> {
  if (!archive.has(MANIFEST))
    throw new AppError("invalid_file", "This is no project: the archive has no manifest.json");
  const raw = await archive.json(MANIFEST, MAX_MANIFEST_BYTES);
  const { format, version, app_version } = (typeof raw === "object" ? (raw ?? {}) : {}) as Record<string, unknown>;
  const writer = `It was written by version ${said(app_version)} of its program.`;
  if (format !== FORMAT)
    throw new AppError("unsupported", `The project has the unknown format "${said(format)}". ${writer}`);
  if (typeof version === "number" && version > VERSION) {
    throw new AppError(
      "unsupported",
      `The project has version ${version}; this program reads up to ${VERSION}. ${writer} Open it with that version or a newer one.`,
    );
  }
  const parsed = Schema.safeParse(raw);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: "" };
    throw damagedProject(`${MANIFEST}: ${path.join(".")} ${message}. ${writer}`);
  }
  const manifest = parsed.data;
  requireUnique(
    "session",
    manifest.sessions.map(({ key }) => key),
  );
  requireUnique("octree", [...manifest.octrees, ...manifest.regenerate]);
  for (const name of manifest.members ?? []) if (!archive.has(name)) throw damagedProject(`${name} is missing`);
  return manifest;
}

function requireUnique(what: string, ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) throw damagedProject(`${MANIFEST}: ${what} ${id} is there twice`);
    seen.add(id);
  }
}
