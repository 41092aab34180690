import type { DenoiseNative } from "../classify/denoise.ts";
import type { GroundNative } from "../classify/ground.ts";
import type { CloudNative } from "../cloud/cloud.ts";
import type { CloudEditNative } from "../cloud/edit.ts";
import type { MasksNative } from "../cloud/masks.ts";
import type { ArchiveNative } from "../files/archive.ts";
import type { MeshReadersNative } from "../files/mesh.ts";
import type { ReadersNative } from "../files/readers.ts";
import type { WritersNative } from "../files/writers.ts";
import type { FitNative } from "../fit.ts";
import type { InventoryNative } from "../inventory.ts";
import type { LadNative } from "../lad.ts";
import type { ListsNative } from "../lists.ts";
import type { MeshPictureNative } from "../mesh-picture.ts";
import type { MissesNative } from "../misses.ts";
import type { OctreeNative } from "../octree.ts";
import type { PlantShapesNative } from "../plant-shapes.ts";
import type { PlantMeshNative } from "../plants/mesh.ts";
import type { MorphNative } from "../plants/morph.ts";
import type { PlantsNative } from "../plants/plants.ts";
import type { QsmNative } from "../qsm.ts";
import type { RayNative } from "../ray.ts";
import type { ReconstructionNative } from "../reconstruction.ts";
import type { RegistrationNative } from "../registration.ts";
import type { ScanMeshesNative } from "../scan-meshes.ts";
import type { SkeletonNative } from "../skeleton.ts";
import type { StemsNative } from "../stems.ts";
import type { SurfacesNative } from "../surfaces.ts";
import type { DemNative } from "../terrain.ts";
import type { TreesNative } from "../trees.ts";
import type { WoodNative } from "../wood.ts";
import type { ColumnFilesNative } from "./column-files.ts";
import type { DeviceNative } from "./device.ts";
import type { DType, NativeColumn } from "./handles.ts";
import { addonAs } from "./load.ts";
import type { RequestTextNative } from "./request-text.ts";
import type { ThreadsNative } from "./threads.ts";

/** All exports of the addon. Services call the typed facades; use this for columns made from bytes and in tests. */
export interface Addon
  extends ColumnFilesNative,
    ReadersNative,
    ArchiveNative,
    MeshReadersNative,
    MeshPictureNative,
    WritersNative,
    CloudNative,
    CloudEditNative,
    GroundNative,
    DemNative,
    MasksNative,
    DenoiseNative,
    OctreeNative,
    InventoryNative,
    LadNative,
    ListsNative,
    PlantShapesNative,
    MissesNative,
    QsmNative,
    RayNative,
    ReconstructionNative,
    RegistrationNative,
    FitNative,
    PlantsNative,
    PlantMeshNative,
    MorphNative,
    ScanMeshesNative,
    SkeletonNative,
    StemsNative,
    SurfacesNative,
    TreesNative,
    WoodNative,
    RequestTextNative,
    DeviceNative,
    ThreadsNative {
  Column: new (dtype: DType, bytes: Uint8Array) => NativeColumn;
  /** Bytes in anonymous native pages, once what was released is freed; tests assert that it returns to its start. */
  bulkBytesInUse(): number;
  /** Keeps up to `bytes` of freed pages for later blocks until the returned function is called. */
  reusePages(bytes: number): () => void;
}

export const addon = addonAs<Addon>();
