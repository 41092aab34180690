"""One workflow of each domain, from data with a known answer to a result. argv: url, token, folder. Prints what was done."""

import json
import math
import os
import random
import sys

if os.environ.get("WITHOUT_NUMPY"):
    sys.modules["numpy"] = None

from point_cloud_client import PointCloudClient, plant_document

url, token, folder = sys.argv[1:]
client = PointCloudClient(url, token)
drawn = random.Random(5)


def near(what, value, wanted, tolerance):
    assert abs(value - wanted) <= tolerance, f"{what}: {value}, not {wanted}"


def written(name, rows):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("x y z\n" + "".join(" ".join(f"{value:.5f}" for value in row) + "\n" for row in rows))
    return path


def opened(name, rows):
    return client.create_session(written(name, rows))["session_id"]


def pole(x, y, radius, height, count):
    """Points all round an upright stem."""
    turns = [2 * math.pi * drawn.random() for _ in range(count)]
    return [(x + radius * math.cos(t), y + radius * math.sin(t), height * drawn.random()) for t in turns]


def crown(x, y, radius, low, high, count):
    places = [(radius * math.sqrt(drawn.random()), 2 * math.pi * drawn.random()) for _ in range(count)]
    return [(x + r * math.cos(t), y + r * math.sin(t), low + (high - low) * drawn.random()) for r, t in places]


def trees_and_models():
    """Four trees on a level plot: ground, heights, stems, trees, inventory, wood and cylinders."""
    diameters = {(4, 4): 0.2, (12, 4): 0.3, (4, 12): 0.4, (12, 12): 0.24}
    rows = [(0.2 * i, 0.2 * j, 0.01 * drawn.random()) for i in range(81) for j in range(81)]
    for (x, y), dbh in diameters.items():
        rows += pole(x, y, dbh / 2, 5, 3000) + crown(x, y, 1.5, 4, 8, 3000)
    plot = opened("plot.txt", rows)
    assert client.segment_ground_session(plot, method="smrf")["num_ground"] >= 81 * 81 * 0.95
    terrain = client.session_dem(plot, cell_size=0.5, add_height_column=True)
    assert max(abs(z) for z in terrain.buffers["grid_z"]) < 0.05
    stems = client.detect_stems(plot)["seeds"]
    found = {(round(one["x"] / 4) * 4, round(one["y"] / 4) * 4): 2 * one["radius_m"] for one in stems}
    assert sorted(found) == sorted(diameters), found
    client.segment_trees_session(plot, method="default")
    listed = client.tree_inventory(plot)["trees"]
    assert len(listed) == 4, [row["tree_id"] for row in listed]
    for row in listed:
        at = tuple(round(value / 4) * 4 for value in row["stem_base"][:2])
        near(f"diameter at {at}", row["dbh_m"], diameters[at], 0.01)
        near(f"height at {at}", row["height_m"], 8, 0.1)
    wood = client.segment_wood_session(plot, method="connectivity")
    assert wood["num_wood"] > 0 and wood["num_leaf"] > 0
    models = client.tree_qsm(plot, include_models=False, radius_model="tapered")["results"]
    assert len(models) == 4 and any(one["success"] for one in models), [one["error"] for one in models]
    client.close_session(plot)


def one_tree():
    """A leafless stem with a branch: skeleton, cylinders, a table of them read back, leaves."""
    points = pole(0, 0, 0.1, 3, 4000)
    points += [(p[2] * 0.5, 0.4 * p[1], 2 + p[2] * 0.3 + 0.4 * p[0]) for p in pole(0, 0, 0.1, 2, 1500)]
    line = client.extract_skeleton(points=points, search_radius=0.2)
    assert 3 < line["total_length"] < 6, line["total_length"]
    model = client.build_qsm(points, radius_model="tapered")
    near("trunk diameter, mm", model["metrics"]["trunk_diameter_mm"], 200, 30)
    path = os.path.join(folder, "tree.csv")
    with open(path, "w") as file:
        file.write("ID,parentID,branchOrder,startX,startY,startZ,endX,endY,endZ,radius\n")
        for one in model["cylinders"]:
            row = [one["cyl_id"], one["parent_id"], one["rank"], *one["start"], *one["end"], one["radius"]]
            file.write(",".join(map(str, row)) + "\n")
    again = client.import_qsm(path)
    assert again["n_cylinders"] == model["n_cylinders"]
    near("volume of the table", again["metrics"]["total_woody_volume_m3"], model["metrics"]["total_woody_volume_m3"], 1e-9)
    texture = client.qsm_leaf_textures()["textures"][0]
    leaves = client.qsm_leaves(again["cylinders"], again["shoots"], builtin_texture_name=texture)
    assert leaves["success"] and leaves["leaf_count"] > 0, leaves["error"]


