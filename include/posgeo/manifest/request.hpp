// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/identifier.hpp>
#include <posgeo/core/stated.hpp>
#include <posgeo/manifest/fields.hpp>

namespace posgeo::manifest {

/// Who asks, and of which weights. A field left out does not compile.
struct request_record {
  posgeo::request_id request_id;
  posgeo::release_id release_id;
  posgeo::checkpoint_id checkpoint_id;
  stated<posgeo::adapter_id> adapter_id;
  static constexpr auto fields() {
    return std::make_tuple(
        field("request_id", &request_record::request_id), field("release_id", &request_record::release_id),
        field("checkpoint_id", &request_record::checkpoint_id), field("adapter_id", &request_record::adapter_id));
  }
  friend bool operator==(const request_record&, const request_record&) noexcept = default;
};

}  // namespace posgeo::manifest
