// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/identifier.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/stated.hpp>

#include <string>
#include <string_view>

namespace posgeo::contract {

/// What is admitted together and restored together.
/// Units:  table_rows in rows, config_max_position_embeddings in positions.
/// Source: the release tuple of the positional-call manifest numinens.position-call.v1.
struct release_tuple {
  posgeo::release_id release_id;
  posgeo::checkpoint_id checkpoint_id;
  description position_method;
  required<index_t> table_rows;
  required<index_t> config_max_position_embeddings;
  posgeo::position_id_policy position_id_policy;
  stated<posgeo::adapter_id> adapter_id;
  backend_id runtime_backend;
};

/// Every field in which an observed tuple differs from the wanted one, in the order of the fields.
[[nodiscard]] inline violations differences(const release_tuple& observed, const release_tuple& wanted) {
  violations found;
  const auto expect = [&found](std::string_view field, bool same, const auto& expected, const auto& actual) {
    found.expect(same, errc::release_step, "release tuple", field, expected, actual);
  };
  const auto names = [&expect](std::string_view field, const auto& has, const auto& should) {
    expect(field, has == should, should.name(), has.name());
  };
  const auto counts = [&expect](std::string_view field, index_t has, index_t should) {
    expect(field, has == should, should, has);
  };
  names("release_id", observed.release_id, wanted.release_id);
  names("checkpoint_id", observed.checkpoint_id, wanted.checkpoint_id);
  const description& has = observed.position_method;
  const description& should = wanted.position_method;
  expect("position_method", has == should, should.name(),
         text("{}{}", has.name(), has.name() == should.name() ? " with other settings" : ""));
  counts("table_rows", observed.table_rows, wanted.table_rows);
  counts("config_max_position_embeddings", observed.config_max_position_embeddings,
         wanted.config_max_position_embeddings);
  names("position_id_policy", observed.position_id_policy, wanted.position_id_policy);
  const auto adapter = [](const release_tuple& of) {
    const auto& id = of.adapter_id.value();
    return id ? fmt::format("'{}'", id->name()) : "none";
  };
  expect("adapter_id", observed.adapter_id == wanted.adapter_id, adapter(wanted), adapter(observed));
  names("runtime_backend", observed.runtime_backend, wanted.runtime_backend);
  return found;
}

/// What a live cache was made under.
struct cache_stamp {
  release_tuple tuple;
  index_t generation;  ///< releases and rollbacks before it
};

}  // namespace posgeo::contract
