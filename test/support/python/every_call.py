"""Calls every method of the client once and checks what comes back. argv: url, token, folder."""

import array
import json
import math
import os
import struct
import sys
import threading
import time

if os.environ.get("WITHOUT_NUMPY"):
    sys.modules["numpy"] = None

from point_cloud_client import ApiError, CanceledError, CostWarning, PointCloudClient, plant_document

url, token, folder = sys.argv[1:]
called = set()


class Counting(PointCloudClient):
    """Notes which methods were called."""

    def __getattribute__(self, name):
        if not name.startswith("_"):
            called.add(name)
        return super().__getattribute__(name)


client = Counting(url, token)


def refused(call, status, code):
    """The error of a call that must fail so."""
    try:
        call()
    except ApiError as error:
        assert (error.status, error.code) == (status, code), (error.status, error.code, error.message)
        return error
    raise AssertionError(f"no {status}")


def flat(values):
    return values.reshape(-1).tolist() if hasattr(values, "reshape") else list(values)


# The service
assert client.version()["version"] == client.root()["version"] == client.health()["version"]
assert client.device_info()["effective_path"] in ("gpu", "cpu")
assert client.cancel("0" * 32) == {"canceled": False, "cancelled": False, "run_id": "0" * 32}
refused(lambda: PointCloudClient(url, "wrong-token-wrong-token").root(), 401, "unauthorized")
assert PointCloudClient(url).version()["version"]

# Files
scan = os.path.join(folder, "scan.txt")
side = 40
with open(scan, "w") as file:
    file.write("x y z class\n")
    for i in range(side):
        for j in range(side):
            file.write(f"{i * 0.5} {j * 0.5} {0.01 * i} {1 + (i >= side // 2)}\n")
count = side * side
assert client.preview(scan, max_rows=3)["columns"][0]["detected_role"] == "x"
points = client.import_by_path(scan, world_shift=[1, 2, 0])
assert points.point_count == count and flat(points.positions)[:3] == [-1.0, -2.0, 0.0], flat(points.positions)[:3]
assert points.colors is None and points.intensity is None
refused(lambda: client.import_by_path("/data/missing.las"), 404, "not_found")
las = os.path.join(folder, "copy.las")
inline = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [0.0, 1.0, 0.25]]
if sys.modules.get("numpy") is not None:
    import numpy

    assert points.positions.shape == (count, 3) and points.positions.dtype == numpy.float32
    inline = numpy.array(inline)
written = client.export_cloud(points=inline, colors=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], format="las", dest_path=las)
assert written["point_count"] == 3 and os.path.getsize(las) > 227
scans = client.export_scans(scans=[{"origin": [0, 0, 2], "points": inline, "label": "tree"}], base_name="plot")
assert scans["success"] and [file["name"] for file in scans["files"]] == ["plot.xml", "plot_tree.xyz"], scans
uploaded = client.import_file(las)
assert flat(uploaded.positions)[3:6] == [1.0, 0.0, 0.5] and flat(uploaded.colors)[:3] == [1.0, 0.0, 0.0]
refused(lambda: client.import_file(scan), 400, "invalid_argument")
stored = client.upload_file(las)
assert stored["bytes"] == os.path.getsize(las) and stored["name"] == os.path.basename(las), stored
assert client.import_by_path(stored["path"]).point_count == 3
assert client.delete_upload(stored["upload_id"])["deleted"] and not os.path.exists(stored["path"])

