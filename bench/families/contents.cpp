// SPDX-License-Identifier: MIT
// Shaw's relative vectors, for keys alone and for keys and values.
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/value/shaw_value.hpp>

#include "families/families.hpp"

namespace posgeo::bench {

namespace {

/// A model whose query (and key) rows meet the rows of classes.
template <class Model, class Classes>
Model with_classes(Model out, const Classes& classes, index_t sides) {
  out.class_of = [classes](relative_offset offset) { return classes(offset); };
  out.class_sides = sides;
  return out;
}

auto key_rows(const request& r, const coordinate::clipped& classes) {
  return content::shaw_key<float>{random_shared(classes.classes(), r.layout.dim), classes};
}
family shaw_key(index_t reach) {
  const auto make = [=](const request& r) {
    const auto classes = coordinate::clipped::symmetric(reach);
    return with_classes(model_of(r, key_rows(r, classes)), classes, 1);
  };
  return family_of<float, Eigen::bfloat16>(fmt::format("shaw_key_{}", reach), make);
}
family shaw(index_t reach) {
  const auto make = [=](const request& r) {
    const auto classes = coordinate::clipped::symmetric(reach);
    const value::shaw_value<float> values{random_shared(classes.classes(), r.layout.dim), classes};
    return with_classes(model_of(r, key_rows(r, classes), values), classes, 2);
  };
  return family_of<float>(fmt::format("shaw_{}", reach), make);
}

}  // namespace

std::vector<family> content_families() {
  const auto key_query = [](const request& r) {
    const index_t rows = position_end(r);
    return with_classes(model_of(r, content::relative_key_query<float>{random_table(2 * rows - 1, r.layout.dim), rows}),
                        content::bert_offsets(rows), 2);
  };
  return {
      shaw_key(16),
      shaw_key(64),
      shaw_key(128),
      shaw(16),
      shaw(64),
      shaw(128),
      family_of<float>("relative_key_query", key_query),
  };
}

}  // namespace posgeo::bench
