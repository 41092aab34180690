/** The scripts of `npm run package`, with the types that tests need. */
export interface AsarFile {
  readonly path: string;
  readonly size: number;
  readonly unpacked: boolean;
  read(): string;
}
interface FileType {
  readonly ext: string;
  readonly name: string;
  readonly mimeType: string;
}
export interface Identity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly summary: string;
  readonly fileTypes: readonly FileType[];
}
interface BuilderConfig {
  readonly electronFuses: Readonly<Record<string, boolean>>;
  readonly files: readonly string[];
  readonly mac: { readonly hardenedRuntime: boolean; readonly entitlements: string };
}
interface Part {
  readonly name: string;
  readonly texts: readonly string[];
}
type Sizes = Readonly<Record<"unpacked" | "ours", number>>;

const load = async <T>(name: string): Promise<T> =>
  (await import(new URL(`../../../scripts/package/${name}.mjs`, import.meta.url).href)) as T;

export const { asarFiles } = await load<{ asarFiles(archive: string): AsarFile[] }>("asar");
export const { builderConfig, identity } = await load<{ builderConfig(): BuilderConfig; identity(): Identity }>(
  "config",
);
interface DebOptions {
  readonly app: string;
  readonly target: string;
  readonly staging: string;
  readonly identity: Identity;
  readonly arch: string;
  readonly time: number;
}
export const { writeDeb } = await load<{ writeDeb(options: DebOptions): void }>("deb");
export const { desktopEntry, mimeTypes } =
  await load<Record<"desktopEntry" | "mimeTypes", (given: Identity) => string>>("desktop");
export const { readFuses } = await load<{ readFuses(program: string): Record<string, boolean> }>("fuses");
export const { licenceText, shippedParts } = await load<{
  licenceText(parts: readonly Part[], version: string): string;
  shippedParts(files: readonly Pick<AsarFile, "path" | "read">[], bundled: readonly string[]): Part[];
}>("licences");
export const { appSizes, BUDGET, overBudget, sizeOf } = await load<{
  appSizes(folder: string): Sizes;
  BUDGET: Sizes;
  overBudget(sizes: Sizes): string[];
  sizeOf(path: string): number;
}>("sizes");