# Sessions
steps = []
cloud = client.create_session(scan, on_progress=steps.append)
a = cloud["session_id"]
assert [(s["session_id"], s["state"]) for s in client.list_sessions() if s["session_id"] == a] == [(a, "ready")]
assert steps[0].run_id and all(step.run_id == steps[0].run_id for step in steps)
fractions = [step.progress for step in steps if step.progress is not None]
assert fractions == sorted(fractions) and fractions
refused(lambda: client.create_session("/data/missing.las"), 404, "not_found")
issues = refused(lambda: client.create_session(5), 422, "validation")
assert "source_path" in issues.message and isinstance(issues.detail, list)
box = {"kind": "box", "min": [-1, -1, -1], "max": [4.9, 100, 100]}
assert client.delete_region(a, box)["deleted_count"] == 10 * side
assert client.reset_edits(a)["deleted_count"] == 0
stroke = {"stroke_id": "one", "region": box, "to_class": 3}
assert client.label_region(a, [stroke], slug="mine")["applied"][0]["changed_count"] == 10 * side
tree = {**stroke, "to_class": 7}
client.label_region(a, [tree], slug="tree_instance")
listed = client.tree_inventory(a, min_points=1, on_progress=lambda step: None)
assert [row["n_points"] for row in listed["trees"]] == [10 * side] and listed["stand"] is not None, listed
nobody = refused(lambda: client.tree_inventory(a, fit_method="magic"), 200, "invalid_argument")
assert "fit method" in nobody.message and nobody.detail["success"] is False
assert client.label_summary(a, "mine")["class_counts"]["3"] == 10 * side
assert client.reset_label_edits(a, slug="mine", edit_count=1)["label_edit_count"] == 1
assert client.commit_labels(a, slug="mine")["slug"] == "mine"
assert client.bake(a, compact=False)["session_id"] == a
assert client.extract(a, scalar_filters=[{"slug": "class", "values": [2]}])["extracted"]["point_count"] == count // 2
copy = client.duplicate(a)["duplicate"]["session_id"]
assert client.filter(copy, region=box)["point_count"] == 10 * side
assert client.split(copy, scalar_filters=[{"slug": "mine", "max": 2}])["kept"]["point_count"] == 0
assert len(client.extract_by_column(a, "class")["children"]) == 2
merged = client.merge([a, client.duplicate(a)["duplicate"]["session_id"]])["merged"]
assert merged["point_count"] == 2 * count
step = [[1, 0, 0, 10], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
moved = client.transform(merged["session_id"], step)
assert abs(moved["tight_bounds"]["min"][0] - 10) < 0.01
unstamped = refused(lambda: client.align_scans(a, skip_noise=False), 200, "invalid_argument")
assert "neither scan_index nor gps times" in unstamped.message
assert client.close_session(merged["session_id"])["deleted"] is True

# Octrees
octree = client.rebuild_octree(a)["cache_id"]
assert json.loads(client.octree_file(octree, "metadata.json"))["points"] == count
assert len(client.octree_file(octree, "octree.bin", 0, 9)) == 10

# Labels and terrain
noise = client.denoise(source={"session_id": a}, method="voxel_count", voxel=2.0)
assert len(noise["labels"]) == count and set(noise["labels"]) <= {1, 2}
assert client.denoise_session(a, method="ror", radius=2.0)["analyzed_points"] == count
import array as arrays

frame_points = arrays.array("f", [value for i in range(40) for j in range(40) for value in (i * 0.5, j * 0.5, 0.25)])
listed = [[4e6 + i * 0.5, j * 0.5, 0.25] for i in range(40) for j in range(40)]
listed_noise = client.denoise(points=listed, method="sor")
framed_noise = client.denoise(points=frame_points, frame_origin=(4e6, 0, 0), method="sor")
assert framed_noise["labels"] == listed_noise["labels"] and framed_noise["spacing_m"] == listed_noise["spacing_m"] == 0.5
refused(lambda: client.denoise(points=listed, frame_origin=(1, 2, 3)), 400, "invalid_argument")
try:
    import numpy as matrices
except ImportError:
    matrices = None
if matrices is not None:
    rows = matrices.array(frame_points, dtype=matrices.float32).reshape(-1, 3)
    labels = matrices.ones(1600, dtype=matrices.uint32)
    model = client.dem(points=rows, ground_labels=labels, cell_size=1.0, frame_origin=(100, 0, 10))
    assert (model.meta["ground_source"], model.meta["grid_origin"][0]) == ("column", 100), model.meta
few = refused(lambda: client.denoise(points=inline), 200, "invalid_argument")
assert "1000 points" in few.message and few.detail["success"] is False
assert len(client.segment_ground(source={"session_id": a}, method="auto")["labels"]) == count
assert client.segment_trees_session(a, method="chm", chm_min_height=0, defer_octree=True)["method"] == "chm"
assert client.segment_ground_session(a, method="auto", defer_octree=True)["num_ground"] > 0
assert len(client.segment_trees(source={"session_id": a}, ground_class=[2] * count, method="chm", chm_min_height=0)["labels"]) == count
post = [[0.1 * math.cos(i), 0.1 * math.sin(i), 0.002 * i] for i in range(1000)]
assert client.extract_skeleton(points=post)["success"]
# Models of networks
assert client.ml_device()["device"] in ("cpu", "cuda")
assert client.list_ml_models("no such task")["models"] == []
assert "no such folder" in refused(lambda: client.import_ml_model("/data/missing"), 400, "invalid_argument").message
refused(lambda: client.delete_ml_model("missing"), 404, "not_found")
refused(lambda: client.segment_wood(source={"session_id": a}, method="ml", model_id="missing"), 400, "invalid_argument")
assert len(client.segment_wood(source={"session_id": a}, method="geometric")["labels"]) == count
assert client.segment_wood_session(a, method="geometric", defer_octree=True)["analyzed_points"] == count
grid = client.session_dem(a, cell_size=0.5)
nx, ny = grid.meta["grid_nx"], grid.meta["grid_ny"]
assert len(grid.buffers["grid_z"]) == nx * ny and len(grid.buffers["vertices"]) == 3 * grid.meta["num_vertices"]
assert client.dem(source={"session_id": a}, cell_size=0.5, surface_type="dsm").meta["surface_type"] == "dsm"
assert client.session_dem(a, cell_size=0.5, add_height_column=True).meta["success"]
assert client.detect_stems(a, band_min_m=1, band_max_m=2, max_diameter_m=1)["seeds"] == []
none = refused(lambda: client.dem(points=inline, cell_size=-1, bbox=[50, 50, 60, 60]), 200, "invalid_argument")
assert none.detail["success"] is False
ascii_grid = client.export_raster(grid.buffers["grid_z"], nx, ny, 0.5, [0, 0])
assert ascii_grid["format"] == "asc" and ascii_grid["data_base64"]
heights = [None if z != z else float(z) for z in flat(grid.buffers["grid_z"])]
terrain = {"grid_z": heights, "nx": nx, "ny": ny, "cell": 0.5, "origin": grid.meta["grid_origin"]}
snapped = client.snap_grid({"center": [10, 10, 2], "size": [4, 4, 4], "nx": 2, "ny": 2, "nz": 2}, terrain)
assert len(snapped["column_offsets"]) == 4
crooked = refused(
    lambda: client.backfill_misses(a, [0, 0, 0], n_theta=2, n_phi=2, on_progress=lambda step: None), 200, "invalid_argument"
)
assert crooked.detail["backfilled"] == 0 and "declared raster" in crooked.message, crooked.detail
beams = {"origin": [-9, 0, 0], "points": [[x, y, 0] for x in (0.25, 99) for y in (-0.25, 0, 0.25)]}
beams["scalar_columns"] = {"is_miss": [0, 0, 0, 1, 1, 1]}
leaves = client.lad_compute(
    [beams], {"center": [0, 0, 0], "size": [1, 1, 1]}, gtheta_override=True, gtheta=0.5, min_voxel_hits=1,
    occlusion_threshold_m=0, on_progress=lambda step: None
)
assert leaves["cells"][0]["beam_count"] == 6 and leaves["cells"][0]["relative_density_index"] == 0.5, leaves
triangle = {"mesh_vertices": [0, 0, 0, 40, 0, 0, 0, 40, 0], "mesh_indices": [0, 1, 2]}
assert client.mesh_distance(points=[1, 1, 2, 1, 1, 4], **triangle)["mean_distance"] == 3
far = client.mesh_distance(source={"session_id": a}, **triangle, signed=True, on_progress=lambda step: None)
assert far["point_count"] > 0 and far["sign_defined"] is False
assert "No mesh" in refused(lambda: client.mesh_distance([], [], points=[0, 0, 0]), 200, "invalid_argument").message
dent = [v for i in range(400) for v in (i % 20, i // 20, 3 if i % 20 > 9 and i // 20 > 5 else 0.1 * (i % 3))]
moved = [v + (0.5, -0.25, 0.125)[i % 3] for i, v in enumerate(dent)]
pose = client.cloud_register(target_points=dent, source_points=moved, on_progress=lambda step: None)
assert all(abs(a + b) < 1e-6 for a, b in zip(pose["translation"], (0.5, -0.25, 0.125))), pose["translation"]
kept = client.cloud_register(target_source={"session_id": a}, source_source={"session_id": a}, method="point_to_plane")
assert all(abs(v) < 1e-6 for v in kept["translation"]) and kept["fitness"] == 1
square = [0, 0, 0, 4, 0, 0, 0, 4, 0, 4, 4, 2], [0, 1, 2, 1, 3, 2]
assert client.mesh_register(*square, points=dent, max_iterations=5)["iterations"] == 5
assert client.mesh_pair_register(*square, *square)["rmse"] < 1e-9
assert "No source mesh" in refused(lambda: client.mesh_pair_register(*square, [], []), 200, "invalid_argument").message

box = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
solid = client.triangulate("alpha_shape", points=box, alpha=2, on_progress=lambda step: None)
assert solid.meta["num_triangles"] == 12 and abs(solid.meta["volume_m3"] - 1) < 1e-12, solid.meta
ball = client.triangulate(points=box, radii=[2])
assert ball.meta["method_used"] == "ball_pivoting", ball.meta
sheet = client.triangulate("delaunay", source={"session_id": a}, points=box)
assert len(sheet.buffers["indices"]) == 3 * sheet.meta["num_triangles"] > 0
around = {"origin": [0.5, 0.5, 0.5], "points": box}
seen = client.triangulate_scans([around, around], lmax=2, on_progress=lambda step: None)
assert seen.meta["num_triangles"] == 24 and list(seen.buffers["triangle_scan_ids"]) == 12 * [0] + 12 * [1], seen.meta
assert abs(seen.meta["surface_area"] - 12) < 1e-12, seen.meta
spacing = client.check_spacing([around], lmax=1.2)
assert spacing["median_spacing"] == 1 and not spacing["likely_bridging"], spacing
assert "alpha_shape" in refused(lambda: client.triangulate("magic", points=box), 200, "invalid_argument").message

wall = {"vertices": [[-9, 5, -9], [9, 5, -9], [9, 5, 9], [-9, 5, 9]], "triangles": [[0, 1, 2], [0, 2, 3]]}
lidar = {"id": "a", "origin": [0, 0, 0], "n_theta": 3, "n_phi": 3}
lidar.update(theta_min_deg=80, theta_max_deg=100, phi_min_deg=-10, phi_max_deg=10)
scanned = client.lidar_scan([wall], [lidar], rays_per_pulse=1, on_progress=lambda step: None)
assert scanned.meta["scanners"][0]["num_points"] == 9, scanned.meta
assert all(abs(y - 5) < 1e-6 for y in flat(scanned.buffers["s0.points"])[1::3])
corners = array.array("f", [v for corner in wall["vertices"] for v in corner])
typed = {"vertices": corners, "indices": array.array("I", [0, 1, 2, 0, 2, 3])}
again = client.lidar_scan([typed], [lidar], rays_per_pulse=1)
assert flat(again.buffers["s0.points"]) == flat(scanned.buffers["s0.points"])
for made in (scanned, again):
    client.close_session(made.meta["scanners"][0]["session"]["session_id"])
assert "scanners" in refused(lambda: client.lidar_scan([wall], []), 200, "invalid_argument").message
flight = os.path.join(folder, "flight.sbet")
with open(flight, "wb") as file:
    for i in range(3):
        file.write(struct.pack("<17d", i, 0.8, 0.15 + 1e-6 * i, 100, *[0.0] * 13))
assert len(client.parse_trajectory(flight, target_poses=3)["poses"]) == 3

obj = os.path.join(folder, "one.obj")
with open(obj, "w") as file:
    file.write("v 9 0 0\nv 10 0 0\nv 9 1 0\nusemtl m\nf 1 2 3\n")
mesh = client.import_mesh(obj, world_shift=[9, 0, 0], on_progress=lambda step: None)
assert list(mesh.buffers["vertices"]) == [0, 0, 0, 1, 0, 0, 0, 1, 0], mesh.buffers
assert mesh.meta["material_groups"] == [{"material_name": "m", "triangle_indices": [0]}]
with open(obj, "w") as file:
    file.write("v 9 0 0\n")
assert "No triangles" in refused(lambda: client.import_mesh(obj), 200, "invalid_file").message

leaves = os.path.join(folder, "leaves.txt")
with open(leaves, "w") as file:
    file.write("x y z\n" + "".join(f"{i & 1} {i >> 1 & 1} {i >> 2}\n" for i in range(8)))
tree = client.create_session(leaves)["session_id"]
pole = [
    [0.1 * math.cos(2.4 * k), 0.1 * math.sin(2.4 * k), 0.001 * k] for k in range(2000)
]
model = client.build_qsm(pole, twig_radius_mm=3, radius_model="isotonic", on_progress=lambda step: None)
assert model["success"] and abs(model["metrics"]["trunk_diameter_mm"] - 200) < 20, model["metrics"]
wood = (model["cylinders"], model["shoots"])
texture = client.qsm_leaf_textures()["textures"][0]
assert client.qsm_phyllotaxis(*wood)["n_parents_sampled"] == 0
grown = client.qsm_leaves(*wood, builtin_texture_name=texture)
assert grown["success"] and grown["leaf_count"] > 0 and len(grown["vertices"]) == grown["vertex_count"], grown["error"]
space = {"center": [0, 0, 1], "size": [9, 9, 9], "nx": 1, "ny": 1, "nz": 1}
wanted = {"cell_id": 0, "beta_mu": 2, "beta_nu": 2, "ecc": 0, "phi0_deg": 0}
turned = client.qsm_adjust_leaf_angles(*wood, builtin_texture_name=texture, cell_targets=[wanted], grid=space)
assert turned["success"] and turned["leaf_count"] == grown["leaf_count"], turned["error"]
assert "too few points" in refused(lambda: client.build_qsm(pole[:9]), 200, "invalid_argument").message
table = os.path.join(folder, "model.csv")
with open(table, "w") as out:
    out.write("ID,parentID,branchOrder,startX,startY,startZ,endX,endY,endZ,radius\n0,-1,0,0,0,0,0,0,2,0.1\n")
assert client.import_qsm(table)["n_cylinders"] == 1
assert refused(lambda: client.import_qsm(table + ".missing"), 404, "not_found")
trees = client.tree_qsm(a, include_models=False, on_progress=lambda step: None)
assert [(one["tree_id"], one["success"]) for one in trees["results"]] == [(1, True)], trees
crown = client.fit_crown({"session_id": tree}, "prism", strictness=0, on_progress=lambda step: None)["crowns"][0]
client.close_session(tree)
assert crown["tree_instance_id"] == 0 and len(crown["triangles"]) == 36 and crown["params"]["a_m"] == 0.5
assert "sphere" in refused(lambda: client.fit_crown({"session_id": a}, "sphere"), 400, "invalid_argument").message
bright = [0.05 + 0.4 * (nm > 700) for nm in range(400, 2501, 5)]
leaf = client.fit_prospect(list(range(400, 2501, 5)), bright, inversion="likelihood", n_starts=1)
assert leaf["n_points"] == 2101 and leaf["parameters"]["Cab"]["units"] == "ug/cm2" and leaf["rmse"] > 0, leaf["message"]
assert "percents" in refused(lambda: client.fit_prospect([500], [45]), 400, "invalid_argument").message
points = {"t": [0.0, 1, 2, 3], "v": [1.0, 3, 5, 7]}
line_fit = client.fit_custom(
    [{"name": "slope", "symbol": "a", "default": 1}, {"name": "start", "symbol": "b", "default": 0}],
    [{"name": "time", "symbol": "x"}],
    [{"name": "value", "symbol": "y"}],
    {"input_x": "t", "output_y": "v"},
    points,
    equation="a*x + b",
)
assert abs(line_fit["parameters"]["slope"]["value"] - 2) < 1e-12 and line_fit["converged"], line_fit
table = os.path.join(folder, "line.csv")
with open(table, "w") as file:
    file.write("x;y\n0;1,5\n1;3,5\n2;5,5\n")
of_table = client.fit_table(table, "generic", "linear", max_iterations=50)
assert abs(of_table["parameters"]["b"] - 1.5) < 1e-12 and len(of_table["curves"]) == 1, of_table
assert "cubic" in refused(lambda: client.fit_table(table, "generic", "cubic"), 400, "invalid_argument").message
assert client.list_models()["hydraulics"]["sigmoidal"]["required_data"] == ["psi", "K"]
line = client.render_latex("a*x**2 + b", output_symbol="A_net")
assert line["latex"] == "A_{\\mathrm{net}} = a x^{2} + b" and client.latest_latex() == line

book = client.export_results("a line", {"slope": 2.5}, input_data={"x": [1, 2]}, fitted_values=[2.5, 5])
assert book[:2] == b"PK" and b"xl/worksheets/sheet3.xml" in book
assert json.loads(client.export_results("a line", {"slope": 2.5}, format="json"))["parameters"][0]["value"] == 2.5
assert "model_name" in refused(lambda: client.export_results("", {}), 422, "validation").message

# Plants
species = client.plant_models()
assert "bean" in species["models"] and species["problems"] == []
bean = client.generate_plant(plant_type="bean", age=12, random_seed=1, on_progress=lambda step: None)
assert len(bean.buffers["vertices"]) == 9 * bean.meta["triangle_count"] > 0 and bean.meta["height"] > 0, bean.meta
assert client.generate_plant(age=12, random_seed=1, instances=True).meta["instance_count"] > 0
assert client.generate_canopy(age=5, count_x=2, count_y=1, random_seed=1).meta["plant_count"] == 2
assert "count_x" in refused(lambda: client.generate_canopy(count_x=0), 200, "invalid_argument").message
grown_steps = []
streamed = client.stream_plant(age=12, random_seed=1, on_progress=grown_steps.append)
assert streamed["triangle_count"] == bean.meta["triangle_count"] and grown_steps[-1].run_id, grown_steps
assert "magic" in refused(lambda: client.stream_plant(plant_type="magic"), 200, "not_found").message
growing = client.create_plant_session(initial_age=5, random_seed=1)["session_id"]
assert client.advance_plant(growing, dt=7)["triangle_count"] == bean.meta["triangle_count"]
assert abs(client.plant_session(growing)["current_age"] - 12) < 1e-9
assert growing in [one["session_id"] for one in client.plant_sessions()["sessions"]]
assert client.close_plant_session(growing)["success"] is True
refused(lambda: client.plant_session(growing), 404, "not_found")
document = plant_document(bean)
assert document.startswith("<?xml") or document.startswith("<"), document[:80]
parsed = client.parse_morph(document, "bean", expression="leaf_scale *= 2")
assert parsed["plant_age"] == 12 and parsed["edits"][0]["value"] == 2, parsed["edits"]
assert client.morph_plant(document, "bean", expression="leaf_scale *= 2")["current_age"] == 12
assert "column" in refused(lambda: client.morph_plant(document, "bean", expression="size = 1"), 200, "invalid_argument").message

# Projects
project = os.path.join(folder, "plot.proj")
scene = b"PSC1 whatever the client writes"
staged = client.stage_scene(scene)
assert staged["bytes"] == len(scene)
saved = client.save_project(project, staged["token"], session_ids=[a, "00000000"])
assert (saved["sessions"], saved["missing_sessions"], saved["bytes"]) == (1, ["00000000"], os.path.getsize(project))
refused(lambda: client.save_project(project, staged["token"]), 404, "not_found")
reopened = client.open_project(project)
assert client.project_scene(reopened["scene_token"]) == scene
refused(lambda: client.project_scene(reopened["scene_token"]), 404, "not_found")
assert list(reopened["session_map"]) == [a] and reopened["session_map"][a] != a

# Cancel: before it began, in the middle of a run, and a plain call that hangs up
big = os.path.join(folder, "big.txt")
with open(big, "w") as file:
    for i in range(1_500_000):
        file.write(f"{i % 1223 * 0.01} {i // 1223 * 0.01} {i % 7 * 0.1}\n")
stop = threading.Event()
stop.set()
try:
    client.create_session(big, cancel=stop)
    raise AssertionError("ran although canceled")
except CanceledError as error:
    assert error.status == 0
stop = threading.Event()
try:
    client.create_session(big, on_progress=lambda step: stop.set(), cancel=stop)
    raise AssertionError("ran although canceled")
except CanceledError as error:
    assert error.status == 200, "the stream ends with the canceled marker"
stop = threading.Event()
timer = threading.Timer(0.5, stop.set)
timer.start()
try:
    client.import_by_path(big, cancel=stop)
    finished = True  # a fast machine
except CanceledError:
    finished = False
deadline = time.monotonic() + 20
while client.health()["admitted"] > 0:
    assert time.monotonic() < deadline, "a canceled run goes on"
    time.sleep(0.05)
nobody = refused(lambda: PointCloudClient("http://127.0.0.1:9", timeout=2).version(), 0, "network")
assert "connection" in nobody.message
try:
    client.session_dem(a, on_progress=lambda step: 1 / 0)
    raise AssertionError("the callback's error was lost")
except ZeroDivisionError:
    pass
assert issubclass(CostWarning, ApiError)
print(json.dumps({"called": sorted(called), "numpy": sys.modules.get("numpy") is not None}))
