import { type PointCloudOctree, PointColorType, PointSizeType, Potree, type TreeNode } from "potree-core";
import { PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";

/*
 * The page of the browser test: loads an octree as the desktop client's renderer does and draws all of it.
 * Bundled for the browser by the test.
 */

export const VIEW_WIDTH = 800;
export const VIEW_HEIGHT = 600;
const SETTLE_MS = 20_000;
const ALL_POINTS = 100_000_000;

type Triple = [number, number, number];

/** What the renderer made of an octree; coordinates in metres as the octree stores them. */
export interface OctreeView {
  readonly bounds: { readonly min: Triple; readonly max: Triple };
  /** Box around the points that were decoded and drawn. */
  readonly drawn: { readonly min: Triple; readonly max: Triple };
  readonly attributes: readonly string[];
  readonly node_count: number;
  readonly point_count: number;
  readonly deepest_level: number;
}

/** The browser's globals, as far as they are used here. */
interface Page {
  document: { body: { append(element: object): void } };
  setTimeout(run: () => void, ms: number): void;
  viewOctree: typeof viewOctree;
}
const page = globalThis as unknown as Page;

/** Draws the octree below `url` (ending in /) until `expected` points are on screen; fails when they do not come. */
async function viewOctree(url: string, expected: number): Promise<OctreeView> {
  const potree = new Potree();
  potree.pointBudget = ALL_POINTS;
  const cloud = await potree.loadPointCloud("metadata.json", url);
  cloud.minNodePixelSize = 0; // every level, however small on the screen
  const { material, pcoGeometry } = cloud;
  material.size = 2;
  material.pointSizeType = PointSizeType.FIXED;
  if (!pcoGeometry.pointAttributes.attributes.some(({ name }) => name === "rgba")) {
    material.newFormat = false; // true draws the colors of the points: black where they have none
    material.pointColorType = PointColorType.COLOR; // white
  }
  cloud.updateMatrixWorld(true);
  const scene = new Scene();
  scene.add(cloud);
  const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
  renderer.setSize(VIEW_WIDTH, VIEW_HEIGHT);
  renderer.setClearColor(0x000000);
  page.document.body.append(renderer.domElement);
  const camera = cameraAround(cloud);
  const started = performance.now();
  for (;;) {
    const { visibleNodes, nodeLoadFailed } = potree.updatePointClouds([cloud], camera, renderer);
    if (nodeLoadFailed) throw new Error("a node failed to load");
    renderer.render(scene, camera);
    const drawn = visibleNodes.reduce((sum, node) => sum + pointCount(node), 0);
    if (drawn >= expected) return describeView(cloud, visibleNodes);
    if (performance.now() - started > SETTLE_MS) {
      throw new Error(`${drawn} of ${expected} points after ${SETTLE_MS} ms`);
    }
    await new Promise<void>((resolve) => page.setTimeout(resolve, 16));
  }
}

const pointCount = ({ sceneNode }: TreeNode) => sceneNode.geometry.attributes.position.array.length / 3;

function cameraAround(cloud: PointCloudOctree): PerspectiveCamera {
  const { min, max } = cloud.getBoundingBoxWorld();
  const center = min.clone().add(max).multiplyScalar(0.5);
  const size = max.x - min.x;
  const camera = new PerspectiveCamera(60, VIEW_WIDTH / VIEW_HEIGHT, size / 100, size * 10);
  camera.up.set(0, 0, 1);
  camera.position.copy(
    new Vector3(1, -1.2, 0.4)
      .normalize()
      .multiplyScalar(size * 1.8)
      .add(center),
  );
  camera.lookAt(center);
  camera.updateMatrixWorld(true);
  return camera;
}

function describeView(cloud: PointCloudOctree, nodes: readonly TreeNode[]): OctreeView {
  const { boundingBox, offset, pointAttributes } = cloud.pcoGeometry;
  const drawn = drawnExtent(nodes);
  const stored = (corner: Vector3) => corner.clone().add(offset).toArray();
  return {
    bounds: { min: stored(boundingBox.min), max: stored(boundingBox.max) },
    drawn: { min: stored(drawn.min), max: stored(drawn.max) },
    attributes: pointAttributes.attributes.map(({ name }) => name),
    node_count: nodes.length,
    point_count: nodes.reduce((sum, node) => sum + pointCount(node), 0),
    deepest_level: Math.max(...nodes.map(({ level }) => level)),
  };
}

/** Box around the decoded points of all nodes, before the octree's offset. */
function drawnExtent(nodes: readonly TreeNode[]): { min: Vector3; max: Vector3 } {
  const min: Triple = [Infinity, Infinity, Infinity];
  const max: Triple = [-Infinity, -Infinity, -Infinity];
  for (const { sceneNode } of nodes) {
    const corner = sceneNode.position.toArray();
    const { array } = sceneNode.geometry.attributes.position;
    for (let i = 0; i < array.length; i += 1) {
      const axis = (i % 3) as 0 | 1 | 2;
      const value = (array[i] ?? Number.NaN) + corner[axis];
      min[axis] = Math.min(min[axis], value);
      max[axis] = Math.max(max[axis], value);
    }
  }
  return { min: new Vector3(...min), max: new Vector3(...max) };
}

page.viewOctree = viewOctree;
