#include "io/octree_directory.h"

#include "core/error.h"

namespace pc::io {

void OctreeDirectory::begin(std::uint64_t total_bytes) {
  nodes_ = std::make_unique<platform::File>(platform::File::create(path_ + "/octree.bin"));
  // Writes the last byte first: the file then has its final size, and parallel writes never extend it.
  const std::byte zero{};
  if (total_bytes != 0) nodes_->write_at(total_bytes - 1, &zero, 1);
}

void OctreeDirectory::write_nodes(std::uint64_t offset, Span<const std::byte> bytes) {
  nodes_->write_at(offset, bytes.data, bytes.size);
}

bool OctreeDirectory::share_nodes(const OctreeSource& source) {
  const std::string from = source.node_path();
  return !from.empty() && platform::link_file(from, path_ + "/octree.bin");
}

void OctreeDirectory::file(const std::string& name, Span<const std::byte> bytes) {
  if (nodes_ != nullptr) {  // all nodes are written: what close() reports must come before metadata.json
    nodes_->close_checked();
    nodes_.reset();
  }
  platform::File out = platform::File::create(path_ + "/" + name);
  out.write_at(0, bytes.data, bytes.size);
  out.close_checked();
}

void OctreeDirectoryReader::read_nodes(std::uint64_t offset, Span<std::byte> bytes) const {
  if (nodes_.read_at(offset, bytes.data, bytes.size) != bytes.size)
    throw Error(ErrorCode::kInvalidFile, nodes_.path() + " ends too early");
}

BulkVector<std::byte> OctreeDirectoryReader::file(const std::string& name) const {
  const platform::File in = platform::File::open_read(path_ + "/" + name);
  BulkVector<std::byte> bytes(static_cast<std::size_t>(in.size()));
  if (in.read_at(0, bytes.data(), bytes.size()) != bytes.size())
    throw Error(ErrorCode::kInvalidFile, in.path() + " ends too early");
  return bytes;
}

}  // namespace pc::io
