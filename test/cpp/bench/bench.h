#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/cloud_table.h"

/// The jobs of the benchmark program. Each runs once in a process of its own and prints one line of JSON: what it
/// did and how long the operation itself took. Time, CPU and memory of the whole process come from `measure`.
namespace pc::bench {

using Arguments = std::vector<std::string>;

/// The synthetic plot as LAS 1.4 point format 7 (36 bytes a point) and, when asked, as a table of seven columns
/// (x y z intensity r g b). Arguments: POINTS FILE.las [FILE.txt]
int make_plot_files(const Arguments& arguments);

/// Reads a LAS or LAZ file into columns: all fields, or the positions alone. Arguments: FILE [THREADS] [xyz]
int read_las_file(const Arguments& arguments);

/// Reads a LAS file and writes its columns in the format of the second file (.las .laz .pcd .pts .ptx .ply; ptx as a
/// raster of 2000 rows); the time is that of the writing. Arguments: FILE.las FILE [THREADS]
int write_file(const Arguments& arguments);

/// The plot as one E57 scan (single precision x y z intensity, 8-bit colour) and as one PTX scan of 1000 rows.
/// Arguments: POINTS FILE.e57 FILE.ptx
int make_scan_files(const Arguments& arguments);

/// Reads an E57 file into columns. Arguments: FILE [THREADS]
int read_e57_file(const Arguments& arguments);

/// Reads a PTX file into columns. Arguments: FILE [THREADS]
int read_ptx_file(const Arguments& arguments);

/// Reads a text table of seven columns into columns. Arguments: FILE [THREADS]
int read_text_file(const Arguments& arguments);

/// Reads the numbers of a text file with std::from_chars and keeps none of them: the bare loop that the reader is compared
/// with. Arguments: FILE [THREADS]
int loop_over_text_file(const Arguments& arguments);

/// Reads a LAS file and builds the octree of position, rgb, intensity, time and class. Arguments: FILE FOLDER [THREADS]
int build_octree(const Arguments& arguments);

/// Which points of a LAS file lie in a box, a lasso of 500 points or a stroke of 4000 squares; median of five.
/// Arguments: FILE.las SHAPE [THREADS]
int select_points(const Arguments& arguments);

/// Drops the points inside the lasso from every column of a LAS file; median of five. Arguments: FILE.las [THREADS]
int compact_points(const Arguments& arguments);

/// Paints a fiftieth of a label column in stretches of 100 rows; median of five. Arguments: POINTS [THREADS]
int paint_points(const Arguments& arguments);

/// Builds the octree of a LAS file in FOLDER and moves it (that alone is timed, median of five).
/// Arguments: FILE.las FOLDER [THREADS]
int translate_octree(const Arguments& arguments);

/// Measures every tree of a made stand. Arguments: TREES POINTS [THREADS]
int measure_trees(const Arguments& arguments);

/// The skeleton of a tree of 255 forking cylinders with 3 mm of noise, with the default parameters; its memory.
/// Arguments: POINTS [THREADS]
int find_skeleton(const Arguments& arguments);

/// Models of the wood of trees of 255 forking cylinders, side by side. Arguments: TREES POINTS [THREADS]
int model_trees(const Arguments& arguments);

/// The model of one tree of 255 forking cylinders with 3 mm of noise, radii tapered; its memory. Arguments: POINTS [THREADS]
int build_tree(const Arguments& arguments);

/// Leaves in cells of PER_CELL turned to the angles of a target. Arguments: LEAVES PER_CELL [THREADS]
int turn_leaves(const Arguments& arguments);

/// Hegyi's indices of stems within 10 m, 500 stems per hectare. Arguments: STEMS [THREADS]
int index_competition(const Arguments& arguments);
int tell_wood(const Arguments& arguments);

/// Spectra of leaves and their three inversions from six starts, ms a leaf. Arguments: LEAVES [THREADS]
int invert_leaves(const Arguments& arguments);

/// Grids a terrain of 0.25 m cells from points on rolling ground, with its mesh and layers. Arguments: POINTS [THREADS]
int make_dem(const Arguments& arguments);

/// Segments the vegetation of a LAS file (classes 4 and 5, else all points) into trees by cut pursuit.
/// Arguments: FILE [THREADS]
int segment_trees(const Arguments& arguments);

/// Trees by cheapest paths, and stems, of the plants of the synthetic plot. Arguments: POINTS [THREADS]
int path_trees(const Arguments& arguments);
int find_stems(const Arguments& arguments);

/// Meshes a scanned stem and cleans the mesh. Arguments: alpha_shape|delaunay POINTS [THREADS]
int mesh_stem(const Arguments& arguments);

/// The surfaces that a scanner in a crown sees: angular triangulation, filter, binning into voxels.
/// Arguments: POINTS [THREADS]
int mesh_scan(const Arguments& arguments);

/// Leaf area density of a cube of leaves by four scanners: beams through EDGE^3 voxels, and their inversion.
/// Arguments: PULSES EDGE [THREADS]
int invert_density(const Arguments& arguments);

/// Labels the noise of a LAS file by ror, ror_tiled (both with the radius from the spacing, which is measured too),
/// voxel_count (10 cm), sor (16 neighbours) or auto; median of three. Arguments: FILE.las METHOD [THREADS]
int denoise_points(const Arguments& arguments);

/// CPU time of the same on one thread with a point 1e7 m away among the others, and without: least of five each.
/// Arguments: FILE.las METHOD
int denoise_far_point(const Arguments& arguments);

/// Sorts the points of a LAS file into a tree and finds the nearest others of every one; median of three.
/// Arguments: FILE.las NEIGHBORS [THREADS]
int find_neighbors(const Arguments& arguments);

/// Reads a classified plot and drops a cloth on it; its classes give precision and recall.
/// Arguments: FILE.las RESOLUTION_M [THREADS]
int filter_ground(const Arguments& arguments);

/// Builds the tree of a plot of TRIANGLES, finds the closest triangles of 1M points and the first hits of 2M pulses; and
/// the ratios to Embree's CPU time, where the program was built with it (rays in its packets of 16); median of three.
/// Arguments: TRIANGLES [THREADS]
int search_mesh(const Arguments& arguments);

/// First hits on a plot of TRIANGLES by one thread, in turn with Embree's single rays and packets of 16 on the same rays:
/// the pulses of a scanner, rays of random places and directions, or vertical rays in rows. ISA limits Embree ("avx2").
/// Arguments: TRIANGLES scan|random|down [RAYS] [ISA]
int trace_rays(const Arguments& arguments);

/// Distances of points to such a plot; median of three. Arguments: POINTS TRIANGLES [THREADS]
int measure_to_mesh(const Arguments& arguments);

/// CPU time on one thread of each op whose cost depends on where the points lie, for clouds of POINTS and four times as
/// many on lines, planes, grids and in few places; the exponent of the growth, and the factor to a random volume.
/// Arguments: POINTS [OP]
int time_shapes(const Arguments& arguments);

/// CPU time on one thread of every op, reader and writer for n and 4 n rows, cells or bytes, on the inputs that are worst
/// for it; the exponent of the growth, and the factor to the op's first input. Sizes are multiplied by
/// TIMES. Arguments: [PART OF A NAME] [TIMES]
int time_costs(const Arguments& arguments);

/// Every op that has a CUDA twin, on the CPU and on the GPU: seconds, whether the results have the same bits, and how long a
/// cancel takes on the GPU. Fails without a device, if a result differs or an op left the GPU, and if a cancel takes more than 250 ms. Arguments: POINTS [PART OF A NAME] [THREADS]
int compare_devices(const Arguments& arguments);

/// Writes to so much new memory and ends. A virtual machine gets memory from its host at the first touch, which takes longer than
/// what an op does with it; whatever runs later finds it there. Arguments: MIB
int touch_memory(const Arguments& arguments);

/// Runs a program and prints its wall and CPU seconds, peak resident size and exit code as the last line. POSIX.
/// Arguments: PROGRAM [ARGUMENT ...]
int measure_program(const Arguments& arguments);

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Bytes of a table's columns: what a reader must keep.
double column_mib(const io::CloudTable& table);

/// Number of points of an argument. Errors: kInvalidArgument for anything but a whole number above 0.
std::size_t point_count(const std::string& text);

/// Thread count of an optional argument; 0 = all cores. Errors: kInvalidArgument for anything but a small number.
int thread_count(const Arguments& arguments, std::size_t index);

}  // namespace pc::bench
