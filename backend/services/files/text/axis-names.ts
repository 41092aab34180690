import { roleOfName } from "../roles.ts";
import { type AxisUnit, unitNamed } from "../stated-unit.ts";

export type Axis = "x" | "y" | "z";

/** Further names of coordinates, which count only where all three axes have one. */
const NAMES: Readonly<Record<Axis, string>> = {
  x: "e east rechtswert lon long lng longitude pointx xcoord xcoordinate coordx coordinatex xpos posx positionx",
  y: "n north hochwert lat latitude pointy ycoord ycoordinate coordy coordinatey ypos posy positiony",
  z: "h alt altitude elev hoehe höhe pointz zcoord zcoordinate coordz coordinatez zpos posz positionz",
};
const AXIS_OF: ReadonlyMap<string, Axis> = new Map(
  (["x", "y", "z"] as const).flatMap((axis) => NAMES[axis].split(" ").map((name) => [name, axis] as const)),
);
/** Longer names are no names of coordinates. */
const LONGEST = 80;
const ANGLES = new Set(["lon", "long", "lng", "longitude", "lat", "latitude"]);

const letters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}°]/gu, "");

/** A name without the unit at its end: "X [mm]", "x_mm", "Easting (ft)". */
function parted(name: string): { readonly bare: string; readonly unit: AxisUnit | null } {
  if (name.length > LONGEST) return { bare: "", unit: null };
  const bracket = /^(.*?)\s*[[(]([^\])]*)[\])]\s*$/u.exec(name);
  const suffix = bracket ?? /^(.*\S)[\s_]+(\S+)$/u.exec(name.trim());
  const unit = unitNamed(suffix?.[2] ?? "");
  if (unit !== null) return { bare: suffix?.[1] ?? "", unit };
  return { bare: bracket ? (bracket[1] ?? "") : name, unit: null };
}

/** The coordinate that a name stands for, in the wider sense; null = none. */
function axisOf(name: string): Axis | null {
  const { bare } = parted(name);
  const role = roleOfName(bare);
  return role === "x" || role === "y" || role === "z" ? role : (AXIS_OF.get(letters(bare)) ?? null);
}

/** Index of the column of each axis, where names in the wider sense give each axis exactly one; else null. */
export function widerAxes(names: readonly string[]): ReadonlyMap<number, Axis> | null {
  const found = names.flatMap((name, index) => {
    const axis = axisOf(name);
    return axis === null ? [] : [[index, axis] as const];
  });
  return found.length === 3 && new Set(found.map(([, axis]) => axis)).size === 3 ? new Map(found) : null;
}

/** The unit that the name of a coordinate states; null = none. */
export function unitOfAxis(name: string): AxisUnit | null {
  const { bare, unit } = parted(name);
  return unit ?? (ANGLES.has(letters(bare)) ? "deg" : null);
}