def leaf_area():
    """Leaves of a known area are scanned from four sides and measured."""
    count, area = 2500, 0.0056
    edge = math.sqrt(4 * area / math.sqrt(3))
    vertices = []
    for _ in range(count):
        center = [3 * drawn.random(), 3 * drawn.random(), 1 + 3 * drawn.random()]
        up, turn, spin = 2 * drawn.random() - 1, 2 * math.pi * drawn.random(), 2 * math.pi * drawn.random()
        flat = math.sqrt(1 - up * up)
        a = (math.sin(turn), -math.cos(turn), 0)
        b = (up * math.cos(turn), up * math.sin(turn), -flat)
        for corner in range(3):
            angle = spin + corner * 2 * math.pi / 3
            u, v = edge / math.sqrt(3) * math.cos(angle), edge / math.sqrt(3) * math.sin(angle)
            vertices.append([center[k] + u * a[k] + v * b[k] for k in range(3)])
    mesh = {"vertices": vertices, "triangles": [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(count)]}
    sweep = {"n_theta": 150, "n_phi": 300, "theta_min_deg": 40, "theta_max_deg": 110, "phi_min_deg": 0, "phi_max_deg": 360}
    places = [(x, y, 1.5) for x in (-4, 7) for y in (-4, 7)]
    scanners = [{"id": str(i), "origin": place, **sweep} for i, place in enumerate(places)]
    scanned = client.lidar_scan([mesh], scanners, record_misses=True, rays_per_pulse=1)
    sessions = [one["session"]["session_id"] for one in scanned.meta["scanners"]]
    measured = client.lad_compute(
        [{"session_id": one, "origin": place} for one, place in zip(sessions, places)],
        {"center": [1.5, 1.5, 2.5], "size": [3, 3, 3], "nx": 3, "ny": 3, "nz": 3},
        gtheta_override=True,
        gtheta=0.5,
        element_width=0.1,
    )
    # Random leaves, G = 0.5 exactly; what is left is the sampling of 27 voxels by about 20,000 beams.
    near("leaf area", measured["total_leaf_area"] / (count * area), 1, 0.1)
    for one in sessions:
        client.close_session(one)


def on_box(count):
    """Points on the faces of a box of 2 x 3 x 1 m."""
    points = []
    for axis in drawn.choices((0, 1, 2), (3, 2, 6), k=count):
        size = (2, 3, 1)
        points.append([drawn.choice((0, edge)) if k == axis else edge * drawn.random() for k, edge in enumerate(size)])
    return points


def surfaces_and_registration():
    """A scan becomes a mesh, a moved scan is laid on it, and the distances vanish."""
    still = opened("box.txt", on_box(6000))
    mesh = client.triangulate("alpha_shape", source={"session_id": still}, alpha=0.15)
    # The faces have 22 m2; along the edges of the hollow box there are small solids beside them.
    assert 21.5 < mesh.meta["surface_area"] < 30, mesh.meta["surface_area"]
    surface = {"mesh_vertices": mesh.buffers["vertices"], "mesh_indices": mesh.buffers["indices"]}
    cos, sin, shift = math.cos(0.06), math.sin(0.06), (0.05, -0.04, 0.03)
    turned = [(cos * x - sin * y + shift[0], sin * x + cos * y + shift[1], z + shift[2]) for x, y, z in on_box(4000)]
    moved = opened("moved.txt", turned)
    far = client.mesh_distance(source={"session_id": moved}, **surface)["mean_distance"]
    pose = client.cloud_register(source_source={"session_id": moved}, target_source={"session_id": still})
    matrix = pose["transformation_matrix"]
    near("turn", math.atan2(matrix[4], matrix[0]), -0.06, 0.005)
    client.transform(moved, [matrix[4 * i : 4 * i + 4] for i in range(4)])
    assert client.mesh_distance(source={"session_id": moved}, **surface)["mean_distance"] < 0.3 * far
    for one in (still, moved):
        client.close_session(one)


