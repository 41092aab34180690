import { PNG } from "pngjs";

/** What the loaders of three.js, which has no types, return here. */
interface Attribute {
  readonly array: ArrayLike<number>;
  readonly count: number;
}
interface ReadAttribute extends Attribute {
  readonly itemSize: number;
  getComponent(index: number, component: number): number;
}
interface Material {
  readonly name: string;
  readonly side: number;
  readonly alphaTest: number;
  readonly vertexColors: boolean;
  readonly map: { readonly image: PNG } | null;
  readonly color: { getHexString(): string };
}
interface Node {
  readonly geometry?: { readonly attributes: Readonly<Record<string, ReadAttribute>> };
  readonly material?: Material;
  readonly matrixWorld: { readonly elements: readonly number[] };
}
interface Group {
  updateMatrixWorld(force: boolean): void;
  traverse(visit: (node: Node) => void): void;
}
interface GltfParser {
  readonly json: {
    readonly textures: readonly { readonly source: number }[];
    readonly images: readonly { readonly bufferView: number; readonly mimeType: string }[];
  };
  getDependency(kind: string, index: number): Promise<ArrayBuffer>;
}
interface Three {
  readonly GLTFLoader: new () => {
    register(plugin: (parser: GltfParser) => object): void;
    parseAsync(bytes: ArrayBuffer, path: string): Promise<{ readonly scene: Group }>;
  };
  readonly OBJLoader: new () => { parse(text: string): Group; setMaterials(creator: object): void };
  readonly MTLLoader: new () => { parse(text: string, path: string): { readonly materialsInfo: MaterialsInfo } };
  readonly PLYLoader: new () => { parse(bytes: ArrayBuffer): { readonly attributes: Record<string, Attribute> } };
  readonly Texture: new (image: unknown) => object;
}
export type MaterialsInfo = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

export async function three(): Promise<Three> {
  const loaders = ["GLTFLoader", "OBJLoader", "MTLLoader", "PLYLoader"];
  const names = ["three", ...loaders.map((name) => `three/examples/jsm/loaders/${name}.js`)];
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(name))))) as Three;
}

/** One primitive or group as three.js has read it. */
export interface ReadPart {
  readonly material: Material;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly matrix: readonly number[];
}

/** The values one after the other: those of a GLB file lie between those of other attributes. */
function plain(values: ReadAttribute): Attribute {
  const { count, itemSize } = values;
  const array = new Float32Array(count * itemSize);
  for (let i = 0; i < array.length; i += 1) array[i] = values.getComponent(Math.floor(i / itemSize), i % itemSize);
  return { array, count };
}

const parts = (group: Group): ReadPart[] => {
  const found: ReadPart[] = [];
  group.updateMatrixWorld(true);
  group.traverse(({ geometry, material, matrixWorld }) => {
    if (!geometry || !material) return;
    const attributes = Object.entries(geometry.attributes).map(([name, values]) => [name, plain(values)] as const);
    found.push({ material, attributes: Object.fromEntries(attributes), matrix: matrixWorld.elements });
  });
  return found;
};

const whole = (bytes: Uint8Array) => new Uint8Array(bytes).buffer;

/** A GLB file, its textures decoded from the file by pngjs: there is no browser here to do it. */
export async function readGlb(bytes: Uint8Array): Promise<ReadPart[]> {
  const { GLTFLoader, Texture } = await three();
  const loader = new GLTFLoader();
  loader.register((parser) => ({
    name: "png",
    loadTexture: async (index: number) => {
      const image = parser.json.images[parser.json.textures[index]?.source ?? -1];
      if (image?.mimeType !== "image/png") throw new Error("not an embedded PNG image");
      return new Texture(PNG.sync.read(Buffer.from(await parser.getDependency("bufferView", image.bufferView))));
    },
  }));
  return parts((await loader.parseAsync(whole(bytes), "")).scene);
}

export async function readObj(text: string): Promise<ReadPart[]> {
  const { OBJLoader } = await three();
  return parts(new OBJLoader().parse(text));
}

export async function readMtl(text: string): Promise<MaterialsInfo> {
  const { MTLLoader } = await three();
  return new MTLLoader().parse(text, "").materialsInfo;
}

export async function readPly(bytes: Uint8Array) {
  const { PLYLoader } = await three();
  return new PLYLoader().parse(whole(bytes)).attributes;
}
