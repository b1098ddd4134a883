// SPDX-License-Identifier: MIT
#include "golden/safetensors.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace posgeo::golden {
namespace {

using bytes_view = std::span<const std::byte>;
static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

template <class... A>
void require(bool ok, fmt::format_string<A...> what, A&&... a) {
  if (!ok) throw std::runtime_error("safetensors: " + fmt::format(what, std::forward<A>(a)...));
}

template <class Element>
void widen(bytes_view data, std::vector<double>& out) {
  for (std::size_t at = 0; at < data.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, data.data() + at, sizeof(Element));
    out.push_back(static_cast<double>(element));
    if constexpr (sizeof(Element) == 8 && std::is_integral_v<Element>) {
      require(std::abs(out.back()) < 0x1p53, "integer {} is not exact in double", element);
    }
  }
}

struct element_kind {
  const char* name;
  std::size_t size;
  void (*widen)(bytes_view, std::vector<double>&);
};
constexpr element_kind element_kinds[] = {{"F32", 4, widen<float>},
                                          {"F64", 8, widen<double>},
                                          {"I64", 8, widen<std::int64_t>},
                                          {"I32", 4, widen<std::int32_t>},
                                          {"U8", 1, widen<std::uint8_t>}};

}  // namespace

std::map<std::string, stored_tensor> parse_safetensors(bytes_view bytes) {
  std::uint64_t header_size = 0;
  require(bytes.size() >= sizeof header_size, "{} bytes hold no header length", bytes.size());
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  require(header_size <= bytes.size() - sizeof header_size, "a header of {} bytes in a file of {}", header_size,
          bytes.size());
  const auto* const text = reinterpret_cast<const char*>(bytes.data() + sizeof header_size);
  const bytes_view data = bytes.subspan(sizeof header_size + header_size);

  std::map<std::string, stored_tensor> tensors;
  std::vector<std::tuple<std::size_t, std::size_t, std::string>> places;
  try {
    const auto header = nlohmann::json::parse(text, text + header_size);
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      stored_tensor tensor{entry.at("dtype"), entry.at("shape"), {}};
      const auto [begin, end] = entry.at("data_offsets").get<std::pair<std::size_t, std::size_t>>();
      require(begin <= end && end <= data.size(), "{}: bytes {}..{} of {}", name, begin, end, data.size());

      const auto* const kind = std::find_if(std::begin(element_kinds), std::end(element_kinds),
                                            [&](const element_kind& k) { return k.name == tensor.dtype; });
      require(kind != std::end(element_kinds), "{}: element type {}", name, tensor.dtype);
      std::size_t elements = 1;
      for (const index_t extent : tensor.shape) {
        require(extent >= 0 && std::cmp_less_equal(extent, data.size()), "{}: extent {}", name, extent);
        elements *= static_cast<std::size_t>(extent);
        require(elements <= data.size(), "{}: more elements than bytes", name);
      }
      require(elements * kind->size == end - begin, "{}: {} elements of {} in {} bytes", name, elements, tensor.dtype,
              end - begin);
      kind->widen(data.subspan(begin, end - begin), tensor.values);
      places.emplace_back(begin, end, name);
      tensors.emplace(name, std::move(tensor));
    }
  } catch (const nlohmann::json::exception& e) {
    require(false, "header: {}", e.what());
  }

  std::sort(places.begin(), places.end());
  std::size_t reached = 0;
  for (const auto& [begin, end, name] : places) {
    require(begin == reached, "{}: begins at byte {}, the one before it ends at {}", name, begin, reached);
    reached = end;
  }
  require(reached == data.size(), "the tensors fill {} of {} data bytes", reached, data.size());
  return tensors;
}

std::map<std::string, stored_tensor> read_safetensors(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "cannot open {}", path.string());
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  return parse_safetensors(std::as_bytes(std::span(content)));
}

}  // namespace posgeo::golden
