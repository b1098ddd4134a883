// SPDX-License-Identifier: MIT
#include "families/families.hpp"

#include <algorithm>
#include <stdexcept>

namespace posgeo::bench {

const std::vector<family>& families() {
  static const std::vector<family> all = [] {
    std::vector<family> out;
    for (auto part : {plain_families, bias_families, pair_families, content_families, disentangled_families}) {
      for (family& one : part()) out.push_back(std::move(one));
    }
    return out;
  }();
  return all;
}

const family& family_named(const std::string& name) {
  const auto found =
      std::find_if(families().begin(), families().end(), [&](const family& one) { return one.name == name; });
  if (found == families().end()) throw std::out_of_range("no family is named " + name);
  return *found;
}

}  // namespace posgeo::bench
