import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { parsePictureSize } from "../analyze/options.ts";
import { OutputFolder } from "../analyze/output-folder.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { Progress } from "../progress.ts";
import type { Fact } from "../report/summary.ts";
import { terminalTable } from "../report/terminal.ts";
import { CATALOG_FILE, type Catalog } from "./document.ts";
import { findFiles } from "./files.ts";
import { readHeaders } from "./headers.ts";
import { catalogPicture } from "./picture.ts";
import { catalogOf } from "./summary.ts";
import { catalogCsv, catalogFacts } from "./tables.ts";

export interface CatalogOptions {
  readonly out: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

const TABLE_FILE = "catalog.csv";
const PICTURE_FILE = "catalog.png";

/**
 * Reads the headers of LAS and LAZ files and writes what they declare as document, table and picture, all or none.
 * Errors: those of findFiles; invalid_argument if no file can be read, or for a folder that holds a catalogue.
 */
export async function catalog(inputs: readonly string[], options: CatalogOptions, deps: AnalyzeDeps): Promise<Catalog> {
  const { signal, stderr, stdout } = deps;
  const pixels = options.pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(options.pictureSize);
  const progress = new Progress(stderr);
  const { paths, skipped } = await findFiles(inputs, signal);
  const out = await OutputFolder.open(options.out, options.force ? undefined : CATALOG_FILE);
  try {
    progress.stage("Reading headers");
    const read = await readHeaders(paths, signal, (done, total) => progress.update(done / total));
    if (read.files.length === 0)
      throw new AppError("invalid_file", `no file could be read; ${read.skipped[0]?.path}: ${read.skipped[0]?.reason}`);
    const found = catalogOf(read.files, [...skipped, ...read.skipped]);
    await out.write(CATALOG_FILE, jsonDocument(found));
    await out.write(TABLE_FILE, catalogCsv(found.files));
    progress.stage("Drawing the map");
    await out.write(PICTURE_FILE, await catalogPicture(found, pixels));
    signal.throwIfAborted();
    await out.publish();
    progress.done();
    const written: Fact[] = [
      ["Catalogue", out.final(CATALOG_FILE)],
      ["Table, map", `${out.final(TABLE_FILE)}, ${PICTURE_FILE}`],
    ];
    stdout.write(
      options.json ? jsonDocument(found) : terminalTable([...catalogFacts(found), ...written], found.warnings),
    );
    return found;
  } catch (error) {
    progress.stop();
    await out.discard();
    throw error;
  }
}
