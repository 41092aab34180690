import { PNG } from "pngjs";
import type { ScanMaterial, ScanMesh } from "../../../shared/contract/scan-mesh.ts";
import { MAX_SCAN_TEXTURE_PIXELS } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { addon } from "../../native/core/addon.ts";
import type { SceneTexture } from "../../native/ray.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { ListColumn } from "../../sessions/list-column.ts";
import { copyOut } from "../run/points.ts";

const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The images of a request, each decoded once. A material without a usable one has the index null and a warning. */
export class Textures {
  readonly decoded: SceneTexture[] = [];
  readonly warnings: string[] = [];
  readonly #known = new Map<string, number | null>();
  readonly #job: Job;

  constructor(job: Job) {
    this.#job = job;
  }

  /** Index of each material's texture in `decoded`. */
  async ofMaterials({ materials, textures }: ScanMesh, mesh: string): Promise<(number | null)[]> {
    const found: (number | null)[] = [];
    for (const [m, material] of (materials ?? []).entries()) {
      this.#job.checkpoint();
      const data = await base64Of(material, textures);
      found.push(data === null ? null : await this.#index(data, material, `${mesh}.materials[${m}]`));
    }
    return found;
  }

  async #index(base64: string, { has_alpha }: ScanMaterial, name: string): Promise<number | null> {
    const key = `${has_alpha} ${base64}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    let index: number | null = null;
    try {
      const image = await decoded(Buffer.from(base64.replace(/^data:[^,]*,/, ""), "base64"));
      const rgba = this.#job.adopt(new ColumnRef(new addon.Column("u8", image.data)));
      index = this.decoded.length;
      const { width, height } = image;
      this.decoded.push({ width, height, rgba: rgba.native, has_holes: has_alpha && hasHoles(image.data) });
    } catch (error) {
      this.warnings.push(
        `The texture of ${name} is not used: ${(error as Error).message}. Its triangles have their colour.`,
      );
    }
    this.#known.set(key, index);
    return index;
  }
}

async function base64Of(material: ScanMaterial, textures: ScanMesh["textures"]): Promise<string | null> {
  const { texture_data, texture_name } = material;
  if (typeof texture_data === "string") return texture_data === "" ? null : texture_data;
  if (texture_data instanceof ListColumn && texture_data.ref) {
    const bytes = new Uint8Array(texture_data.ref.native.bytes);
    await copyOut(texture_data.ref.native, bytes);
    return Buffer.from(bytes).toString("latin1");
  }
  const named = texture_name && textures && Object.hasOwn(textures, texture_name) ? textures[texture_name] : undefined;
  return named ?? null;
}

interface Image {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Errors: what is wrong with the file. */
function decoded(bytes: Buffer): Promise<Image> {
  if (!bytes.subarray(0, 8).equals(PNG_MAGIC)) throw new Error("it is no PNG file");
  if (bytes.length < 24) throw new Error("the PNG file is cut off");
  const pixels = bytes.readUInt32BE(16) * bytes.readUInt32BE(20);
  if (pixels > MAX_SCAN_TEXTURE_PIXELS) {
    throw new Error(`it has ${pixels} pixels, more than ${MAX_SCAN_TEXTURE_PIXELS}`);
  }
  return new Promise((resolve, reject) => {
    new PNG().parse(bytes, (error, image) => {
      if (error) reject(new Error("the PNG file is damaged", { cause: error }));
      else resolve({ width: image.width, height: image.height, data: image.data });
    });
  });
}

function hasHoles(rgba: Uint8Array): boolean {
  for (let i = 3; i < rgba.length; i += 4) if ((rgba[i] ?? 255) < 128) return true;
  return false;
}