def fits_and_optics():
    """An equation, a table, LaTeX, a workbook and the traits of a leaf."""
    xs = [0.2 * i for i in range(30)]
    fitted = client.fit_custom(
        [{"name": name, "symbol": name, "default": 1} for name in "ab"],
        [{"name": "x", "symbol": "x"}],
        [{"name": "y", "symbol": "y"}],
        {"input_x": "x", "output_y": "y"},
        {"x": xs, "y": [3 * math.exp(-0.7 * x) for x in xs]},
        equation="a * exp(-b * x)",
    )
    values = {name: one["value"] for name, one in fitted["parameters"].items()}
    near("a", values["a"], 3, 1e-6)
    near("b", values["b"], 0.7, 1e-6)
    table = os.path.join(folder, "curves.csv")
    with open(table, "w") as file:
        file.write("psi,K,CurveID\n" + "".join(f"{-0.3 * i},{8 / (1 + (0.15 * i) ** 3)},one\n" for i in range(12)))
    model = client.list_models()["hydraulics"]["sigmoidal"]
    assert set(model["required_data"]) == {"psi", "K"}
    curves = client.fit_table(table, "hydraulics", "sigmoidal")
    assert curves["converged"] and len(curves["curves"]) == 1, curves
    assert "\\exp" in client.render_latex("a * exp(-b * x)")["latex"]
    assert client.export_results("decay", values)[:2] == b"PK"
    nm = range(400, 2501, 50)
    leaf = client.fit_prospect(list(nm), [0.06 if at < 700 else 0.46 if at < 1350 else 0.25 for at in nm])
    assert leaf["success"] and leaf["rmse"] < 0.1, leaf["message"]


def plants_and_projects():
    """A plant grows on and is edited; a canopy is scanned, saved with a scene and opened as it was."""
    growing = client.create_plant_session(plant_type="bean", initial_age=4, random_seed=2)["session_id"]
    near("age", client.advance_plant(growing, dt=6)["current_age"], 10, 0)
    client.close_plant_session(growing)
    canopy = client.generate_canopy(plant_type="bean", age=10, count_x=2, count_y=2, random_seed=2)
    document = plant_document(canopy)
    assert client.morph_plant(document, "bean", expression="leaf_scale *= 2")["success"]
    flat = canopy.buffers["vertices"]
    flat = flat.reshape(-1).tolist() if hasattr(flat, "reshape") else list(flat)
    vertices = [flat[3 * i : 3 * i + 3] for i in range(len(flat) // 3)]
    mesh = {"vertices": vertices, "triangles": [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(len(vertices) // 3)]}
    above = {"id": "above", "origin": [0.2, 0.2, 2], "n_theta": 300, "n_phi": 600, "phi_min_deg": 0, "phi_max_deg": 360}
    scanned = client.lidar_scan([mesh], [{**above, "theta_min_deg": 140, "theta_max_deg": 180}])
    scan = scanned.meta["scanners"][0]["session"]["session_id"]
    half = {"kind": "box", "min": [-9, -9, -9], "max": [0.2, 9, 9]}
    deleted = client.delete_region(scan, half)["deleted_count"]
    assert deleted > 0
    path = os.path.join(folder, "beans.proj")
    saved = client.save_project(path, client.stage_scene(b"a scene")["token"], session_ids=[scan])
    assert saved["bytes"] == os.path.getsize(path)
    again = client.open_project(path)
    assert client.project_scene(again["scene_token"]) == b"a scene"
    copy = again["session_map"][scan]
    counts = {one["session_id"]: (one["total_count"], one["deleted_count"]) for one in client.list_sessions()}
    assert counts[copy] == counts[scan] and counts[copy][1] == deleted, (counts[scan], counts[copy])
    assert client.reset_edits(copy, edit_count=0)["deleted_count"] == 0
    for one in (scan, copy):
        client.close_session(one)


done = []
for workflow in (
    trees_and_models,
    one_tree,
    leaf_area,
    surfaces_and_registration,
    fits_and_optics,
    plants_and_projects,
):
    workflow()
    done.append(workflow.__name__)
print(json.dumps(done))
