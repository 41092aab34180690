/* The parts of the renderer that the octree viewer page uses: three ships no types, potree-core's do not resolve here. */

declare module "potree-core" {
  import type { Box3, Camera, Object3D, Vector3, WebGLRenderer } from "three";

  export interface TreeNode {
    readonly level: number;
    /** What is drawn; coordinates relative to its position. */
    readonly sceneNode: {
      readonly position: Vector3;
      readonly geometry: { readonly attributes: { readonly position: { readonly array: ArrayLike<number> } } };
    };
  }
  export interface PointCloudOctree extends Object3D {
    minNodePixelSize: number;
    readonly material: { newFormat: boolean; pointColorType: number; pointSizeType: number; size: number };
    readonly pcoGeometry: {
      readonly boundingBox: Box3;
      readonly offset: Vector3;
      readonly pointAttributes: { readonly attributes: readonly { readonly name: string }[] };
    };
    getBoundingBoxWorld(): Box3;
  }
  export const PointColorType: { readonly COLOR: number };
  export const PointSizeType: { readonly FIXED: number };
  export class Potree {
    pointBudget: number;
    loadPointCloud(file: string, baseUrl: string): Promise<PointCloudOctree>;
    updatePointClouds(
      clouds: readonly PointCloudOctree[],
      camera: Camera,
      renderer: WebGLRenderer,
    ): {
      readonly visibleNodes: readonly TreeNode[];
      readonly numVisiblePoints: number;
      readonly nodeLoadFailed: boolean;
    };
  }
}

declare module "three" {
  export class Vector3 {
    x: number;
    y: number;
    z: number;
    constructor(x?: number, y?: number, z?: number);
    clone(): Vector3;
    add(other: Vector3): this;
    multiplyScalar(factor: number): this;
    normalize(): this;
    toArray(): [number, number, number];
  }
  export class Box3 {
    min: Vector3;
    max: Vector3;
  }
  export class Object3D {
    position: { copy(from: Vector3): void };
    up: { set(x: number, y: number, z: number): void };
    lookAt(target: Vector3): void;
    updateMatrixWorld(force?: boolean): void;
    add(child: object): this;
  }
  export class Scene extends Object3D {}
  export class Camera extends Object3D {}
  export class PerspectiveCamera extends Camera {
    constructor(fovDeg: number, aspect: number, near: number, far: number);
  }
  export class WebGLRenderer {
    readonly domElement: object;
    constructor(options?: { antialias?: boolean; preserveDrawingBuffer?: boolean });
    setSize(width: number, height: number): void;
    setClearColor(color: number): void;
    render(scene: Scene, camera: Camera): void;
  }
}
