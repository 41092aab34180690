"""A scan becomes a terrain model and a labelled copy. argv: url, token, scan, output folder. Prints what came out."""

import json
import os
import sys

if os.environ.get("WITHOUT_NUMPY"):
    sys.modules["numpy"] = None

from point_cloud_client import PointCloudClient

url, token, scan, folder = sys.argv[1:]
client = PointCloudClient(url, token)
steps = []
cloud = client.create_session(scan, on_progress=steps.append)
session = cloud["session_id"]
ground = client.segment_ground_session(session, acknowledge_cost=True)
dtm = client.session_dem(session, surface_type="dtm", cell_size=1.0, on_progress=steps.append)
nx, ny, cell = dtm.meta["grid_nx"], dtm.meta["grid_ny"], dtm.meta["grid_cell"]
shift, origin = dtm.meta["world_shift"], dtm.meta["grid_origin"]
world = [origin[0] + shift[0], origin[1] + shift[1]]
raster = os.path.join(folder, "dtm.tif")
client.export_raster(dtm.buffers["grid_z"], nx, ny, cell, world, format="tif", dest_path=raster)
copy = os.path.join(folder, "copy.laz")
written = client.export_cloud(source={"session_id": session}, format="laz", dest_path=copy, on_progress=steps.append)
heights = [float(z) for z in dtm.buffers["grid_z"]]
print(
    json.dumps(
        {
            "numpy": sys.modules.get("numpy") is not None,
            "type": type(dtm.buffers["grid_z"]).__name__,
            "points": cloud["point_count"],
            "ground": ground["num_ground"],
            "plant": ground["num_plant"],
            "cells": [nx, ny, len(heights)],
            "voids": sum(z != z for z in heights),
            "voids_told": dtm.meta["voids"],
            "bounds": cloud["tight_bounds"],
            "heights": [min(z for z in heights if z == z), max(z for z in heights if z == z)],
            "raster_bytes": os.path.getsize(raster),
            "copied": written["point_count"],
            "run_ids": len({step.run_id for step in steps}),
            "messages": [step.message for step in steps],
        }
    )
)
client.close_session(session)
