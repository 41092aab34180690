import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LEAF_TEXTURE_NAMES } from "../../../shared/contract/qsm-leaves.ts";
import { AppError } from "../../../shared/errors.ts";
import { resourceFolder } from "../../native/core/resources.ts";

/** Contents of a picture of the service. Errors: invalid_argument for any name that is not in the list. */
export async function builtinLeafTexture(name: string): Promise<Uint8Array> {
  const known = LEAF_TEXTURE_NAMES.find((one) => one === name);
  if (known === undefined) {
    throw new AppError(
      "invalid_argument",
      `"${name.slice(0, 100)}" is no built-in leaf texture; use one of ${LEAF_TEXTURE_NAMES.join(", ")}`,
    );
  }
  return readFile(join(resourceFolder("leaf-textures"), known));
}
