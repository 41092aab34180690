import type { Client } from "../../../shared/client/index.ts";
import type { Config } from "../../config.ts";
import type { Progress, TextStream } from "../progress.ts";
import type { Scene, TerrainSummary } from "../report/findings.ts";
import type { AnalysisSummary } from "../report/summary.ts";
import type { AnalyzeOptions, InputFile } from "./options.ts";
import type { OutputFolder } from "./output-folder.ts";

/** The backend in this process, started by backend/entry/serve.ts. */
export interface Backend {
  readonly url: string;
  readonly token: string | null;
  stop(options?: { removeSessions?: boolean }): Promise<void>;
}
export type StartBackend = (overrides?: Partial<Config>) => Promise<Backend>;

export type AnalyzeClient = Pick<
  Client,
  | "version"
  | "preview"
  | "createSession"
  | "closeSession"
  | "transform"
  | "merge"
  | "filter"
  | "denoiseSession"
  | "segmentGroundSession"
  | "sessionDem"
  | "rebuildOctree"
  | "exportCloud"
  | "exportRaster"
  | "octreeFile"
  | "stageScene"
  | "saveProject"
>;

export interface AnalyzeDeps {
  readonly startBackend: StartBackend;
  readonly connect?: (backend: Backend) => AnalyzeClient;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** Cancels the run cleanly. */
  readonly signal: AbortSignal;
}

/** Result of `analyze`; the document of --json. */
export interface AnalyzeResult extends AnalysisSummary {
  readonly scene: Scene;
  readonly terrain: TerrainSummary;
  readonly copy: { readonly format: string; readonly point_count: number } | null;
  readonly outputs: {
    readonly report: string;
    /** The document of --json. */
    readonly summary: string;
    /** Table of the scans; null for a file without any. */
    readonly scans: string | null;
    readonly copy: string | null;
    /** The file of --project. */
    readonly project: string | null;
    readonly pictures: readonly string[];
    /** Terrain, surface and canopy as GeoTIFF and ESRI ASCII grid. */
    readonly rasters: readonly string[];
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly seconds: Readonly<Record<string, number>>;
}

/** The file of --project, staged in a folder of its own beside its place. */
export interface ProjectFile {
  readonly name: string;
  readonly folder: OutputFolder;
}

export interface Run {
  readonly input: InputFile;
  readonly merge: readonly InputFile[];
  readonly options: AnalyzeOptions;
  readonly client: AnalyzeClient;
  readonly out: OutputFolder;
  readonly project: ProjectFile | undefined;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}
