// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>

#include <string>
#include <utility>

namespace posgeo {

/// A name that knows what it names: equal letters in two fields are two things.
/// Throws: errc::missing_value for an empty name.
template <class Tag>
class identifier {
 public:
  explicit identifier(std::string name) : name_(std::move(name)) {
    require(!name_.empty(), errc::missing_value, "identifier", "characters", "at least 1", 0);
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  friend bool operator==(const identifier&, const identifier&) noexcept = default;

 private:
  std::string name_;
};

using request_id = identifier<struct request_id_tag>;        ///< whose rows they are
using release_id = identifier<struct release_id_tag>;        ///< of the tuple that is served
using checkpoint_id = identifier<struct checkpoint_id_tag>;  ///< of the weights, as by a digest of them
using adapter_id = identifier<struct adapter_id_tag>;        ///< of the adapter's weights, as by a digest of them
using mask_id = identifier<struct mask_id_tag>;              ///< who sees whom: "causal", "prefix 12"
using cache_id = identifier<struct cache_id_tag>;            ///< where rows are kept
using cache_salt = identifier<struct cache_salt_tag>;        ///< keeps tenants apart
using backend_id = identifier<struct backend_id_tag>;        ///< what computes
using implementation_revision = identifier<struct implementation_revision_tag>;  ///< of the backend
using position_id_policy = identifier<struct position_id_policy_tag>;  ///< where ids start, and what padding gets

}  // namespace posgeo
