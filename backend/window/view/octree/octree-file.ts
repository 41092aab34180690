import { type OctreeNode, parseHierarchy } from "../../../../shared/octree/potree2.ts";
import { type OctreeMetadata, parseMetadata } from "../../../../shared/octree/potree2-metadata.ts";
import type { FetchOctreeFile } from "../cloud-view.ts";

/** An octree that can be drawn: its layout, and its nodes by name. */
export interface OctreeIndex {
  readonly cache_id: string;
  readonly metadata: OctreeMetadata;
  readonly root: IndexedNode | undefined;
  readonly nodes: readonly IndexedNode[];
}

export interface IndexedNode extends OctreeNode {
  readonly children: IndexedNode[];
}

/** Reads the layout and the hierarchy of an octree. Errors: those of fetchFile; invalid_file. */
export async function openOctree(cacheId: string, fetchFile: FetchOctreeFile): Promise<OctreeIndex> {
  const [json, hierarchy] = await Promise.all([
    fetchFile(cacheId, "metadata.json"),
    fetchFile(cacheId, "hierarchy.bin"),
  ]);
  const metadata = parseMetadata(new TextDecoder().decode(json));
  const nodes: IndexedNode[] = parseHierarchy(hierarchy, metadata).map((node) => ({ ...node, children: [] }));
  const byName = new Map(nodes.map((node) => [node.name, node]));
  for (const node of nodes) byName.get(node.name.slice(0, -1))?.children.push(node);
  return { cache_id: cacheId, metadata, root: byName.get("r"), nodes };
}
