/** What is used of the independent decoder: a WebAssembly build of another LAZ implementation. */
interface LazPerf {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  readonly LASZip: new () => {
    open(pointer: number, bytes: number): void;
    getCount(): number;
    getPointLength(): number;
    getPointFormat(): number;
    getPoint(pointer: number): void;
    delete(): void;
  };
}

let loaded: Promise<LazPerf> | undefined;
const load = () => {
  loaded ??= import("laz-perf").then((module) =>
    (module as unknown as { createLazPerf(): Promise<LazPerf> }).createLazPerf(),
  );
  return loaded;
};

/** The point records of a LAZ file as the other decoder unpacks them. */
export async function unpack(laz: Buffer): Promise<{ format: number; bytes: number; records: Buffer }> {
  const perf = await load();
  const file = perf._malloc(laz.length);
  perf.HEAPU8.set(laz, file);
  const zip = new perf.LASZip();
  zip.open(file, laz.length);
  const bytes = zip.getPointLength();
  const count = zip.getCount();
  const point = perf._malloc(bytes);
  const records = Buffer.alloc(count * bytes);
  for (let i = 0; i < count; i += 1) {
    zip.getPoint(point);
    records.set(perf.HEAPU8.subarray(point, point + bytes), i * bytes);
  }
  const format = zip.getPointFormat();
  zip.delete();
  perf._free(point);
  perf._free(file);
  return { format, bytes, records };
}
