"""Python client of the point cloud backend: one file, standard library only; numpy arrays if numpy is installed.

    from point_cloud_client import PointCloudClient

    client = PointCloudClient("http://127.0.0.1:8008")
    cloud = client.create_session("/data/scan.laz", on_progress=lambda step: print(step.progress, step.message))
    ground = client.segment_ground_session(cloud["session_id"], acknowledge_cost=True)
    dtm = client.session_dem(cloud["session_id"], surface_type="dtm", cell_size=0.5)
    print(dtm.meta["grid_nx"], "x", dtm.meta["grid_ny"], "cells,", ground["num_ground"], "ground points")
    shift, origin = dtm.meta["world_shift"], dtm.meta["grid_origin"]
    heights = [z + shift[2] for z in dtm.buffers["grid_z"]]  # true world; of a chm as they are
    client.export_raster(heights, dtm.meta["grid_nx"], dtm.meta["grid_ny"], dtm.meta["grid_cell"],
                         [origin[0] + shift[0], origin[1] + shift[1]], format="tif", dest_path="/data/dtm.tif",
                         crs_epsg=dtm.meta.get("crs_epsg"))
    client.export_cloud(source={"session_id": cloud["session_id"]}, format="laz", dest_path="/data/ground.laz")

Unless a docstring states otherwise, lengths are in metres, angles in degrees and times in seconds. World coordinates
are those of the file in metres; a session uses stored coordinates = world - world_shift. A hit is a laser return, a
miss (sky point) a pulse without a return.

Each method has the name of an operation in /openapi.json, which describes all fields. Keyword arguments that a method
does not list are added to the request unchanged. All methods accept `cancel`, a threading.Event that stops the call,
and `timeout`, the maximum number of seconds without any byte from the service.

Points and the lists of the same length may be arrays of float32 (points flat or (n, 3)) or uint32: they are sent as they
are, several times faster than lists. float32 keeps 24 bits; subtract an origin near the points in float64 first and send it
as frame_origin=(x, y, z), which is added to the points.

Errors: ApiError (status, code, message, detail), CostWarning (409, send acknowledge_cost=True), CanceledError.
"""

from __future__ import annotations

import array
import http.client
import json
import math
import os
import secrets
import socket
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import quote, urlencode, urlsplit

try:
    import numpy
except ImportError:
    numpy = None

__all__ = ["ApiError", "CanceledError", "CostWarning", "Frame", "PointCloudClient", "Points", "Progress", "plant_document"]

_BLOCK = 1 << 16
_MAX_MARKER_BYTES = 1 << 20
_CANCEL_WAIT_S = 1.0
_SPACE = b" \t\r\n"
# Lists of requests that may be arrays of float32 or uint32.
_LISTS = (
    "points",
    "colors",
    "ground_labels",
    "ground_class",
    "seed_points",
    "first_return_labels",
    "intensity",
    "mesh_vertices",
    "mesh_indices",
)


