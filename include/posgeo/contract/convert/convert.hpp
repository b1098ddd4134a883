// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/bucket_axes.hpp>
#include <posgeo/contract/convert/clip_reach.hpp>
#include <posgeo/contract/convert/expected_tensors.hpp>
#include <posgeo/contract/convert/head_places.hpp>
#include <posgeo/contract/convert/mirrored_sign.hpp>
#include <posgeo/contract/convert/projected_table.hpp>
#include <posgeo/contract/convert/proof.hpp>
#include <posgeo/contract/convert/rotary_pairs.hpp>
#include <posgeo/contract/convert/row_offset.hpp>
#include <posgeo/contract/convert/score_scale.hpp>
#include <posgeo/contract/convert/shared_heads.hpp>
#include <posgeo/contract/convert/sinusoid_columns.hpp>
#include <posgeo/contract/load_report.hpp>

namespace posgeo::contract {

struct conversion_request {
  checkpoint_contract source;
  checkpoint_contract target;
  named_tensors tensors;                          ///< by the checkpoint's names
  std::map<std::string, std::string> roles;       ///< the checkpoint's name -> the role; no other name is guessed
  std::set<std::string> set_aside = {};           ///< names that are not the contract's business
  std::map<std::string, std::string> names = {};  ///< role -> the name of the converted tensor; else the role itself
  std::uint64_t seed = 1;                         ///< of the proofs
};

struct conversion {
  checkpoint_contract contract;  ///< the target's
  named_tensors tensors;
  load_report report;                    ///< what became of the checkpoint's tensors
  std::vector<conversion_proof> proofs;  ///< of each layer that holds tensors
};

/// Every step that posgeo has, in the order in which they are tried.
[[nodiscard]] inline std::vector<conversion_step> conversion_steps() {
  return {convert_projected_table,  convert_span_to_reach, convert_bucket_axes,
          convert_head_places,      convert_sign,          convert_reach,
          convert_shared_heads,     convert_reach_to_span, convert_row_offset,
          convert_sinusoid_columns, convert_rotary_pairs,  convert_score_scale};
}

namespace convert_detail {

/// How many layers hold tensors.
inline index_t holders(const checkpoint_contract& c) {
  return c.layers.owner == tensor_owner::every_layer ? index_t{c.layers.layers} : 1;
}
/// "table", or "layers.3.table" where every layer has its own.
inline std::string role_of(const checkpoint_contract& c, index_t layer, const std::string& role) {
  return c.layers.owner == tensor_owner::every_layer ? fmt::format("layers.{}.{}", layer, role) : role;
}

/// Lists a tensor that is not as its contract says.
inline void expect_extents(const named_tensors& tensors, const checkpoint_contract& c, violations& found) {
  for (const expected_tensor& one : expected_tensors(c)) {
    const auto at = tensors.find(one.role);
    if (at == tensors.end()) {
      found.expect(one.need != tensor_need::trained, errc::conversion, "conversion", text("tensor {}", one.role),
                   "one, in the target's contract", "none");
      continue;
    }
    const auto& extents = at->second.extents;
    bool same = extents.size() == one.extents.size();
    for (std::size_t axis = 0; same && axis < extents.size(); ++axis) {
      same = one.extents[axis] == expected_tensor::any ? extents[axis] > 0 : extents[axis] == one.extents[axis];
    }
    std::size_t count = 1;
    for (const index_t extent : extents) count *= static_cast<std::size_t>(extent);
    same = same && at->second.values.size() == count;
    found.expect(same, errc::conversion, "conversion", text("extents of {}", one.role),
                 "those of the target's contract", "others");
  }
}

/// What the checkpoint must hold under the source contract; an extent that it does not fix is the tensor's own.
inline load_request requested(const conversion_request& request) {
  load_request load;
  std::map<std::string, const stored_tensor*> at_role;
  for (const auto& [name, tensor] : request.tensors) {
    const auto renamed = request.roles.find(name);
    at_role[renamed == request.roles.end() ? name : renamed->second] = &tensor;
    if (!request.set_aside.contains(name)) load.checkpoint[name] = tensor.extents;
  }
  for (index_t layer = 0; layer < holders(request.source); ++layer) {
    for (expected_tensor one : expected_tensors(request.source)) {
      const std::string role = role_of(request.source, layer, one.role);
      const auto given = at_role.find(role);
      if (given == at_role.end() && one.need == tensor_need::optional) continue;
      for (std::size_t axis = 0; axis < one.extents.size(); ++axis) {
        const bool has_axis = given != at_role.end() && given->second->extents.size() == one.extents.size();
        if (one.extents[axis] == expected_tensor::any && has_axis) one.extents[axis] = given->second->extents[axis];
      }
      load.wanted[role] = one.extents;
      if (one.need == tensor_need::recomputable) load.recomputable.insert(role);
    }
  }
  for (const auto& [name, role] : request.roles) {
    if (name != role) load.renamed[name] = role;
  }
  return load;
}

/// The converted tensors of one layer, and why they are that.
struct converted_layer {
  named_tensors tensors;
  conversion_proof proof;
};

template <class T>
converted_layer convert_layer(const conversion_request& request, named_tensors tensors,
                              const std::vector<conversion_step>& steps) {
  for (const auto& [role, tensor] : tensors) {
    for (std::size_t n = 0; n < tensor.values.size(); ++n) {
      require(std::isfinite(tensor.values[n]), errc::non_finite, "conversion", text("value {} of {}", n, role),
              "a finite number", tensor.values[n]);
    }
  }
  if (const auto ids = tensors.find("position_ids"); ids != tensors.end()) {
    const auto counts = counted(static_cast<index_t>(ids->second.values.size()));
    require(std::equal(counts.begin(), counts.end(), ids->second.values.begin()), errc::conversion, "conversion",
            "position_ids", "0, 1, 2, ..., which the rows of the table are", "others");
    tensors.erase(ids);  // the target makes them again
  }
  conversion_state state{.contract = request.source, .tensors = tensors};
  for (const conversion_step& step : steps) step(state, request.target);
  state.contract.revision = request.target.revision;
  state.contract.layers = request.target.layers;
  violations found;
  visit_fields(state.contract, request.target, [&found](std::string_view name, const auto& has, const auto& wanted) {
    found.expect(
        has == wanted, errc::conversion, "conversion", name, [&wanted] { return checkpoint_detail::said(wanted); },
        [&has] { return checkpoint_detail::said(has) + ", which no step converts"; });
  });
  if (found.empty()) expect_extents(state.tensors, request.target, found);
  found.throw_if_any();
  auto proof = prove<T>(request.source, tensors, state, request.seed);
  return {std::move(state.tensors), std::move(proof)};
}

}  // namespace convert_detail

/// The tensors of a checkpoint under another contract, with a proof. Nothing is converted that no chain of steps links,
/// and nothing is returned that its proof does not hold for. T is what the proofs compute in.
/// Shapes: of the tensors, see expected_tensors; where every layer holds its own, roles begin with "layers.N.".
/// Throws: errc::checkpoint_contract and errc::head_count for a contract that contradicts itself;
///         errc::checkpoint_tensors for a tensor that is missing or of other extents; errc::conversion, naming the
///         field, for contracts that no steps link, tensors that neither the contract nor `set_aside` names, numbers
///         that the target cannot hold, and a proof that fails; errc::non_finite for a number that is not finite.
/// Source: the checkpoint contract in docs/conversion.md.
template <class T = double>
[[nodiscard]] conversion convert(const conversion_request& request,
                                 const std::vector<conversion_step>& steps = conversion_steps()) {
  using namespace convert_detail;
  const checkpoint_contract& source = request.source;
  const checkpoint_contract& target = request.target;
  violations found = check(source);
  if (found.empty()) found = check(target);
  found.throw_if_any();
  found.expect(convertible(source.family), errc::conversion, "conversion", "family", "one that has conversions",
               [&] { return checkpoint_detail::said(source.family); });
  found.expect(
      source.heads == target.heads, errc::conversion, "conversion", "heads",
      [&] { return checkpoint_detail::said(target.heads); },
      [&] { return checkpoint_detail::said(source.heads) + ", which no step converts"; });
  found.expect(
      source.layers.layers == target.layers.layers, errc::conversion, "conversion", "layers",
      [&] { return checkpoint_detail::said(target.layers); },
      [&] { return checkpoint_detail::said(source.layers) + ", which no step converts"; });
  for (const std::string& name : request.set_aside) {
    found.expect(request.tensors.contains(name) && !request.roles.contains(name), errc::conversion, "conversion",
                 text("name {} set aside", name), "a tensor of the checkpoint that has no role", "another");
  }
  for (const auto& [name, tensor] : request.tensors) {
    index_t count = 1;
    bool fits = true;
    for (const index_t extent : tensor.extents) {
      fits = fits && extent >= 0 && !__builtin_mul_overflow(count, extent, &count);
    }
    found.expect(fits && std::cmp_equal(tensor.values.size(), count), errc::shape_mismatch, "conversion",
                 text("values of {}", name), "the product of its extents", tensor.values.size());
  }
  found.throw_if_any();

  const load_request load = requested(request);
  conversion out{.contract = target, .tensors = {}, .report = report_load(load), .proofs = {}};
  require_loadable(out.report);
  for (const std::string& name : out.report.unexpected) {
    found.expect(false, errc::conversion, "conversion", text("tensor {}", name),
                 "a role in the source's contract, or set aside", "neither");
  }
  found.throw_if_any();

  std::vector<converted_layer> layers;
  for (index_t layer = 0; layer < holders(source); ++layer) {
    named_tensors own;
    for (const expected_tensor& one : expected_tensors(source)) {
      const std::string role = role_of(source, layer, one.role);
      for (const auto& [name, tensor] : request.tensors) {
        const auto renamed = request.roles.find(name);
        const bool set_aside = request.set_aside.contains(name);
        if (!set_aside && (renamed == request.roles.end() ? name : renamed->second) == role) own[one.role] = tensor;
      }
    }
    layers.push_back(convert_layer<T>(request, std::move(own), steps));
    out.proofs.push_back(layers.back().proof);
  }
  for (std::size_t n = 1; holders(target) == 1 && n < layers.size(); ++n) {
    require(layers[n].tensors == layers[0].tensors, errc::conversion, "conversion", "layers",
            "the same numbers in every layer, to be held once", text("others in layer {}", n));
  }
  std::set<std::string> unused;
  for (const auto& [role, name] : request.names) unused.insert(role);
  for (index_t layer = 0; layer < holders(target); ++layer) {
    const auto& from = layers[layers.size() == 1 ? 0 : static_cast<std::size_t>(layer)].tensors;
    for (const auto& [role, tensor] : from) {
      const std::string full = role_of(target, layer, role);
      const auto named = request.names.find(full);
      unused.erase(full);
      const std::string& name = named == request.names.end() ? full : named->second;
      require(out.tensors.emplace(name, tensor).second, errc::conversion, "conversion", text("name {}", name),
              "one for each converted tensor", "the same for two");
    }
  }
  for (const std::string& role : unused) {
    found.expect(false, errc::conversion, "conversion", text("name for {}", role), "the role of a converted tensor",
                 "none of them");
  }
  found.throw_if_any();
  return out;
}

}  // namespace posgeo::contract
