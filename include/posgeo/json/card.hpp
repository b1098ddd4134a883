// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card.hpp>
#include <posgeo/json/canonical.hpp>
#include <posgeo/json/digest.hpp>
#include <posgeo/json/limits.hpp>
#include <posgeo/json/record.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace posgeo::json {

/// The name in the key "schema" of every positional card.
inline constexpr std::string_view card_schema = "posgeo.positional-card.v1";

/// A card as a JSON value.
/// Source: docs/schema/positional-card.v1.schema.json.
[[nodiscard]] inline value card_value(const audit::positional_card& given) {
  value out = detail::to_value(given);
  out["schema"] = card_schema;
  return out;
}

/// The card of a JSON value. Whether its parts contradict one another is audit::check's to say.
/// Throws: errc::manifest with the path to the key that is unknown, missing or of another type or range.
[[nodiscard]] inline audit::positional_card card_from(const value& given) {
  const detail::node root(given);
  constexpr auto keys = detail::keys_of<audit::positional_card>();
  std::array<std::string_view, keys.size() + 1> all{"schema"};
  std::copy(keys.begin(), keys.end(), all.begin() + 1);
  root.expect_keys(all);
  const detail::node schema = root.at("schema");
  schema.expect(schema.get() == card_schema, card_schema, schema.kind());
  return detail::members_from<audit::positional_card>(root);
}

/// The card of a JSON text.
/// Throws: as card_from; errc::manifest for a text that is no JSON, has a key twice or is beyond the limits.
[[nodiscard]] inline audit::positional_card read_card(std::string_view text_of_json, const limits& most = {}) {
  return card_from(parse(text_of_json, most));
}

/// The one text of a card: keys sorted, no spaces. Equal cards have equal texts.
/// Throws: errc::manifest for a card that read_card would refuse, such as one with NaN, or a text that is not UTF-8.
[[nodiscard]] inline std::string write_card(const audit::positional_card& given, const limits& most = {}) {
  std::string out;
  try {
    out = canonical(card_value(given));
  } catch (const value::exception&) {
    require(false, errc::manifest, "positional card", "texts", "UTF-8", "other bytes");
  }
  require(read_card(out, most) == given, errc::manifest, "positional card", "$", "a card that reads back as it is",
          "another");
  return out;
}

/// audit::card_of with the hash of this component.
template <class... Policies, described_policy... Encoders>
[[nodiscard]] audit::positional_card card_of(const attention<Policies...>& method,
                                             const audit::card_settings& stated_by_caller,
                                             const Encoders&... encoders) {
  return audit::card_of(method, stated_by_caller, xxh3{}, encoders...);
}

}  // namespace posgeo::json
