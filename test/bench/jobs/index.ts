import type { Job } from "../job.ts";
import { classifyJobs } from "./classify.ts";
import { editJobs } from "./edits.ts";
import { fileJobs } from "./files.ts";
import { lidarJobs } from "./lidar.ts";
import { meshJobs } from "./mesh.ts";
import { octreeJobs } from "./octree.ts";
import { plantJobs } from "./plants.ts";
import { projectJobs } from "./projects.ts";
import { serviceJobs, startJobs } from "./service.ts";
import { sessionJobs } from "./sessions.ts";
import { terrainJobs } from "./terrain.ts";
import { treeJobs } from "./trees.ts";

/** Every job by its name, in the order in which they run. */
export const jobs: Readonly<Record<string, Job>> = {
  ...startJobs,
  ...fileJobs,
  ...octreeJobs,
  ...editJobs,
  ...terrainJobs,
  ...classifyJobs,
  ...treeJobs,
  ...meshJobs,
  ...serviceJobs,
  ...sessionJobs,
  ...projectJobs,
  ...plantJobs,
  ...lidarJobs,
};
