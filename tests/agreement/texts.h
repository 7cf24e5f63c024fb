// Texts of a picture that leave it or lie on each other.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <memory>
#include <string>
#include <vector>

namespace pallascope::test {

// One sentence for each such text.
[[nodiscard]] std::vector<std::string> misplacedTexts(const layout::Scene& scene);

// The same in all views of a run, at several moments, as large as docks of a small and a large
// window are. Each sentence is there once.
[[nodiscard]] std::vector<std::string>
misplacedTexts(const layout::RunView& run,
               const std::shared_ptr<const layout::RunView>& kept = nullptr);

} // namespace pallascope::test
