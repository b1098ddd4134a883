// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/manifest/policy_record.hpp>

#include <concepts>

namespace posgeo::manifest {

/// The number formats of the call. `parameter_dtype` lists those of the tables, each once, in the order of the
/// enumerators; it is empty without tables.
struct numerical_state_record {
  element_type index_dtype;
  std::vector<element_type> parameter_dtype;
  element_type compute_dtype;
  element_type score_accumulation_dtype;
  static constexpr auto fields() {
    return std::make_tuple(field("index_dtype", &numerical_state_record::index_dtype),
                           field("parameter_dtype", &numerical_state_record::parameter_dtype),
                           field("compute_dtype", &numerical_state_record::compute_dtype),
                           field("score_accumulation_dtype", &numerical_state_record::score_accumulation_dtype));
  }
  friend bool operator==(const numerical_state_record&, const numerical_state_record&) noexcept = default;
};

}  // namespace posgeo::manifest
