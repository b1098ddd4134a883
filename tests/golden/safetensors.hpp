// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace posgeo::golden {

/// One tensor of a file. Every element type that the cases use is exact in double.
struct stored_tensor {
  std::string dtype;
  std::vector<index_t> shape;
  std::vector<double> values;  ///< row-major
};

/// Reads the bytes of a safetensors file.
/// Throws std::runtime_error unless the header lies inside the file, every tensor has shape x element size bytes, and
/// the tensors fill the data part without gap or overlap.
[[nodiscard]] std::map<std::string, stored_tensor> parse_safetensors(std::span<const std::byte> bytes);

[[nodiscard]] std::map<std::string, stored_tensor> read_safetensors(const std::filesystem::path& path);

}  // namespace posgeo::golden
