// Questions that tests ask about a scene: which texts and targets it has, and whether anything
// sticks out.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::test {

[[nodiscard]] std::vector<layout::TextItem> textsOf(const layout::Scene& scene);
// The texts whose vertical middle lies within `tolerance` of y, from left to right.
[[nodiscard]] std::vector<std::string> textsAt(const layout::Scene& scene, double y,
                                               double tolerance = 3);
[[nodiscard]] bool hasText(const layout::Scene& scene, const std::string& part);
// The first text that contains `part`. Fails the test if there is none.
[[nodiscard]] layout::TextItem textWith(const layout::Scene& scene, const std::string& part);

// The rectangle of a text's letters, which may be smaller than its item.
[[nodiscard]] layout::Rect inkOf(const layout::TextItem& item);

// One sentence for each text that sticks out of the scene.
[[nodiscard]] std::vector<std::string> textsOutside(const layout::Scene& scene);

// One sentence for each text that lies over another one.
[[nodiscard]] std::vector<std::string> overlaps(const layout::Scene& scene);

// The topmost fill at a point.
[[nodiscard]] const layout::FillItem* fillAt(const layout::Scene& scene, double x, double y);

// The state of looking at a run at a share of its time.
[[nodiscard]] layout::ViewState at(const layout::RunView& run, double share);
[[nodiscard]] layout::ViewState at(Picoseconds now);

// The rectangle around all places of an operand, or of one of its blocks.
[[nodiscard]] layout::Rect aroundAll(const layout::Scene& scene, std::int32_t operand,
                                     std::optional<std::int64_t> block);

} // namespace pallascope::test
