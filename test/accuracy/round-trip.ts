// Every LAS and LAZ file of the test data, opened as a session and written back: what is lost, by decoders that are not ours.
import { dirname, join } from "node:path";
import { create, makeApp, type TestApp } from "../support/app/app.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { type LasFormat, lasFiles, losses, sourceRecords, writtenRecords } from "../support/scans/las-losses.ts";
import type { Part } from "./part.ts";

const FORMATS: readonly LasFormat[] = ["las", "laz"];
/** What a field of wave packets is called: the packets themselves are not written. */
const WAVES = /has waveforms/;

export interface RoundTripRow {
  readonly file: string;
  readonly group: string;
  readonly point_format: number;
  readonly points: number;
  /** Fields of a record, extra dimensions included. */
  readonly fields: number;
  /** Those with one value for all points. */
  readonly constant: number;
  readonly lost: Readonly<Partial<Record<LasFormat, readonly string[]>>>;
  /** What the session says about losses. */
  readonly warnings: readonly string[];
}

const groupOf = (file: string) => dirname(file);

async function roundTrip(app: TestApp, file: string, formats: readonly LasFormat[]): Promise<RoundTripRow> {
  const source = await sourceRecords(file);
  const { session_id, warnings = [] } = await create(app, join(DATA, file));
  const lost: Partial<Record<LasFormat, readonly string[]>> = {};
  for (const format of formats) lost[format] = losses(source, await writtenRecords(app, session_id, format));
  await app.app.inject({ method: "DELETE", url: `/api/cloud/session/${session_id}` });
  const values = [...source.fields.values()];
  return {
    file,
    group: groupOf(file),
    point_format: source.format,
    points: source.count,
    fields: values.length,
    constant: values.filter((field) => field.every((value) => Object.is(value, field[0]))).length,
    lost,
    warnings: warnings.filter((warning) => WAVES.test(warning)),
  };
}

const lossText = (lost: readonly string[] | undefined) =>
  lost === undefined ? "" : lost.length === 0 ? "equal" : lost.join("; ");

export const roundTripPart: Part<RoundTripRow> = {
  methods: FORMATS,
  groups: [...new Set(lasFiles().map(groupOf))],
  async measure(methods, wanted) {
    const formats = FORMATS.filter((format) => methods.includes(format));
    const app = await makeApp();
    try {
      const rows: RoundTripRow[] = [];
      for (const file of lasFiles().filter((name) => wanted.includes(groupOf(name))))
        rows.push(await roundTrip(app, file, formats));
      return rows;
    } finally {
      await app.close();
    }
  },
  tables: (rows) =>
    [
      "| file | point format | points | fields | of one value | as LAS | as LAZ | waveforms named |",
      "|---|---|---|---|---|---|---|---|",
      ...rows.map(
        ({ file, point_format, points, fields, constant, lost, warnings }) =>
          `| ${file} | ${point_format} | ${points} | ${fields} | ${constant} | ${lossText(lost.las)} | ${lossText(lost.laz)} | ` +
          `${warnings.length > 0 ? "yes" : ""} |`,
      ),
    ].join("\n"),
  targets(rows) {
    const bad = rows.filter(({ lost }) => Object.values(lost).some((fields) => fields.length > 0));
    return `${bad.length === 0 ? "reached" : "missed "}  nothing is lost: ${rows.length - bad.length} of ${rows.length} files`;
  },
};
