// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/json/canonical.hpp>
#include <posgeo/json/digest.hpp>
#include <posgeo/json/record.hpp>
#include <posgeo/manifest/of.hpp>

#include <string>
#include <string_view>

namespace posgeo::manifest {

/// The record as a JSON value, for nlohmann's conversions.
inline void to_json(json::value& to, const position_call_record& given) {
  to = json::detail::to_value(given);
  to["schema"] = schema_name;
}

}  // namespace posgeo::manifest

namespace posgeo::json {

/// The record of a JSON value.
/// Throws: errc::manifest with the path to the key that is unknown, missing or of another type or range.
[[nodiscard]] inline manifest::position_call_record record_of(const value& given) {
  const detail::node root(given);
  constexpr auto keys = detail::keys_of<manifest::position_call_record>();
  std::array<std::string_view, keys.size() + 1> all{"schema"};
  std::copy(keys.begin(), keys.end(), all.begin() + 1);
  root.expect_keys(all);
  const detail::node schema = root.at("schema");
  schema.expect(schema.get() == manifest::schema_name, manifest::schema_name, schema.kind());
  return detail::members_from<manifest::position_call_record>(root);
}

/// The record of a JSON text.
/// Throws: as above; errc::manifest for a text that is no JSON, has a key twice or is beyond the limits.
/// Source: docs/schema/position-call.v1.schema.json.
[[nodiscard]] inline manifest::position_call_record read(std::string_view text_of_json, const limits& most = {}) {
  return record_of(parse(text_of_json, most));
}

/// The one text of a record: keys sorted, no spaces, the fewest digits. Equal records have equal texts.
/// Throws: errc::manifest for a record that read would refuse.
/// Source: RFC 8785, but for integers, which keep 64 bits.
[[nodiscard]] inline std::string write(const manifest::position_call_record& given, const limits& most = {}) {
  std::string out;
  try {
    out = canonical(value(given));
  } catch (const value::exception&) {
    require(false, errc::manifest, "manifest", "texts", "UTF-8", "other bytes");
  }
  require(read(out, most) == given, errc::manifest, "manifest", "$", "a record that reads back as it is", "another");
  return out;
}

/// XXH3, 128 bits, of the canonical text, as 32 hex digits. Equal records have equal fingerprints.
/// Throws: as write.
[[nodiscard]] inline std::string fingerprint(const manifest::position_call_record& given, const limits& most = {}) {
  return xxh3{}(write(given, most)).text();
}

/// manifest::of with the hash of this component.
template <class Plan, class... Encoders>
[[nodiscard]] manifest::position_call_record manifest_of(const Plan& plan, const manifest::stated_by_caller& caller,
                                                         const Encoders&... encoders) {
  return manifest::of(plan, caller, xxh3{}, encoders...);
}

}  // namespace posgeo::json
