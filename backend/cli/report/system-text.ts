import { SOURCE_UNIT_NAMES } from "../../../shared/contract/cloud-session/create.ts";

interface System {
  readonly crs_epsg: number | null;
  readonly crs_name: string | null;
  readonly file_crs_epsg: number | null;
  readonly source_units: string | null;
  readonly source_unit_scale: number | null;
  readonly units_stated: boolean;
}

/** A name that says nothing is none: writers fill the field with such words. */
export function systemName(name: string | null | undefined): string | null {
  return !name || /^\W*(unknown|unnamed|undefined|none|n\/?a|user[ -]?defined)\W*$/i.test(name) ? null : name;
}

/** The coordinate system of the results. */
export function systemText({
  crs_epsg,
  crs_name,
  file_crs_epsg,
  source_unit_scale,
}: Omit<System, "source_units" | "units_stated">): string {
  const epsg = crs_epsg ?? file_crs_epsg;
  const text = [epsg === null ? null : `EPSG:${epsg}`, crs_name].filter((part) => part !== null).join(", ");
  if (text === "") return "not stated";
  const converted = source_unit_scale !== null && source_unit_scale !== 1;
  return converted ? `none: of the file ${text}; its coordinates were converted to metres` : text;
}

/** The unit of the file, and its conversion. */
export function unitsText({
  source_units,
  source_unit_scale,
  units_stated,
}: Pick<System, "source_units" | "source_unit_scale" | "units_stated">): string {
  if (source_units === null) return units_stated ? "metres" : "not stated, taken as metres";
  const name = (SOURCE_UNIT_NAMES as Readonly<Record<string, string>>)[source_units] ?? source_units;
  return source_unit_scale === 1
    ? name
    : `${name}, converted to metres (× ${Number((source_unit_scale ?? Number.NaN).toPrecision(9))})`;
}

/** The unit that the coordinates of a read cloud were taken in. */
export const unitsFact = ({ tail, look }: ReadCloud): readonly [string, string] => [
  "Units of the file",
  unitsText({ ...tail, units_stated: look.units_stated }),
];

interface ReadCloud {
  readonly tail: Pick<System, "source_units" | "source_unit_scale">;
  readonly look: Pick<System, "units_stated">;
}