class ApiError(Exception):
    """The service rejected a request, or its run failed.

    status   HTTP status; 200 = the failure was reported inside the response; 0 = there was no response
    code     error code, such as "not_found"; this client adds "network" and "timeout"
    detail   detail of the error response, or the whole response of a failed run
    """

    def __init__(self, status: int, code: Optional[str], message: str, detail: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.detail = detail


class CanceledError(ApiError):
    """The run was canceled by the `cancel` event, by PointCloudClient.cancel or by the shutdown of the service."""


class CostWarning(ApiError):
    """A long or large run needs confirmation. `cost_warning` holds estimated_seconds, estimated_bytes, free memory."""

    @property
    def cost_warning(self) -> Dict[str, Any]:
        return self.detail["cost_warning"]


class Progress(NamedTuple):
    """Progress of a run: fraction 0..1 or None (unknown), stage, and the run id for PointCloudClient.cancel."""

    progress: Optional[float]
    message: str
    run_id: Optional[str]


class Frame(NamedTuple):
    """A PHB1 response: scalars in `meta`, flat arrays by name in `buffers` (float32 or uint32)."""

    meta: Dict[str, Any]
    buffers: Dict[str, Any]


class Points(NamedTuple):
    """A PHX1 response. Arrays are float32: (n, 3) and (n) with numpy, else flat. None = the file has no such values."""

    point_count: int
    positions: Any
    colors: Any
    intensity: Any
    miss_count: int = 0  # misses (sky points) of the file that are not among the points


OnProgress = Callable[[Progress], None]


class PointCloudClient:
    """Client of the service at `base_url`. `token` is its APP_AUTH_TOKEN. Threads may share a client."""

    def __init__(
        self, base_url: str = "http://127.0.0.1:8008", token: Optional[str] = None, timeout: float = 600.0
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"base_url must look like http://127.0.0.1:8008, not {base_url!r}")
        self._host = parts.hostname
        self._port = parts.port or 80
        self._token = token
        self._timeout = timeout

    # The service

    def root(self, **call: Any) -> Dict[str, Any]:
        """Returns a greeting and the version."""
        return self._json("GET", "/", None, call)

    def health(self, **call: Any) -> Dict[str, Any]:
        """Returns the state of the service: memory in bytes, operations in progress. Needs no token."""
        return self._json("GET", "/health", None, call)

    def version(self, **call: Any) -> Dict[str, Any]:
        """Returns the version, which a supervisor compares. Needs no token."""
        return self._json("GET", "/version", None, call)

    def device_info(self, **call: Any) -> Dict[str, Any]:
        """Reports which device computations use, and why."""
        return self._json("GET", "/api/device-info", None, call)

    def cancel(self, run_id: str, **call: Any) -> Dict[str, Any]:
        """Cancels a run; `canceled` is false if the run is unknown or has ended."""
        return self._json("POST", f"/api/cancel/{quote(run_id, safe='')}", None, call)

    # Files

    def preview(self, file_path: str, **fields: Any) -> Dict[str, Any]:
        """Returns the columns, metadata and first rows of a file.

        file_path     absolute path on the service's machine
        ascii_format  column names of a text file, such as "x y z intensity"
        max_rows      number of rows, 1 to 100, default 20
        """
        return self._json("POST", "/api/pointcloud/preview", {"file_path": file_path}, fields)

    def import_by_path(self, file_path: str, **fields: Any) -> Points:
        """Reads a file into arrays, without its misses. Creates no session.

        file_path     absolute path on the service's machine
        ascii_format  column names of a text file
        column_plan   {"columns": [{"index", "role", "slug", "label", "categorical"}], "rgb_is_255"}, text files only
        world_shift   (3) file units, subtracted before conversion to float32
        """
        return self._points("/api/pointcloud/import_by_path", {"file_path": file_path}, fields)

    def import_file(self, path: str, **call: Any) -> Points:
        """Uploads a LAS or LAZ file from this machine, as form part `file`, and reads it into arrays."""
        call = dict(call)
        with open(path, "rb") as file:
            head, tail, boundary = _form(os.path.basename(path))
            size = len(head) + os.fstat(file.fileno()).st_size + len(tail)
            headers = {"content-type": f"multipart/form-data; boundary={boundary}", "content-length": str(size)}
            body = _chained(head, file, tail)
            return _decode_points(self._call("POST", "/api/pointcloud/import", body, headers, call))

    def upload_file(self, path: str, **call: Any) -> Dict[str, Any]:
        """Stores a file of this machine in the service's data folder, for requests that read files where the service
        runs on another one: {"upload_id", "path", "name", "bytes", "expires_s"}. Pass `path` to them, and the id to
        delete_upload afterwards. name: the file's own.
        """
        call = dict(call)
        url = f"/app/upload?name={quote(os.path.basename(path), safe='')}"
        with open(path, "rb") as file:
            size = str(os.fstat(file.fileno()).st_size)
            headers = {"content-type": "application/octet-stream", "content-length": size}
            return _checked(json.loads(self._call("POST", url, file, headers, call)))

    def delete_upload(self, upload_id: str, **call: Any) -> Dict[str, Any]:
        """Removes an uploaded file; `deleted` is false for an unknown id."""
        return self._json("DELETE", f"/app/upload/{quote(upload_id, safe='')}", None, call)

    def export_cloud(self, on_progress: Optional[OnProgress] = None, **fields: Any) -> Dict[str, Any]:
        """Exports points to a file.

        points     (n, 3) inline points, metres
        colors     (n, 3) r, g, b of each inline point, 0..1
        source     {"session_id", "max_points", "translation", "want_colors", ...} instead of points
        format     las, laz (default), xyz, txt, csv, ply, obj, asc, pts, ptx, pcd, e57
        filename   file name in the response if there is no dest_path, default pointcloud.<format>
        dest_path  absolute path on the service's machine; without it, the response holds the file in `data`, base64
        overwrite  replace whatever is at dest_path; without it, a file that no export wrote causes an error
        columns    scalar columns to write, in order
        system_of  id of a session whose coordinate system a LAS or LAZ file states, or "none"; default: that of the source
        """
        return self._run("/api/pointcloud/export", {}, fields, on_progress)

    def export_scans(self, on_progress: Optional[OnProgress] = None, **fields: Any) -> Dict[str, Any]:
        """Writes scans as an XML bundle, or one file per object.

        scans           list of objects: origin, session_id or points (with scalar_columns) or file_path (with
                        ascii_format and allow_file_source), label, translation, columns; for a bundle and PTX also the
                        sweep: scan_pattern, beam_elevation_angles_deg, n_theta, n_phi, theta_min, theta_max, phi_min,
                        phi_max (degrees), beam_exit_diameter (m), beam_divergence (mrad), scan_azimuth_offset,
                        tilt_roll_deg, tilt_pitch_deg, scanner_model, return_mode, return_selection, max_returns
        base_name       common name of the files, default scans
        base_position   prefix (default) or suffix: base_name before or after the label of an object
        include_misses  False leaves out misses (sky points)
        write_xml       True (default): a bundle of xyz files; False: one file per object in data_format
        data_format     las, laz, xyz (default), txt, csv, ply, obj, asc, pts, ptx, pcd, e57
        grids           voxel grids, written to the XML only
        dest_dir        absolute path of an existing folder on the service's machine; without it, the response holds the
                        files of one scan in `data`, base64
        overwrite       replace whatever has the name of a file; without it, a file that no export wrote is an error
        """
        return self._run("/api/scan/export-xml", {}, fields, on_progress)

    def import_mesh(self, path: str, on_progress: Optional[OnProgress] = None, **fields: Any) -> Frame:
        """Reads a mesh: buffers vertices, indices, normals, colors, uv_coordinates, triangle_materials.

        path         absolute path of an .obj, .ply or .stl file on the service's machine
        world_shift  (3) metres, subtracted from every vertex before conversion to float32

        The meta has materials, material_groups and textures ({file name: base64}) of an OBJ file.
        """
        return self._frame("/api/mesh/import", {**fields, "path": path}, on_progress)

    # Cloud sessions

    def create_session(
        self, source_path: str, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Reads a file into a new session and builds its octree.

        source_path              absolute path on the service's machine
        ascii_format             column names of a text file
        column_plan              column layout of a text file, as in import_by_path
        world_shift              (3) metres, subtracted from every point; zeros = no shift
        miss_distance_threshold  metres, default 1001: points farther from the scanner count as misses (sky points)
        origin                   (3) scanner position, world, in source units
        source_units             unit of the file: m, km, cm, mm, ft, ftUS or in; None = metres
        drop_slugs               names of scalar columns that are not imported
        role_overrides           {column name: role} instead of the detected role
        scalar_labels            {column name: display label}
        scan_index               index of the scan to import from an E57 or PTX file; None = all
        """
        return self._run("/api/cloud/session/create", {"source_path": source_path}, fields, on_progress)

    def list_sessions(self, **call: Any) -> List[Dict[str, Any]]:
        """All sessions, the last used first, also damaged ones and those that cannot be changed.

        Each has session_id, source_name, state (ready, read_only, damaged or unavailable), is_open, problems, total_count,
        deleted_count, disk_bytes, memory_bytes, world_shift, undo (deletions, and label_strokes by column) and last_used, and with
        a column tree_instance tree_version, a key of positions, deleted rows and tree numbers. Waits for the recovery after a
        restart.
        """
        return self._json("GET", "/api/cloud/sessions", None, call)["sessions"]

    def close_session(self, session_id: str, **call: Any) -> Dict[str, Any]:
        """Closes a session and frees its memory, files and octrees; `deleted` is false for an unknown id."""
        return self._json("DELETE", _session(session_id), None, call)

    def delete_region(
        self, session_id: str, region: Dict[str, Any], edit_id: Optional[str] = None, **call: Any
    ) -> Dict[str, Any]:
        """Marks the hits inside a region as deleted; each call is one undo step.

        region   {"kind": "box", "min": (3), "max": (3), "invert": False}, metres, stored frame; or kind "polygon" or
                 "squares_union", in pixels of a camera
        edit_id  name of the deletion: while one of this name can be undone, it is not made twice
        """
        request = {"region": region, "edit_id": edit_id}
        return self._json("POST", _session(session_id, "delete_region"), request, call)

    def reset_edits(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Undoes deletions, newest first.

        edit_count  number of deletions to keep; None = none
        """
        return self._json("POST", _session(session_id, "reset_edits"), {}, fields)

    def label_region(self, session_id: str, strokes: List[Dict[str, Any]], **fields: Any) -> Dict[str, Any]:
        """Assigns classes to points in a label column.

        strokes     [{"stroke_id", "region", "to_class", "from_classes", "exclude_classes", "limit_box"}], applied in order
        slug        name of the label column, default manual_class; created if it does not exist
        label       its display label, if it is created
        skip_noise  points labelled as noise (noise_class 2, LAS classes 7 and 18) keep their class; default False
        """
        return self._json("POST", _session(session_id, "label_region"), {"strokes": strokes}, fields)

    def reset_label_edits(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Undoes label strokes, newest first.

        undo_after_stroke_ids  ids of the strokes to keep, newest first
        edit_count             number of strokes to keep; used only without undo_after_stroke_ids
        slug                   name of the label column, default manual_class
        """
        return self._json("POST", _session(session_id, "reset_label_edits"), {}, fields)

    def commit_labels(self, session_id: str, on_progress: Optional[OnProgress] = None, **fields: Any) -> Dict[str, Any]:
        """Makes the strokes of a label column permanent and adds them to the octree.

        slug  name of the label column, default manual_class
        """
        return self._run(_session(session_id, "commit_labels"), {}, fields, on_progress)

    def label_summary(self, session_id: str, slug: str = "manual_class", **call: Any) -> Dict[str, Any]:
        """Counts the points of each class in the label column `slug`."""
        return self._json("GET", f"{_session(session_id, 'label_summary')}?{urlencode({'slug': slug})}", None, call)

    def bake(
        self, session_id: str, compact: bool = True, on_progress: Optional[OnProgress] = None, **call: Any
    ) -> Dict[str, Any]:
        """Builds the octree of the remaining points.

        compact  remove the deleted rows; False: keep them, marked as deleted
        """
        return self._run(f"{_session(session_id, 'bake')}?compact={str(compact).lower()}", None, call, on_progress)

    def filter(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Permanently deletes the hits outside a selection.

        region          selects the points inside, as in delete_region
        scalar_filters  [{"slug", "min", "max", "values"}], in the units of the columns; selects points that pass all
        rebuild         also build the octree, default True
        """
        return self._json("POST", _session(session_id, "filter"), {}, fields)

    def split(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Moves the hits outside a selection (region, scalar_filters as in filter) to a new session."""
        return self._json("POST", _session(session_id, "split"), {}, fields)

    def extract(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Copies the hits of a selection (region, scalar_filters as in filter) to a new session."""
        return self._json("POST", _session(session_id, "extract"), {}, fields)

    def extract_by_column(
        self, session_id: str, slug: str, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Copies each class of a column to its own new session.

        slug            name of a column with classes
        exclude_values  classes for which no session is created, default [0]
        rebuild_parent  also rebuild the octree of the original session
        include_misses  copy the misses to every new session
        acknowledge_cost  create more than 1000 sessions without raising CostWarning
        """
        return self._run(_session(session_id, "extract_by_column"), {"slug": slug}, fields, on_progress)

    def duplicate(self, session_id: str, **call: Any) -> Dict[str, Any]:
        """Copies a session, without its deleted points."""
        return self._json("POST", _session(session_id, "duplicate"), None, call)

    def merge(self, session_ids: List[str], **call: Any) -> Dict[str, Any]:
        """Copies the points of several sessions into a new one, in the stored frame of the first of session_ids."""
        return self._json("POST", "/api/cloud/session/merge", {"session_ids": session_ids}, call)

    def transform(self, session_id: str, matrix: Any, **fields: Any) -> Dict[str, Any]:
        """Transforms every point of a session permanently.

        matrix       4 x 4 affine matrix, world frame, metres: 16 numbers, row-major, or a (4, 4) array
        octree_mode  rebuild (default), or pose: the octree is unchanged and the viewer draws it with the matrix applied
        """
        flat = [value for row in matrix for value in row] if len(matrix) == 4 else matrix
        return self._json("POST", _session(session_id, "transform"), {"matrix": flat}, fields)

    def align_scans(self, session_id: str, on_progress: Optional[OnProgress] = None, **fields: Any) -> Dict[str, Any]:
        """Moves scans, and visits of a scanner that drifts, onto each other by the stems of the trees (tree_instance).

        skip_noise   points that a column names as noise are part of no stem, default True
        scan_column  extra column whose values tell scans apart, as las_point_source_id of tripods; None: scan_index, or a
                     column with a name that other programs give it (default)

        aligned of the answer: False if nothing was moved; warnings say why.
        """
        return self._run(_session(session_id, "align_scans"), {}, fields, on_progress)

    # Octrees

    def rebuild_octree(self, session_id: str, **call: Any) -> Dict[str, Any]:
        """Rebuilds the octrees of a session."""
        return self._json("POST", _session(session_id, "rebuild_octree"), None, call)

    def octree_file(
        self, cache_id: str, file: str, start: Optional[int] = None, end: Optional[int] = None, **call: Any
    ) -> bytes:
        """Reads `file` (metadata.json, hierarchy.bin or octree.bin) of octree `cache_id`, or its bytes start..end."""
        headers = {} if start is None else {"range": f"bytes={start}-{'' if end is None else end}"}
        return self._call("GET", f"/octree/{quote(cache_id, safe='')}/{quote(file, safe='')}", None, headers, call)

    # Labels

    def denoise(self, **fields: Any) -> Dict[str, Any]:
        """Labels each point as clean (1) or noise (2). Lengths are in metres.

        points               (n, 3) inline points, or
        source               {"session_id": ...}
        method               ror (default), voxel_count, sor, auto
        radius, nb_points    ror: search radius; number of other points that a clean point has within it
        voxel, min_points    voxel_count: edge of a cell; minimum number of points in a clean cell
        nb_neighbors         sor: number of nearest neighbours
        std_ratio            sor: noise has a mean distance this many standard deviations above the average
        previously_denoised  noise was already removed from these points
        """
        return self._json("POST", "/api/pointcloud/denoise", {}, fields)

    def denoise_session(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Labels the noise of a session in column noise_class; deletes nothing.

        method, radius, nb_points, voxel, min_points, nb_neighbors, std_ratio  as in denoise, metres
        defer_octree                                                           do not build the octree
        """
        return self._json("POST", _session(session_id, "denoise"), {}, fields)

    def segment_ground(self, **fields: Any) -> Dict[str, Any]:
        """Labels each point as ground (1) or plant (2). Lengths are in metres; None = derived or default value.

        points                (n, 3) inline points, z up, or
        source                {"session_id": ...}
        method                cloth, smrf, auto, las_classification (the ground that the file labels; needs a source);
                              without it: cloth if a cloth parameter is given, otherwise auto
        cloth_resolution      cloth: distance between particles, metres
        rigidness             cloth: stiffness, 1 (soft) to 3 (stiff)
        class_threshold       cloth: points closer to the cloth are ground, metres
        iterations            cloth: maximum number of time steps
        slope_smooth          cloth: fit the settled cloth to steep slopes
        auto_class_threshold  cloth: measure the threshold on the settled cloth
        ignore_low_outliers   cloth: leave points below the ground out before the cloth drops, default True
        cell_size             smrf: edge of a grid cell, metres
        window_radius         smrf: radius of the largest window, metres
        net_spacing           smrf: distance between the lines of a net that cuts large objects, metres; 0 = no net
        slope                 smrf: maximum slope of the ground, metres per metre
        elevation_threshold   smrf: points closer to the provisional surface are ground, metres
        elevation_scale       smrf: increase of the threshold with the slope, metres per (metre per metre)
        ground_classes        las_classification: classes that are ground, default [2]; 8 key-points, 9 water, 11 road
        skip_images           points that water or a polished floor mirrors are no ground, default True
        frame                 `frame` of the answer for a cloud that these points are a part of: labels as in the whole
        """
        return self._json("POST", "/api/segment/ground", {}, fields)

    def segment_ground_session(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Labels the ground of a session in column ground_class. A long or large run raises CostWarning first.

        method, cloth_resolution, rigidness, class_threshold, iterations, slope_smooth, auto_class_threshold,
        ignore_low_outliers, cell_size, slope, window_radius, elevation_threshold, elevation_scale, net_spacing,
        ground_classes, skip_images, frame  as in segment_ground
        skip_noise        points labelled as noise (noise_class 2, LAS classes 7 and 18) are no ground (default)
        defer_octree      do not build the octree
        acknowledge_cost  run without raising CostWarning
        """
        return self._json("POST", _session(session_id, "segment_ground"), {}, fields)

    def list_ml_models(self, task: Optional[str] = None, **call: Any) -> Dict[str, Any]:
        """Models of networks: models, default_models, default_wood_model, and broken packages (path, reason).

        task  only models of this task, for example "wood_leaf"
        """
        query = "" if task is None else "?task=" + quote(task, safe="")
        return self._json("GET", "/api/ml/models" + query, None, call)

    def ml_device(self, **call: Any) -> Dict[str, Any]:
        """Where networks run ("cpu" or "cuda"), and why; `runtime` is None if they cannot run."""
        return self._json("GET", "/api/ml/device", None, call)

    def import_ml_model(self, path: str, **call: Any) -> Dict[str, Any]:
        """Installs a package: a folder with model.json and model.onnx, or the path of its model.json."""
        return self._json("POST", "/api/ml/models/import", {"path": path}, call)

    def delete_ml_model(self, model_id: str, **call: Any) -> Dict[str, Any]:
        """Removes an imported model. Errors: 404 if it is not installed, 409 if it is part of the product."""
        return self._json("DELETE", "/api/ml/models/" + quote(model_id, safe=""), None, call)

    def segment_trees(self, **fields: Any) -> Dict[str, Any]:
        """Labels each point with its tree, 1..num_trees; 0 = none. Lengths are in metres; None = default value.

        points             (n, 3) inline points, z up, or
        source             {"session_id": ...}
        method             default (cut pursuit, scans from the ground), chm (crowns seen from the air) or auto (cheapest
                           paths from stems, without parameters)
        seed_points        (s, 3) one place per tree, frame of the points: seed k yields exactly tree k + 1
        ground_class       (n) class per point, 1 = ground, which gets 0
        chm_cell           chm: edge of a cell of the canopy height model
        chm_min_height     chm: lowest canopy above the ground, default 2
        chm_crown_scale    chm: about the width of the smaller crowns, default 2.5
        reg_strength1, reg_strength2  default: cost of a cut edge in stages 1 and 2, default 1 and 15
        min_nn1, min_nn2, min_nn3     default: neighbours in stages 1, 2 and 3, default 5, 20 and 20
        decimate_res1, decimate_res2  default: voxels of stages 1 and 2, default 0.05 and 0.1, raised for large clouds
        max_gap            default: segments this far apart are not grouped, default 2
        rel_height_length_ratio, vertical_weight, score_candidate_thresh, init_stem_rel_length_thresh  default: stage 3
        max_outlier_gap    default: vegetation this far from the rest is no part of the same tree, default 3
        acknowledge_cost   run without asking first (cost_warning of the answer)
        """
        return self._json("POST", "/api/segment/trees", {}, fields)

    def segment_trees_session(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Labels the trees of a session in column tree_instance; its column ground_class = 1 is ground.

        method, chm_cell, chm_min_height, chm_crown_scale, reg_strength1, reg_strength2, min_nn1, min_nn2, min_nn3,
        decimate_res1, decimate_res2, max_gap, rel_height_length_ratio, vertical_weight, score_candidate_thresh,
        init_stem_rel_length_thresh, max_outlier_gap  as in segment_trees
        seed_points       (s, 3) one place per tree, stored frame
        skip_noise        points labelled as noise (noise_class 2, LAS classes 7 and 18) belong to no tree (default)
        skip_structures   points of LAS classes 6 and 13 to 17 (buildings, wires, bridges) belong to no tree (default)
        tiling            default, auto: auto (large clouds), on, off
        tile_buffer_m     default, auto: width of the buffer around a tile, default 10
        defer_octree      do not build the octree
        acknowledge_cost  run without raising CostWarning
        """
        return self._json("POST", _session(session_id, "segment_trees"), {}, fields)

    # Skeletons

    def extract_skeleton(self, **fields: Any) -> Dict[str, Any]:
        """Topological skeleton of one plant, as a tree of nodes. Lengths are in metres. If the points have none, the
        reason is in error and success is False.

        points                (n, 3) inline points, z up, or
        source                {"session_id": ...}
        remove_outliers       statistical outlier removal first, default True; outlier_nb_neighbors, default 20;
                              outlier_std_ratio, default 2
        search_radius         longest link between points, default 0.05; None = from their spacing
        max_neighbors         nearest points that a point is linked to, default 20
        root_threshold        points less than this above the lowest one are the base, default 0.02
        quantization_levels   number of level sets, default 60
        use_nonlinear_quantization  levels by the square root of the hops from the base, default True
        threshold_filter      fewest points of a block, default 30
        use_proportion_filter, proportion_threshold  fewest points as a share of the parent block's, default 0.1
        smooth_skeleton, smoothing_iterations        default True, 2
        recenter              nodes on the axes of fitted cylinders, ends at the tips, default True; False = centroids
        dominant_axis         returned as it is
        """
        return self._json("POST", "/api/skeleton/extract", {}, fields)

    # Trees as cylinders: leaves

    def qsm_phyllotaxis(self, cylinders: Any, shoots: Any, **call: Any) -> Dict[str, Any]:
        """Estimates the divergence angle of the leaves of a model from the azimuths of its branches.

        cylinders, shoots  as in the answer of a build or an import

        angle_deg is 180, 137.5, 144, 150 or 90; confidence is 0..1; n_parents_sampled counts the shoots that it comes from.
        """
        return self._json("POST", "/api/qsm/phyllotaxis", {"cylinders": cylinders, "shoots": shoots}, call)

    def qsm_leaf_textures(self, **call: Any) -> Dict[str, Any]:
        """Names for builtin_texture_name: `textures`."""
        return self._json("GET", "/api/qsm/leaf-textures", None, call)

    def qsm_leaves(self, cylinders: Any, shoots: Any, **fields: Any) -> Dict[str, Any]:
        """Puts leaves on the youngest growth of a model; returns a mesh with its materials and textures.

        cylinders, shoots     as in the answer of a build or an import
        leaf_spacing          distance of nodes, metres, default 0.05
        leaf_pitch_deg        angle between leaf and shoot, degrees, default 45; 0 = along the shoot
        leaf_size_m           length of a leaf, metres, default 0.08
        phyllotaxis_deg       step of azimuth from node to node, degrees, default 137.5
        leaves_per_node       default 1
        obj_path              OBJ file of a leaf on the service's machine, or
        texture_path          PNG or JPG file of a leaf there, or
        builtin_texture_name  one of qsm_leaf_textures
        max_leaves            default 200000; more are thinned evenly, with a warning
        """
        return self._json("POST", "/api/qsm/leaves", {"cylinders": cylinders, "shoots": shoots}, fields)

    def qsm_adjust_leaf_angles(self, cylinders: Any, shoots: Any, **fields: Any) -> Dict[str, Any]:
        """Puts leaves on a model and turns them so that their angles in each cell follow measured ones.

        cylinders, shoots  of build_qsm or import_qsm
        leaf_spacing, leaf_pitch_deg, leaf_size_m, phyllotaxis_deg, leaves_per_node, obj_path, texture_path,
        builtin_texture_name, max_leaves  as in qsm_leaves
        triangulation    {"vertices": (3 V), "indices": (3 T), "triangle_cell_ids": (T), "triangle_scan_ids",
                         "scan_origins", "grid"}: triangles of a scan with leaves, metres, or
        tin_vertices, tin_indices, tin_cell_ids, tin_scan_ids, tin_scan_origins, grid_for_triangulation
                         the same, for numpy arrays: float32 and uint32, 4294967295 = in no cell, or
        cell_targets     [{"cell_id", "beta_mu", "beta_nu", "ecc", "phi0_deg", "n_measured"}] of the cells of
        grid             {"center": (3), "size": (3), "nx", "ny", "nz", "rotation": degrees, "column_offsets",
                         "kept_columns"}
        seed             default 0
        max_cell_leaves  most leaves of a cell that are turned, default 4000; None = all
        """
        return self._json("POST", "/api/qsm/adjust-leaf-angles", {"cylinders": cylinders, "shoots": shoots}, fields)

    def segment_wood(self, **fields: Any) -> Dict[str, Any]:
        """Labels each point as wood (1) or leaf (2). Lengths are in metres; None = default value.

        points                 (n, 3) inline points, z up, without the ground, or
        source                 {"session_id": ...}, or
        sources                several of them, one after another; source_counts of the answer has their labels' numbers
        method                 sota (default), geometric, connectivity, or ml: a network, which uses no field below but
                               acknowledge_cost and reflectance
        model_id               ml: id of an installed model (list_ml_models); None = the default
        wood_bias              least probability of wood, default 0.6: lower gives more wood
        k_min, k_max, k_step   neighbourhoods, in points, default 10, 100 and 10
        reg_k, reg_iters       neighbours and rounds of the smoothing, default 20 and 3
        min_speckle            connected wood of fewer points becomes leaf, default 0
        branch_grow_sph        sphericity up to which elongated points join branches, default 0.02
        backbone_support       connectivity: fewest points beyond a node of the backbone, default 0 = by their number
        voxel_size             voxels instead of points, default 0 = only for large clouds
        reflectance            (n) of the inline points
        reflectance_weight_max greatest weight of the reflectance, default 0.4; 0 = unused
        acknowledge_cost       run without asking first (cost_warning of the answer)
        """
        return self._json("POST", "/api/segment/wood", {}, fields)

    def segment_wood_session(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Labels wood and leaves of a session in column wood_class.

        method, model_id, wood_bias, k_min, k_max, k_step, reg_k, reg_iters, min_speckle, branch_grow_sph,
        backbone_support, voxel_size, reflectance_weight_max  as in segment_wood
        scalar_slug       column with the reflectance; default: reflectance or intensity
        skip_ground       hits that ground_class labels as ground are not analysed and get 0
        defer_octree      do not build the octree
        acknowledge_cost  run without raising CostWarning
        """
        return self._json("POST", _session(session_id, "segment_wood"), {}, fields)

    # Terrain

    def dem(self, on_progress: Optional[OnProgress] = None, **fields: Any) -> Frame:
        """Computes a terrain, surface or canopy height model: mesh, grid (grid_z, NaN = void) and layers.

        points                (n, 3) inline points, metres, or
        source                {"session_id": ...}
        surface_type          dtm (bare earth, default), dsm (top of canopy), chm (canopy height)
        cell_size             edge of a grid cell, metres; None = 1/256 of the larger extent
        bbox                  [min x, min y, max x, max y], metres, frame of the points
        method                interpolation of empty cells: tin (default), linear, nearest, idw
        ground_percentile     percentile of the z values in a DTM cell, default 5
        slope_correction      move cell heights along the slope to the cell centres, default True
        fill_voids            give cells outside the hull that contain a return the nearest value
        auto_segment_ground   detect the ground if there are no ground labels, default True
        ground_labels         (n) label per point, 1 = ground
        first_return_labels   (n) return index per point
        intensity             (n) intensity per point
        compute_height_above_ground  dtm: also compute the buffer hag, metres
        cloth_resolution, rigidness, class_threshold  ignored
        """
        return self._frame("/api/dem", fields, on_progress)

    def session_dem(self, session_id: str, on_progress: Optional[OnProgress] = None, **fields: Any) -> Frame:
        """Computes the same for a session, in its stored frame: world = stored + meta["world_shift"].

        surface_type, cell_size, bbox, method, ground_percentile, slope_correction, fill_voids, auto_segment_ground,
        cloth_resolution, rigidness, class_threshold  as in dem, metres
        skip_noise         points labelled as noise (noise_class 2, LAS classes 7 and 18) belong to no surface (default)
        add_height_column  dtm: also write the column height_above_ground
        """
        return self._frame(_session(session_id, "dem"), fields, on_progress)

    def export_raster(
        self, grid_z: Any, nx: int, ny: int, cell_size: float, origin: Any, **fields: Any
    ) -> Dict[str, Any]:
        """Exports a grid as ESRI ASCII grid or GeoTIFF.

        grid_z             (ny, nx) heights, metres; row 0 has the lowest y; NaN = void
        nx, ny             number of columns, number of rows
        cell_size          edge of a cell, metres; degrees for a geographic coordinate system
        origin             (2) lower-left corner of cell (0, 0), world, in the unit of cell_size
        format             asc (default), tif
        nodata             value that marks a void, default -9999
        crs_epsg           EPSG code of the coordinate system
        crs_is_geographic  x and y are angles
        dest_path          absolute path on the service's machine; without it, the file is in `data_base64`
        overwrite          replace whatever is at dest_path; without it, a file that no export wrote causes an error
        """
        nodata = fields.get("nodata", -9999)
        rows = grid_z.tolist() if hasattr(grid_z, "tolist") else list(grid_z)
        flat = [value for row in rows for value in row] if rows and isinstance(rows[0], list) else rows
        heights = [value if math.isfinite(value) else nodata for value in flat]
        body = {"grid_z": heights, "nx": nx, "ny": ny, "cell_size": cell_size, "origin": origin}
        return self._json("POST", "/api/dem/export-raster", body, fields)

    def snap_grid(self, grid: Dict[str, Any], dem: Dict[str, Any], **fields: Any) -> Dict[str, Any]:
        """Raises the columns of a voxel grid to a terrain.

        grid             {"center": (3), "size": (3), "nx", "ny", "nz", "rotation": degrees}, metres, world
        dem              {"grid_z", "nx", "ny", "cell", "origin": (2), "nodata"}, metres, world; None = void
        safety_fraction  clearance above the ground, as a fraction of the height of a voxel
        """
        return self._json("POST", "/api/lad/snap-grid", {"grid": grid, "dem": dem}, fields)

    # Trees

    def detect_stems(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Finds the stems that cross a layer of a session, which needs column height_above_ground. Changes nothing.

        band_min_m      lower end of the layer, metres above the ground, default 1
        band_max_m      upper end of the layer, metres above the ground, default 2
        max_diameter_m  largest diameter of a stem, metres, default 3
        skip_noise      points labelled as noise (noise_class 2, LAS classes 7 and 18) take no part (default)

        Returns seeds (x, y, z at breast height in stored coordinates, radius_m, n_inliers, arc_coverage, radius_unknown where
        two columns of points are all that was seen; those with the most inliers first), and in rejected how many clusters of points have no stem, by reason. Without a seed, warnings tell why.
        """
        return self._json("POST", _session(session_id, "detect_stems"), {}, fields)

    def tree_inventory(
        self, session_id: str, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Measures every tree of column tree_instance, and the stand; true world coordinates.

        breast_height_m        height of the diameter at breast height, metres, default 1.3
        fit_method             search for circles: ransac (default) or hough
        slice_thickness_m      thickness of the slices across the stem, metres, default 0.1
        inlier_distance_m      points closer to a circle than this belong to it, metres, default 0.02
        stem_curve_step_m      distance between the sections of the stem curve, metres, default 0.5
        voxel_size_m           edge of the cubes of the crown's volume, metres, default 0.1
        crown_gap_m            empty height that ends the crown, metres, default 1
        tree_ids               values of tree_instance to measure; None = all; a list leaves the stand out
        min_points             trees with fewer points are returned in skipped, default 50
        competition_radius_m   trees within this distance compete, metres, default 6
        skip_noise             points labelled as noise (noise_class 2, LAS classes 7 and 18) belong to no tree, whatever
                               tree_instance says, and do not widen the plot (default)
        align_scans            where scans do not fit, or a carried scanner drifted, measure with the points moved onto each
                               other by the stems, without scan numbers the layers of stems that are seen twice (default);
                               False: as the points lie
        scan_column            extra column whose values tell scans apart; None: as in align_scans (default)

        Returns trees, stem_curve (sections of all trees), stand, ground_sources, skipped, noise_count, scan_offsets, view_fit,
        ground_layers, scan_layers, tree_version, warnings and params. While list_sessions gives the same tree_version for
        the session, the trees are those of the cloud.
        """
        return self._run(_session(session_id, "tree_inventory"), {}, fields, on_progress)

    # Trees as cylinders

    def build_qsm(
        self,
        points: Any = None,
        source: Optional[Dict[str, Any]] = None,
        on_progress: Optional[OnProgress] = None,
        **fields: Any,
    ) -> Dict[str, Any]:
        """Reconstructs one leafless tree without ground as connected cylinders.

        points             (n, 3) points of the tree, metres
        source             {"session_id": ...} instead
        sources            several registered scans of the tree, used together with points
        twig_radius_mm     radius of twigs of this year, mm; the default, 4.23, is taken in proportion by plants below 2.5 m
        axis_termination   an axis may end at a fork of equals, default True
        fork_symmetry      ratio of radii from which it does, default 0.75
        w_growthlength, w_area, w_colinear
                           weights in choosing the child that continues an axis, default 1, 0, 0
        radius_model       "isotonic" (default) or "tapered"
        align_scans        scans (sources, or scan_index of a session) that show the tree at different places, as in wind, are
                           moved onto each other along its branches, default True; False: only told

        Returns cylinders, shoots, metrics with 95 % intervals of the volumes, view_fit, enlarged_by (of plants smaller
        than trees), points_used and warnings.
        """
        body: Dict[str, Any] = {}
        if points is not None:
            body["points"] = points
        if source is not None:
            body["source"] = source
        return self._run("/api/qsm/build", body, fields, on_progress)

    def import_qsm(self, path: str, **fields: Any) -> Dict[str, Any]:
        """Reads a QSM from a table of cylinders.

        path  absolute path of a .csv file on the service's machine
        """
        return self._json("POST", "/api/qsm/import", {"path": path}, fields)

    def tree_qsm(
        self, session_id: str, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """A QSM of every tree of column tree_instance, true world coordinates: {"results": [...], "warnings": [...]}.

        tree_ids              values of tree_instance; None = all
        max_points_per_tree   larger trees are thinned to at most so many points, default 60000
        wood_only             use only points with wood_class 1, default True
        skip_noise            points labelled as noise (noise_class 2, LAS classes 7 and 18) belong to no model (default)
        align_scans           scans that show a tree at different places, as in wind, are moved onto each other along its branches,
                              default True; False: only told
        include_models        return cylinders and shoots, default True
        twig_radius_mm, axis_termination, fork_symmetry, w_growthlength, w_area, w_colinear, radius_model
                              as in build_qsm

        Each result has tree_id, success, error, code, points_in_tree, points_used, voxel_m, view_fit, enlarged_by and metrics; a tree without a
        model says why in its own error.
        """
        return self._run(_session(session_id, "tree_qsm"), {}, fields, on_progress)

    # Leaf area density

    def backfill_misses(
        self, session_id: str, origin: Any, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Recovers the pulses of a scan that returned nothing, which lad_compute needs; the points do not change.

        origin                          (3) scanner position, metres, stored frame (true world less world_shift)
        origin_known                    False: origin is a placeholder; needs a trajectory
        n_theta, n_phi                  rows and columns of the scan raster
        theta_min, theta_max            zenith angles of the sweep, degrees, default 0 and 180; both are needed where the
                                        time stamps show pulses of a line without any return
        phi_min, phi_max                bearings of the sweep, degrees, default 0 and 360
        tilt_roll_deg, tilt_pitch_deg   tilt of the scanner about +x, then about +y, after its heading
        azimuth_offset_deg              heading of the scanner
        beam_exit_diameter              diameter of the beam at the scanner, metres
        beam_divergence                 mrad; returns of one pulse may lie that far apart
        trajectory                      poses of a moving scanner as in lad_compute, stored frame, with "boresight_rpy": (3)
        """
        return self._run(_session(session_id, "backfill-misses"), {"origin": origin}, fields, on_progress)

    def lad_compute(
        self, scans: Any, grid: Dict[str, Any], on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Inverts the leaf area density of voxels from the pulses of scans, hits and misses: `cells`, totals, warnings.

        scans                  a list of {"origin": (3), and "session_id": ..., or "points": (n, 3) with "scalar_columns":
                               {"is_miss", "timestamp", "target_index", "target_count", "origin_x", "origin_y",
                               "origin_z", "intensity", "wood_class"}, or "file_path", "ascii_format" with "allow_file_source";
                               "return_type": single (default) or multi; "leaf_intensity" of a leaf that fills the beam
                               and faces it; "trajectory": {"poses": [{"t", "x", "y", "z", "qx", "qy", "qz",
                               "qw"}], "lever_arm": (3)} of a moving scanner; "label"}, metres, world
        grid                   {"center": (3), "size": (3), "nx", "ny", "nz", "rotation": degrees, "column_offsets",
                               "kept_columns"}, metres, world; at most 1 million voxels
        terrain_follow         raise the columns of the grid to dem
        dem                    {"grid_z", "nx", "ny", "cell", "origin": (2), "nodata"}, metres, world
        safety_fraction        clearance above dem, as a fraction of the height of a voxel, default 0.1
        min_voxel_hits         beams that must reach a voxel, default 5
        element_width          width of a leaf, metres, default 0.05; <= 0: only the sampling error
        gtheta_override        True: the leaf projection function is gtheta, 0..1, or gtheta_spec; otherwise it comes from
                               an angular triangulation of the scans
        lmax, max_aspect_ratio  longest edge of its triangles, metres, default 0.1, and longest / shortest edge, default 4
        gtheta_spec            {"spatial": "constant", "spec": value} or {"spatial": "profile", "profile": [value per
                               layer]}; a value is {"kind": "constant", "value"}, {"kind": "dewit", "dewit": law} or
                               {"kind": "beta", "beta_mu", "beta_nu"}
        gtheta                 the same for all voxels
        gtheta_per_beam        each beam has the G of its own angle, from a gtheta_spec with a distribution or from triangles of
                               the scans; default False: the mean over all beams, unless triangles say that they differ
        mesh_vertices, mesh_indices, mesh_scan_ids  triangles of leaves to use instead: (3 * V) metres, (3 * T) and (T)
                               the scan that each was seen from
        return_weights         equal (default): the returns of a pulse count alike; energy: by intensity over leaf_intensity
                               and the mean cosine at which beams meet leaves; only scans of several returns per pulse
        occlusion_threshold_m  a voxel with less path of all beams together is occluded, metres; default 100 mean edges
        wood_split             {"slug": column of the labels, default wood_class, "wood_values": default [1], "leaf_values":
                               default [2]}: leaves and wood apart, by the shares of their hits in each voxel
        check_clumping         compare with voxels of half the edges and warn of leaves in clumps, default True
        fill_occluded          estimate occluded voxels by kriging, default False
        capture_recapture      {"range_noise_m": standard deviation of the ranges, metres, default 0}: leaf area of the
                               whole grid besides, from what several static scanners see of the same places
        """
        return self._run("/api/lad/compute", {"scans": scans, "grid": grid}, fields, on_progress)

    # Surfaces

    def triangulate(
        self, method: str = "ball_pivoting", on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Frame:
        """Meshes points: buffers vertices, indices, normals, and with a grid triangle_cell_ids.

        meta has surface_area (square metres) and relief: area_ratio, what noise makes of it, two_faced_share, how much
        of it is both faces of something thin, such as a leaf, and far_share, how much is drawn between sparse points.

        method                 ball_pivoting (default), poisson, alpha_shape or delaunay
        points                 (n, 3) hits, metres, or
        source                 {"session_id": ..., "max_points", "translation"}; world coordinates, or
        sources                a list of these, meshed together with the points
        crop_box               [min x, min y, min z, max x, max y, max z], metres
        crop_box_rotation_deg  rotation of the box about +z, degrees
        grid                   {"center": (3), "size": (3), "nx", "ny", "nz", "rotation": degrees, "column_offsets",
                               "kept_columns"}, metres: keep the triangles in its cells
        radii                  ball_pivoting: radii of the balls, metres; default from the spacing of the points,
                               or the gaps between the rows of a scan
        depth                  poisson: deepest level of the octree, default 8
        normal_radius, normal_max_nn  ball_pivoting, poisson: neighbours for a normal, default 0.1 m and 30
        estimate_normals       True (default): ball_pivoting and poisson need normals
        alpha                  alpha_shape: radius of the ball, metres; default twice the mean point spacing, or
                               what spans the gaps of the surface where that is more
        world_shift            (3) metres, subtracted from every vertex before conversion to float32
        """
        return self._frame("/api/triangulate", {**fields, "method": method}, on_progress)

    def triangulate_scans(
        self, scans: List[Dict[str, Any]], on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Frame:
        """Meshes the surfaces that scans see, each in the directions from its scanner.

        Buffers vertices (f32), triangles, triangle_scan_ids and triangle_cell_ids (u32); meta has the counts of
        dropped triangles and an estimate of lmax.

        scans             list of {"origin": (3), "session_id"} or {"origin": (3), "points": (n, 3), "scalar_columns":
                          {"is_miss", "target_index", "target_count", "timestamp": (n) each}}, metres, world; each
                          may have n_theta, n_phi, theta_min, theta_max, phi_min, phi_max (degrees); the beam
                          origins of a session that has them must be one place
        lmax              longest edge that is kept, metres, default 0.5
        max_aspect_ratio  largest longest / shortest edge that is kept, default 4
        theta_min, theta_max, phi_min, phi_max  angles of scans without their own, degrees, default 30, 130, 0, 360
        grid              {"center": (3), "size": (3), "nx", "ny", "nz", "rotation": degrees, "column_offsets",
                          "kept_columns"}, metres: use the points in its cells; default all points
        bin_grid          grid that follows the terrain, used instead of grid
        world_shift       (3) metres, subtracted from every vertex before conversion to float32
        """
        return self._frame("/api/triangulate/lidar", {**fields, "scans": scans}, on_progress)

    def check_spacing(self, scans: List[Dict[str, Any]], **fields: Any) -> Dict[str, Any]:
        """Compares lmax with the spacing of the points: median_spacing (metres), ratio, likely_bridging, message.

        A failure is in error. It takes the fields of triangulate_scans:

        scans           list of scans with their origin and session or points; misses are left out
        lmax            longest edge to judge, metres, default 0.5
        grid, bin_grid  only the points inside its cells count; default all points
        max_aspect_ratio, theta_min, theta_max, phi_min, phi_max, world_shift  do not change the answer
        """
        return self._json("POST", "/api/triangulate/check-spacing", {"scans": scans}, fields)

    # LiDAR

    def lidar_scan(
        self,
        meshes: List[Dict[str, Any]],
        scanners: List[Dict[str, Any]],
        on_progress: Optional[OnProgress] = None,
        **fields: Any,
    ) -> Frame:
        """Scans meshes by ray tracing. meta["scanners"] has a session and the names of the buffers of each scanner.

        meshes         [{"vertices": (V, 3) metres, "triangles": (T, 3), "colors", "uv_coordinates", "materials",
                       "organ_codes", "origin"}]; their lists may be flat arrays of float32 and uint32. The fields
                       of a plant's frame with instances are accepted as well
        scanners       [{"id", "origin": (3), "n_theta", "n_phi", "theta_min_deg", "theta_max_deg", "phi_min_deg",
                       "phi_max_deg", "scan_pattern", "return_mode", "exit_diameter_m", "beam_divergence_mrad",
                       "range_noise_m", "angle_noise_mrad", "trajectory", "pulse_rate_hz", ...}]
        extra_fields   further fields of each hit: deviation, nRaysHit, organ
        retained_standard_fields   which of intensity, distance, timestamp, target_index, target_count the sessions
                       offer for colouring; default all
        rays_per_pulse             rays across the beam, default 100; 1 = one exact ray
        pulse_distance_threshold   hits closer than this merge into one return, metres, default 0.02
        detection_threshold        weaker returns are not seen, share of the energy of a pulse, default 0
        seed                       of the random numbers, default 20240607
        record_misses              keep pulses without a return in the sessions, default False
        grid, scan_grid_only       {"center", "size", "rotation"}: with scan_grid_only, nothing outside exists
        synthetic_scan_memory_budget_mb   memory for rays in flight, MiB, default 4096; the result is the same
        """
        return self._frame("/api/lidar/scan", {**fields, "meshes": meshes, "scanners": scanners}, on_progress)

    def parse_trajectory(self, path: str, **fields: Any) -> Dict[str, Any]:
        """Reads a binary trajectory (SBET) on the service's machine: poses in UTM, FRD body axes.

        path          absolute path of the file
        format        "sbet" or "out"; default from the extension
        smrmsg_path   accuracy file, whose worst position error is reported in warnings
        target_poses  number of poses to thin out to, default 3000
        """
        return self._json("POST", "/api/trajectory/parse", {"path": path}, fields)

    # Registration

    def mesh_distance(
        self, mesh_vertices: Any, mesh_indices: Any, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Measures the distances from points to a mesh: mean, percentiles, bands, histogram.

        mesh_vertices  (3 * V) x, y, z of each vertex in turn, metres, in the frame of the points
        mesh_indices   (3 * T) vertices of each triangle, from 0
        points         (3 * n) x, y, z of each point in turn, metres, or
        source         {"session_id": ..., "max_points", "translation"}; world coordinates
        signed         also compute signed_mean and signed_std, negative inside a closed mesh, default False
        bands_m        distances to count the points up to, metres; their shares are in `bands`
        write_column   also store the distances as column mesh_distance of the session, default False

        The names points_within_1mm, _5mm, _10mm are not their distances: these are in band_thresholds_m.
        """
        body = {"mesh_vertices": mesh_vertices, "mesh_indices": mesh_indices}
        return self._run("/api/c2m/distance", body, fields, on_progress)

    def cloud_register(self, on_progress: Optional[OnProgress] = None, **fields: Any) -> Dict[str, Any]:
        """Finds the rigid motion of the source cloud onto the target cloud (ICP).

        target_points, source_points   (3 * n) x, y, z of each point in turn, metres, or
        target_source, source_source   {"session_id": ..., "max_points", "translation"}; world coordinates
        initial                        start: "centroid": centroids, or as placed if that fits better; "auto": searched
                                       among all turns and shifts, needs no rough alignment; default: centroid, and
                                       auto where the pose is in doubt and a better one is found (warnings)
        init_transform                 (16) start, 4 x 4 row-major, instead of initial
        method                         "gicp" (default), "point_to_plane" or "point_to_point"
        max_correspondence_distance    metres, default 5 % of the size of the target
        max_iterations, rmse_threshold default 100 and 1e-6 m

        transformation_matrix of the answer moves the source; look at quality_warning, kept_start and warnings before using it.
        """
        return self._run("/api/c2c/icp-register", {}, fields, on_progress)

    def mesh_register(
        self, mesh_vertices: Any, mesh_indices: Any, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Finds the rigid motion of a mesh onto points (ICP).

        mesh_vertices  (3 * V) x, y, z of each vertex in turn, metres, in the frame of the points
        mesh_indices   (3 * T) vertices of each triangle, from 0
        points         (3 * n) x, y, z of each point in turn, metres, or
        source         {"session_id": ..., "max_points", "translation"}; world coordinates
        initial, method, max_correspondence_distance, max_iterations, rmse_threshold: as for cloud_register
        """
        body = {"mesh_vertices": mesh_vertices, "mesh_indices": mesh_indices}
        return self._run("/api/c2m/icp-register", body, fields, on_progress)

    def mesh_pair_register(
        self,
        target_vertices: Any,
        target_indices: Any,
        source_vertices: Any,
        source_indices: Any,
        on_progress: Optional[OnProgress] = None,
        **fields: Any,
    ) -> Dict[str, Any]:
        """Finds the rigid motion of the source mesh onto the target mesh (ICP).

        target_vertices, source_vertices  (3 * V) x, y, z of each vertex in turn, metres, in one frame
        target_indices, source_indices    (3 * T) vertices of each triangle, from 0
        initial, method, max_correspondence_distance, max_iterations, rmse_threshold: as for cloud_register
        """
        body = {
            "target_vertices": target_vertices,
            "target_indices": target_indices,
            "source_vertices": source_vertices,
            "source_indices": source_indices,
        }
        return self._run("/api/m2m/icp-register", body, fields, on_progress)

    # Fits

    def fit_crown(
        self, source: Dict[str, Any], shape: str, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Fits a solid to the crown of each tree of a session: {"crowns": [...], "warnings": [...]}.

        source             {"session_id": ..., "max_points", "translation"}; world coordinates
        shape              ellipsoid, prism, cone or alpha
        strictness         0 = enclose every crown point; up to 1: leave strays outside, default 0.5
        tree_instance_ids  trees to fit; without, the whole cloud is one tree with the number 0
        use_leaf_only      use points with wood_class 2 alone, default False
        ground_baseline    where heights begin: "min_z" (default) or "ground_class"
        alpha              radius of an alpha shape, metres; default: as small as suffices

        Each crown has vertices, triangles and normals as flat lists, metrics and params. Trees without a crown are named in
        warnings.
        """
        return self._run("/api/fit/crown", {"source": source, "shape": shape}, fields, on_progress)

    def fit_prospect(self, wavelengths: Any, reflectance: Any, **fields: Any) -> Dict[str, Any]:
        """Estimates leaf traits from a reflectance spectrum (PROSPECT): {"parameters": {"Cab": {"value": ...}, ...}, ...}.

        wavelengths     nm, in any order; those outside 400..2500 are not used
        reflectance     of the leaf at each wavelength, 0..1
        model           "D" (default): dry matter; "PRO": protein and other carbon instead
        inversion       "full" (default), "likelihood": the most probable leaf, or "windowed": each trait from its bands
        n_starts        starts of the search, default 6
        do_calib        also fit a_scale * R + b_offset; default True for full, else False

        For the full inversion alone:
        vis_weight, vis_min, vis_max                factor of the visible band's weight and the band, default 6, 380, 750 nm
        green_center, rededge_center, violet_center centres of the windows, default 550, 705, 410 nm
        window_sigma, feature_boost, violet_boost   their width and weights, default 20 nm, 2, 2
        loss, f_scale                               linear, soft_l1 (default), huber, cauchy or arctan; its scale, default 0.08
        stage1                                      fit the visible part first, default True

        Also rmse, r_squared, n_points, converged, wavelengths, measured_spectrum, fitted_spectrum, residuals (fitted -
        measured), message, warnings. Each parameter has value, std_error, at_bound, symbol, units, description.
        """
        body = {"wavelengths": wavelengths, "reflectance": reflectance}
        return self._json("POST", "/api/fit/prospect", body, fields)

    def fit_custom(
        self,
        parameters: Sequence[Dict[str, Any]],
        inputs: Sequence[Dict[str, str]],
        outputs: Sequence[Dict[str, str]],
        column_mappings: Dict[str, str],
        data: Dict[str, Sequence[float]],
        model_type: str = "user",
        **fields: Any,
    ) -> Dict[str, Any]:
        """Fits an equation, or a built-in model, to columns of numbers: {"parameters": {name: {"value", "std_error", ...}}}.

        parameters        [{"name", "symbol", "default", "boundsLow", "boundsHigh", "fixed", "fixedValue"}]
        inputs, outputs   [{"name", "symbol"}]; the first output with a column is fitted
        column_mappings   {"input_x": column, "output_y": column}
        data              {column: numbers}
        model_type        "user": `equation`; "builtin": the model `model_id` of list_models
        equation          the output as an expression of the symbols
        equation_type     explicit (default), or implicit: 0 = equation
        model_id          id of a built-in model
        constants         [{"name", "symbol", "value"}]
        max_iterations    default 1000; the residuals are evaluated at most 10 times as often
        loss              linear (default), soft_l1, huber, cauchy or arctan, with loss_scale (unit of the output, default 1)
        more_starts       True: try other starts where the given one fails, default
        confidence_level  of the intervals, default 0.95
        profile           True: intervals by the profile likelihood too
        """
        request = {
            "model_type": model_type,
            "parameters": parameters,
            "inputs": inputs,
            "outputs": outputs,
            "column_mappings": column_mappings,
            "data": data,
        }
        return self._json("POST", "/api/fit/custom", request, fields)

    def fit_table(self, path: str, model_category: str, model_type: str, **fields: Any) -> Dict[str, Any]:
        """Fits a built-in model to each curve of a table: {"parameters": {...}, "curves": [...], "converged", ...}.

        path            table on this machine (.csv, .txt, .xlsx), sent as form part `file`; units in brackets after the name
                        of a column, or in a row below the header, are converted to those of list_models, and told
        model_category  photosynthesis, stomatal, hydraulics or generic
        model_type      id of list_models
        method          auto (default) or levenberg_marquardt: no further starts
        max_iterations  default 1000
        """
        call, texts = _parted({"model_category": model_category, "model_type": model_type}, fields)
        head, tail, boundary = _form(os.path.basename(path), texts)
        with open(path, "rb") as file:
            body = head + file.read() + tail
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return _checked(json.loads(self._call("POST", "/api/fit", body, headers, call)))

    def list_models(self, **call: Any) -> Dict[str, Any]:
        """The built-in models of curves: {category: {id: {"name", "equation", "required_data", ...}}}."""
        return self._json("GET", "/api/models", None, call)

    def render_latex(self, equation: str, **fields: Any) -> Dict[str, Any]:
        """Renders an equation as LaTeX: {"success": True, "latex": "y = a x + b"}.

        equation       as in Python: + - * / ** brackets and functions; the first line is used
        output_symbol  left side of an explicit equation, default "y"
        equation_type  "explicit" (default) or "implicit": 0 = equation

        An equation that cannot be read is shown as text, and a warning says why.
        """
        return self._json("POST", "/api/latex", {"equation": equation}, fields)

    def export_results(self, model_name: str, parameters: Dict[str, Any], **fields: Any) -> bytes:
        """Returns the result of a fit as a file: a workbook with the sheets Parameters, Data and Metadata.

        model_name       name of the model
        parameters       by name: a value, or {"value", "std_error", "fixed", "symbol", "units", "description"}
        model_type, equation, file_name, model_tags   of the model and its data
        y_column_name    name of the modelled column, default "Y"
        input_data       {column: numbers}; the first column determines the number of rows
        y_measured, fitted_values, residuals          a number per row; None = an empty cell
        r_squared, rmse, n_points, max_iterations     of the fit
        format           "xlsx" (default), "csv" or "json"
        """
        call, body = _parted({"model_name": model_name, "parameters": parameters}, fields)
        data, headers = _body(body)
        return self._call("POST", "/api/export", data, headers, call)

    def latest_latex(self, **call: Any) -> Dict[str, Any]:
        """The most recent rendering of an equation; ApiError 404 if there is none."""
        return self._json("GET", "/api/latex", None, call)

    # Plants

    def plant_models(self, **call: Any) -> Dict[str, Any]:
        """Lists the species: models (ids), details (names, groups), problems of the files in APP_SPECIES_DIR."""
        return self._json("GET", "/api/plant/models", None, call)

    def generate_plant(self, on_progress: Optional[OnProgress] = None, **fields: Any) -> Frame:
        """Grows one plant: buffers vertices, normals, colors, organ_codes, ... relative to the meta's origin, sim_xml.

        plant_type                          species, default bean
        age                                 days, default 30
        position_x, position_y, position_z  base of the plant, default 0
        random_seed                         the same seed gives the same plant; None = a different one each time
        leaf_inclination                    {"beta_mu", "beta_nu"}, mean inclination 90 * beta_nu / (beta_mu + beta_nu)
        instances                           prototypes once and a matrix per organ and tube segment instead of triangles,
                                            default False

        The meta's session_id is a session in which the plant can grow on. plant_document gives sim_xml as text.
        """
        return self._frame("/api/plant/generate", fields, on_progress)

    def generate_canopy(self, on_progress: Optional[OnProgress] = None, **fields: Any) -> Frame:
        """Grows a grid of plants: buffers as in generate_plant, of all plants; sim_xml of the first one.

        plant_type, age, random_seed, leaf_inclination, instances   as in generate_plant
        center_x, center_y, center_z   centre of the canopy, default 0
        spacing_x, spacing_y           distances between plants, default 0.5
        count_x, count_y               plants along x and y, default 3
        germination_rate               probability 0..1 that a place has a plant, default 1
        """
        return self._frame("/api/plant/canopy/generate", fields, on_progress)

    def stream_plant(self, on_progress: Optional[OnProgress] = None, **fields: Any) -> Dict[str, Any]:
        """Grows a plant or a canopy as lists, with progress as Server-Sent Events.

        mode  "single" (default) with plant_type, age, position_x, position_y, position_z, random_seed, leaf_inclination
              "canopy" with plant_type, age, center_x, center_y, center_z, spacing_x, spacing_y, count_x, count_y,
              germination_rate, random_seed, leaf_inclination
        """
        call, body = _parted({}, fields)
        data, headers = _body(body)
        headers["accept"] = "text/event-stream"
        answer = self._call("POST", "/api/plant/generate/stream", data, headers, call, _EventReader(on_progress))
        return _checked(json.loads(answer))

    def create_plant_session(self, **fields: Any) -> Dict[str, Any]:
        """Starts a plant that can grow on; its mesh comes from advance_plant with dt=0.

        initial_age   days, default 1
        plant_type, position_x, position_y, position_z, random_seed, leaf_inclination   as in generate_plant
        """
        return self._json("POST", "/api/plant/session/create", {}, fields)

    def advance_plant(self, session_id: str, **fields: Any) -> Dict[str, Any]:
        """Grows the plant of a session on and returns its mesh as lists.

        dt  days, default 1; 0 = the mesh only
        """
        return self._json("POST", f"{_plant(session_id)}/advance", {}, fields)

    def plant_session(self, session_id: str, **call: Any) -> Dict[str, Any]:
        """Returns age and height of a session's plant; counts as a use."""
        return self._json("GET", _plant(session_id), None, call)

    def close_plant_session(self, session_id: str, **call: Any) -> Dict[str, Any]:
        """Closes a plant session."""
        return self._json("DELETE", _plant(session_id), None, call)

    def plant_sessions(self, **call: Any) -> Dict[str, Any]:
        """Lists the plant sessions: session_id, plant_type, current_age, created_at (seconds since 1970)."""
        return self._json("GET", "/api/plant/sessions", None, call)

    def parse_morph(self, sim_xml: str, plant_type: str, **fields: Any) -> Dict[str, Any]:
        """Reads a structure document into editable values, and checks an expression.

        sim_xml     structure document of a plant
        plant_type  its species
        expression  edits, such as "proleptic.insertion_angle_tip = 40; leaf_scale *= 1.2"
        """
        return self._json("POST", "/api/plant/morph/parse", {"sim_xml": sim_xml, "plant_type": plant_type}, fields)

    def morph_plant(self, sim_xml: str, plant_type: str, **fields: Any) -> Dict[str, Any]:
        """Rebuilds a plant from an edited structure document and keeps it in a session; sim_xml, plant_type and expression
        as in parse_morph."""
        return self._json("POST", "/api/plant/morph", {"sim_xml": sim_xml, "plant_type": plant_type}, fields)

    # Projects

    def stage_scene(self, document: bytes, **call: Any) -> Dict[str, Any]:
        """Stages a scene document (PSC1, any bytes) for one save: {"token": ..., "bytes": ...}. Unused, it expires after an
        hour."""
        headers = {"content-type": "application/octet-stream"}
        return _checked(json.loads(self._call("POST", "/api/project/scene", document, headers, call)))

    def project_scene(self, token: str, **call: Any) -> bytes:
        """Downloads the scene document of an opened project; the token is for one use."""
        return self._call("GET", f"/api/project/scene/{quote(token, safe='')}", None, {}, call)

    def save_project(
        self, path: str, scene_token: str, on_progress: Optional[OnProgress] = None, **fields: Any
    ) -> Dict[str, Any]:
        """Saves clouds, their display and a staged scene as one project file (.proj).

        path         absolute, on the service's machine
        scene_token  of stage_scene; it is used up, whatever the outcome
        session_ids  sessions to save; those that are not open are in missing_sessions of the answer
        octree_ids   other octrees that the scene shows
        overwrite    True: replace any file at path; False (default): replace projects and exports only
        """
        body = {"path": path, "scene_token": scene_token}
        return self._run("/api/project/save", body, fields, on_progress)

    def open_project(self, path: str, on_progress: Optional[OnProgress] = None, **fields: Any) -> Dict[str, Any]:
        """Opens a project file as new sessions: {"session_map", "octree_map", "scene_token", "warnings", "app_version"}.

        path  absolute, on the service's machine

        session_map and octree_map have the new id of each id in the file; project_scene downloads the scene.
        """
        return self._run("/api/project/open", {"path": path}, fields, on_progress)

    # Calls

    def _json(self, method: str, path: str, body: Optional[Dict[str, Any]], fields: Dict[str, Any]) -> Dict[str, Any]:
        call, body = _parted(body, fields)
        data, headers = _body(body)
        return _checked(json.loads(self._call(method, path, data, headers, call)))

    def _points(self, path: str, body: Dict[str, Any], fields: Dict[str, Any]) -> Points:
        call, body = _parted(body, fields)
        return _decode_points(self._call("POST", path, _encoded(body), {"content-type": "application/json"}, call))

    def _run(
        self, path: str, body: Optional[Dict[str, Any]], fields: Dict[str, Any], on_progress: Optional[OnProgress]
    ) -> Dict[str, Any]:
        return _checked(json.loads(self._stream(path, body, fields, on_progress)))

    def _frame(self, path: str, fields: Dict[str, Any], on_progress: Optional[OnProgress]) -> Frame:
        frame = _decode_frame(self._stream(path, {}, fields, on_progress))
        _checked(frame.meta)
        return frame

    def _stream(
        self, path: str, body: Optional[Dict[str, Any]], fields: Dict[str, Any], on_progress: Optional[OnProgress]
    ) -> bytes:
        call, body = _parted(body, fields)
        data, headers = _body(body)
        headers["accept"] = "application/octet-stream"
        return self._call("POST", path, data, headers, call, _RunReader(on_progress))

    def _call(
        self,
        method: str,
        path: str,
        body: Any,
        headers: Dict[str, str],
        call: Dict[str, Any],
        reader: Optional[_RunReader] = None,
    ) -> bytes:
        """Returns the body of a response; for a run, its tail. Errors: ApiError."""
        cancel, timeout = call.pop("cancel", None), call.pop("timeout", None)
        if call:
            raise TypeError(f"unexpected argument: {', '.join(call)}")
        seconds = self._timeout if timeout is None else timeout
        if self._token is not None:
            headers = {**headers, "authorization": f"Bearer {self._token}"}
        if cancel is not None and cancel.is_set():
            raise CanceledError(0, "canceled", "canceled before it began")
        connection = http.client.HTTPConnection(self._host, self._port, timeout=seconds)
        with _Watch(self, connection, cancel, reader):
            try:
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                if response.status >= 300:
                    raise _refusal(response.status, response.reason, response.read())
                if reader is None:
                    return response.read()
                return reader.read(response)
            except ApiError:
                raise
            except Exception as error:
                if cancel is not None and cancel.is_set():
                    raise CanceledError(0, "canceled", "canceled") from error
                if isinstance(error, socket.timeout):
                    raise ApiError(0, "timeout", f"no answer from {path} within {seconds} s") from error
                if isinstance(error, (OSError, http.client.HTTPException)):
                    raise ApiError(0, "network", f"{path}: the connection to the service failed: {error}") from error
                raise
            finally:
                connection.close()


class _Watch:
    """Stops a call when its event is set: cancels the run by its id if that is known, else drops the connection."""

    def __init__(
        self,
        client: PointCloudClient,
        connection: http.client.HTTPConnection,
        cancel: Optional[threading.Event],
        reader: Optional[_RunReader],
    ) -> None:
        self._client, self._connection, self._cancel, self._reader = client, connection, cancel, reader
        self._done = threading.Event()

    def __enter__(self) -> None:
        if self._cancel is not None:
            threading.Thread(target=self._wait, daemon=True).start()

    def __exit__(self, *_: Any) -> None:
        self._done.set()

    def _wait(self) -> None:
        while not self._done.wait(0.05):
            if self._cancel is not None and self._cancel.is_set():
                self._stop()
                return

    def _stop(self) -> None:
        run_id = self._reader.run_id if self._reader else None
        if run_id is not None:
            try:
                self._client.cancel(run_id, timeout=_CANCEL_WAIT_S)
            except ApiError:
                pass  # dropping the connection also cancels the run
            if self._done.wait(_CANCEL_WAIT_S):
                return
        stream = self._connection.sock
        if stream is not None:
            try:
                stream.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the connection is already closed


class _RunReader:
    """Reads (whitespace | PHP1 marker)* tail."""

    def __init__(self, on_progress: Optional[OnProgress]) -> None:
        self.run_id: Optional[str] = None
        self._on_progress = on_progress
        self._error: Optional[str] = None

    def read(self, response: http.client.HTTPResponse) -> bytes:
        """Returns the tail. Errors: CanceledError; ApiError for a run that failed or a response that was cut off."""
        pending = b""
        tail: List[bytes] = []
        while True:
            chunk = response.read1(_BLOCK)
            if not chunk:
                break
            if tail:
                tail.append(chunk)
                continue
            pending = self._markers(pending + chunk)
            if pending and not b"PHP1".startswith(pending[:4]):
                tail, pending = [pending], b""
        body = b"".join(tail)
        if self._error is not None:
            raise _failed(self._error, body)
        if not body:
            raise ApiError(0, "network", "the answer ended before its result; the service may have stopped")
        return body

    def _markers(self, data: bytes) -> bytes:
        """Consumes the complete markers at the front and returns the remaining bytes."""
        while True:
            data = data.lstrip(_SPACE)
            if len(data) < 8 or not data.startswith(b"PHP1"):
                return data
            length = int.from_bytes(data[4:8], "little")
            if length > _MAX_MARKER_BYTES:
                raise ApiError(200, "invalid_file", f"a progress marker of {length} bytes is above the limit")
            if len(data) < 8 + length:
                return data
            self._take(data[8 : 8 + length])
            data = data[8 + length :]

    def _take(self, payload: bytes) -> None:
        try:
            marker = json.loads(payload)
        except ValueError:
            return  # the format demands that a marker that does not parse is skipped
        self.run_id = marker.get("run_id", self.run_id)
        if marker.get("canceled") or marker.get("cancelled"):
            raise CanceledError(200, "canceled", "the run was canceled")
        if marker.get("error"):
            self._error = marker["error"]
        elif self._on_progress is not None:
            self._on_progress(Progress(marker.get("progress"), marker.get("message", ""), self.run_id))


class _EventReader(_RunReader):
    """Reads Server-Sent Events up to the last one, and returns the data of the result."""

    def read(self, response: http.client.HTTPResponse) -> bytes:
        event, data = "message", []
        for line in response:
            field, _, value = line.rstrip(b"\r\n").partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if field == b"event":
                event = value.decode()
            elif field == b"data":
                data.append(value)
            elif not line.strip() and data:
                result = self._event(event, b"\n".join(data))
                if result is not None:
                    return result
                event, data = "message", []
        raise ApiError(0, "network", "the answer ended before its result; the service may have stopped")

    def _event(self, event: str, data: bytes) -> Optional[bytes]:
        if event == "result":
            return data
        if event == "run_id":
            self.run_id = json.loads(data)["run_id"]
        elif event == "canceled":
            raise CanceledError(200, "canceled", "the run was canceled")
        elif event == "error":
            detail = json.loads(data)
            raise ApiError(200, detail.get("code"), detail["detail"], detail)
        elif event == "progress" and self._on_progress is not None:
            step = json.loads(data)
            self._on_progress(Progress(step["progress"], step["message"], self.run_id))
        return None


def _failed(message: str, tail: bytes) -> ApiError:
    try:
        detail = json.loads(tail)
    except ValueError:
        return ApiError(200, None, message)  # a frame endpoint: no tail follows the marker
    return ApiError(200, detail.get("code"), message, detail)


def _checked(answer: Any) -> Any:
    """Returns the response, or raises if it reports a failure instead of a result."""
    if not isinstance(answer, dict):
        return answer
    error = answer.get("error")
    if answer.get("success") is False or ("success" not in answer and isinstance(error, str) and error):
        if answer.get("canceled") or answer.get("cancelled"):
            raise CanceledError(200, "canceled", "the run was canceled", answer)
        raise ApiError(200, answer.get("code"), error or "the operation failed without a reason", answer)
    return answer


def _refusal(status: int, reason: str, body: bytes) -> ApiError:
    try:
        answer = json.loads(body)
    except ValueError:
        return ApiError(status, None, f"HTTP {status}: {reason}")
    detail, code = answer.get("detail"), answer.get("code")
    inner = detail.get("message") if isinstance(detail, dict) else None
    message = detail if isinstance(detail, str) else inner or answer.get("message") or f"HTTP {status}: {reason}"
    if isinstance(detail, dict) and "cost_warning" in detail:
        return CostWarning(status, code, message, detail)
    if code == "canceled":
        return CanceledError(status, code, message, detail)
    return ApiError(status, code, message, detail)


def _parted(body: Optional[Dict[str, Any]], fields: Dict[str, Any]) -> Tuple[Dict[str, Any], Optional[Dict[str, Any]]]:
    """Separates the options of the call from the fields of the request body."""
    call = {key: value for key, value in fields.items() if key in ("cancel", "timeout")}
    rest = {key: value for key, value in fields.items() if key not in call}
    if body is None:
        return {**call, **rest}, None
    return call, {**body, **rest}


def _body(body: Optional[Dict[str, Any]]) -> Tuple[Optional[bytes], Dict[str, str]]:
    """The body of a request and its type: a PHB1 frame if a list is an array of float32 or uint32, otherwise JSON."""
    if body is None:
        return None, {}
    buffers: Dict[str, Tuple[str, bytes]] = {}
    others = _without_arrays(body, "", buffers)
    if not buffers and "frame_origin" not in body:
        return _encoded(body), {"content-type": "application/json"}
    meta: Dict[str, Any] = {"request": {key: others[key] for key in others if key != "frame_origin"}}
    if "frame_origin" in body:
        meta["origin"] = list(body["frame_origin"])
    entries = [{"name": name, "dtype": dtype, "length": len(data) // 4} for name, (dtype, data) in buffers.items()]
    header = _encoded({"meta": meta, "buffers": entries})
    header += b" " * (-len(header) % 4)
    parts = [b"PHB1", len(header).to_bytes(4, "little"), header, *(data for _, data in buffers.values())]
    return b"".join(parts), {"content-type": "application/octet-stream"}


def _without_arrays(fields: Dict[str, Any], path: str, buffers: Dict[str, Tuple[str, bytes]]) -> Dict[str, Any]:
    """The fields without arrays of float32 and uint32, which are added to `buffers` under their paths."""
    others: Dict[str, Any] = {}
    for name, value in fields.items():
        buffer = _buffer(value) if path or name in _LISTS else None
        if buffer is not None:
            buffers[path + name] = buffer
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            others[name] = [_without_arrays(item, f"{path}{name}.{i}.", buffers) for i, item in enumerate(value)]
        else:
            others[name] = value
    return others


def _buffer(values: Any) -> Optional[Tuple[str, bytes]]:
    """Type and little-endian bytes of an array of float32 or uint32; None for other values."""
    if numpy is not None and isinstance(values, numpy.ndarray) and values.dtype in (numpy.float32, numpy.uint32):
        dtype = "f32" if values.dtype == numpy.float32 else "u32"
        return dtype, values.astype(values.dtype.newbyteorder("<")).tobytes()
    if isinstance(values, array.array) and values.itemsize == 4 and values.typecode in "fIL":
        if sys.byteorder == "big":
            values = array.array(values.typecode, values)
            values.byteswap()
        return "f32" if values.typecode == "f" else "u32", values.tobytes()
    return None


def _encoded(body: Dict[str, Any]) -> bytes:
    def plain(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()  # numpy and array.array
        raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")

    return json.dumps(body, default=plain, allow_nan=False).encode()


def _plant(session_id: str) -> str:
    return f"/api/plant/session/{quote(session_id, safe='')}"


def plant_document(frame: Frame) -> str:
    """The structure document of a plant's frame."""
    words = frame.buffers["sim_xml"]
    return words.tobytes().decode().rstrip(" ")


def _session(session_id: str, action: Optional[str] = None) -> str:
    path = f"/api/cloud/session/{quote(session_id, safe='')}"
    return path if action is None else f"{path}/{action}"


def _form(name: str, texts: Optional[Dict[str, Any]] = None) -> Tuple[bytes, bytes, str]:
    """What stands before and after the file of a form, and its boundary."""
    boundary = secrets.token_hex(16)
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    head = "".join(
        f'--{boundary}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in (texts or {}).items()
    )
    head += (
        f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{quoted}"\r\n'
        "content-type: application/octet-stream\r\n\r\n"
    )
    return head.encode(), f"\r\n--{boundary}--\r\n".encode(), boundary


def _chained(head: bytes, file: Any, tail: bytes) -> Iterator[bytes]:
    yield head
    while True:
        block = file.read(_BLOCK)
        if not block:
            break
        yield block
    yield tail


def _numbers(kind: str, data: memoryview) -> Any:
    """Decodes 4-byte little-endian elements of kind f32 or u32."""
    if numpy is not None:
        return numpy.frombuffer(data, dtype="<f4" if kind == "f32" else "<u4")
    out = array.array("f" if kind == "f32" else "I")
    if out.itemsize != 4:
        raise ApiError(200, "unsupported", "this machine has no 4-byte elements; install numpy")
    out.frombytes(data)
    if sys.byteorder == "big":
        out.byteswap()
    return out


def _decode_frame(body: bytes) -> Frame:
    """Decodes a PHB1 frame. Errors: ApiError (invalid_file) if the body is not a frame or was cut off."""
    if len(body) < 8 or body[:4] != b"PHB1":
        raise ApiError(200, "invalid_file", "the response is not a PHB1 frame")
    at = 8 + int.from_bytes(body[4:8], "little")
    if at > len(body):
        raise ApiError(200, "invalid_file", "the header of the frame was cut off")
    header = json.loads(body[8:at])
    buffers: Dict[str, Any] = {}
    view = memoryview(body)
    for entry in header["buffers"]:
        end = at + 4 * entry["length"]
        if entry["dtype"] not in ("f32", "u32") or end > len(body):
            raise ApiError(200, "invalid_file", f"buffer {entry['name']} was cut off or has an unknown type")
        buffers[entry["name"]] = _numbers(entry["dtype"], view[at:end])
        at = end
    return Frame(header["meta"], buffers)


def _decode_points(body: bytes) -> Points:
    """Decodes a PHX1 stream. Errors: ApiError (invalid_file) if the body is not a stream or was cut off."""
    if len(body) < 32 or body[:4] != b"PHX1":
        raise ApiError(200, "invalid_file", "the response is not a PHX1 point stream")
    count, has_colors, has_intensity = int.from_bytes(body[4:8], "little"), body[8], body[9]
    if len(body) < 32 + count * (12 + 12 * has_colors + 4 * has_intensity):
        raise ApiError(200, "invalid_file", f"the stream was cut off: its header announces {count} points")
    view, at = memoryview(body), 32

    def column(width: int) -> Any:
        nonlocal at
        begin, at = at, at + 4 * width * count
        values = _numbers("f32", view[begin:at])
        return values.reshape(count, width) if numpy is not None and width > 1 else values

    positions = column(3)
    colors = column(3) if has_colors else None
    return Points(count, positions, colors, column(1) if has_intensity else None, int.from_bytes(body[10:14], "little"))
