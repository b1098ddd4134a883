// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/identifier.hpp>
#include <posgeo/manifest/fields.hpp>

namespace posgeo::manifest {

/// What runs the call. A field left out does not compile.
struct runtime_record {
  posgeo::backend_id backend_id;
  posgeo::implementation_revision implementation_revision;
  static constexpr auto fields() {
    return std::make_tuple(field("backend_id", &runtime_record::backend_id),
                           field("implementation_revision", &runtime_record::implementation_revision));
  }
  friend bool operator==(const runtime_record&, const runtime_record&) noexcept = default;
};

}  // namespace posgeo::manifest
