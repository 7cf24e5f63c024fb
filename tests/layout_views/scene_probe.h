// Questions that tests ask of a scene: which texts, which hits, does anything stick out.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <string>
#include <vector>

namespace pallascope::test {

[[nodiscard]] std::vector<layout::TextItem> textsOf(const layout::Scene& scene);
// The texts whose vertical middle lies within `tolerance` of y, from left to right.
[[nodiscard]] std::vector<std::string> textsAt(const layout::Scene& scene, double y,
                                               double tolerance = 3);
[[nodiscard]] bool hasText(const layout::Scene& scene, const std::string& part);
// The first text that contains `part`; fails the test when there is none.
[[nodiscard]] layout::TextItem textWith(const layout::Scene& scene, const std::string& part);

// The ink of a text: where its letters are.
[[nodiscard]] layout::Rect inkOf(const layout::TextItem& item);

// One sentence per text that leaves the scene; empty when none does.
[[nodiscard]] std::vector<std::string> textsOutside(const layout::Scene& scene);

// The topmost fill at a point.
[[nodiscard]] const layout::FillItem* fillAt(const layout::Scene& scene, double x, double y);

// Looking at a run at a share of its time.
[[nodiscard]] layout::ViewState at(const layout::RunView& run, double share);
[[nodiscard]] layout::ViewState at(Picoseconds now);

} // namespace pallascope::test
