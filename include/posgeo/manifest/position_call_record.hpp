// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/manifest/attended_space.hpp>
#include <posgeo/manifest/cache.hpp>
#include <posgeo/manifest/numerical_state.hpp>
#include <posgeo/manifest/position_method.hpp>
#include <posgeo/manifest/request.hpp>
#include <posgeo/manifest/row_space.hpp>
#include <posgeo/manifest/runtime.hpp>
#include <posgeo/manifest/visibility.hpp>

namespace posgeo::manifest {

/// The name of the record, written into every manifest.
inline constexpr std::string_view schema_name = "numinens.position-call.v1";

/// One attention call as data: everything that decides which geometric question it asks.
/// Source: the positional-call manifest numinens.position-call.v1.
struct position_call_record {
  request_record request;
  row_space_record row_space;
  query_space_record query_space;
  key_space_record key_space;
  position_method_record position_method;
  visibility_record visibility;
  stated<cache_record> cache;
  numerical_state_record numerical_state;
  runtime_record runtime;
  static constexpr auto fields() {
    using r = position_call_record;
    return std::make_tuple(field("request", &r::request), field("row_space", &r::row_space),
                           field("query_space", &r::query_space), field("key_space", &r::key_space),
                           field("position_method", &r::position_method), field("visibility", &r::visibility),
                           field("cache", &r::cache), field("numerical_state", &r::numerical_state),
                           field("runtime", &r::runtime));
  }
  friend bool operator==(const position_call_record&, const position_call_record&) noexcept = default;
};

}  // namespace posgeo::manifest
