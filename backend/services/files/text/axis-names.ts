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

/**
 * Index of the column of each axis, where names in the wider sense give each axis exactly one; else null. A height with a
 * unit beside coordinates without one (X, Y, height_m) is that of a thing that stands there, as in lists of trees.
 */
export function widerAxes(names: readonly string[]): ReadonlyMap<number, Axis> | null {
  const found = names.flatMap((name, index) => {
    const axis = axisOf(name);
    return axis === null ? [] : [[index, axis] as const];
  });
  if (found.length !== 3 || new Set(found.map(([, axis]) => axis)).size !== 3) return null;
  const stated = (index: number) => parted(names[index] ?? "").unit !== null;
  const ofThing = found.some(([index, axis]) => axis === "z" && stated(index) && isHeight(names[index] ?? ""));
  return ofThing && !found.some(([index, axis]) => axis !== "z" && stated(index)) ? null : new Map(found);
}

const isHeight = (name: string) => letters(parted(name).bare) === "height";

/** Columns that things have and points have not, without units. */
const OF_THINGS =
  /^(tree(id|no|nr|number)?|dbh|bhd|diameter|diabrhgt|species|basalarea|crown(width|diameter|area|base)?)$/u;

/** A list of things, as trees are: z is named "height" and there are columns that points do not have. Null = none. */
export function heightsOfThings(names: readonly string[], z: number): string | null {
  const name = names[z] ?? "";
  const others = names.filter((other) => other.length <= LONGEST && OF_THINGS.test(letters(parted(other).bare)));
  if (!isHeight(name) || others.length === 0) return null;
  return `z is column "${name}", but the header names ${others.slice(0, 5).join(", ")}, too: if it lists trees with their heights, its rows are no points of a scan`;
}

/** The unit that the name of a coordinate states; null = none. */
export function unitOfAxis(name: string): AxisUnit | null {
  const { bare, unit } = parted(name);
  return unit ?? (ANGLES.has(letters(bare)) ? "deg" : null);
}
