// Draws what a ref holds at one moment: a heat map of the last two axes, a legend with what is in
// sight, and numbers around one element. `pallascope state --ref NAME --heat FILE` writes this
// picture.
#pragma once

#include "core/base/array.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

// The contents of a ref.
struct ValuesView
{
    std::string name;   // the author's name of the ref
    std::string memory; // "VMEM"
    Array elements;
    std::vector<std::uint8_t> defined; // for each element: 1 or 0
    Color color = Role::Vmem;          // of the operand; magnitudes are shown in it
};

enum class ValuesScale : std::uint8_t
{
    Range, // from the least to the largest value; diverging from 0 if both signs occur
    Log    // by the logarithm of the magnitude
};

struct ValuesChoice
{
    // An index of one element. The heat map shows the plane of the last two axes in which it lies,
    // and the numbers are those around it. None: the first NaN, else the first Inf, else the first
    // element.
    std::optional<std::vector<std::int64_t>> element;
    ValuesScale scale = ValuesScale::Range;
};

// The scene without its head, which withHeader() adds. The caption says what the whole ref holds.
// An element that is undefined or that no element stands for is never shown as a number.
[[nodiscard]] Scene layoutValues(const ValuesView& view, const ValuesChoice& choice, Size size);

} // namespace pallascope::layout
