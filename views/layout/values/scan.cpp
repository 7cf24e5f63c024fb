#include "views/layout/values/scan.h"

#include "core/base/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace pallascope::layout::values {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

constexpr std::int64_t kRun = 256; // elements; so that few of them share their run with a NaN
constexpr std::size_t kLanes = 4;
constexpr float kInfiniteFloat = std::numeric_limits<float>::infinity();

// What finite elements come to, in lanes: the compiler makes one vector of each array.
struct Lanes
{
    std::array<float, kLanes> least{kInfiniteFloat, kInfiniteFloat, kInfiniteFloat, kInfiniteFloat};
    std::array<float, kLanes> leastMagnitude = least;
    std::array<float, kLanes> largest{-kInfiniteFloat, -kInfiniteFloat, -kInfiniteFloat,
                                      -kInfiniteFloat};
    std::array<double, kLanes> sum{};

    void add(const std::array<float, kLanes>& numbers)
    {
        for (std::size_t i = 0; i < kLanes; ++i) {
            const float number = numbers[i], magnitude = std::fabs(number);
            const float counted = magnitude > 0 ? magnitude : kInfiniteFloat;
            least[i] = number < least[i] ? number : least[i];
            largest[i] = number > largest[i] ? number : largest[i];
            leastMagnitude[i] = counted < leastMagnitude[i] ? counted : leastMagnitude[i];
            sum[i] += static_cast<double>(number);
        }
    }
};

struct Tally
{
    std::int64_t values = 0, arriving = 0, undefined = 0, inf = 0, nan = 0;
    double least = kInfinite, largest = -kInfinite, sum = 0, leastMagnitude = kInfinite;
    bool isPositive = false; // the first Inf
    Lanes lanes;             // to be folded into the figures

    void fold()
    {
        for (std::size_t i = 0; i < kLanes; ++i) {
            least = std::min<double>(least, lanes.least[i]);
            largest = std::max<double>(largest, lanes.largest[i]);
            leastMagnitude = std::min<double>(leastMagnitude, lanes.leastMagnitude[i]);
            sum += lanes.sum[i];
        }
        lanes = {};
    }

    void add(double value)
    {
        const double magnitude = std::fabs(value);
        if (!(magnitude < kInfinite)) {
            isPositive = inf == 0 ? value > 0 : isPositive;
            (std::isnan(value) ? nan : inf) += 1;
            return;
        }
        ++values;
        sum += value;
        least = std::min(least, value);
        largest = std::max(largest, value);
        leastMagnitude = magnitude < leastMagnitude && magnitude > 0 ? magnitude : leastMagnitude;
    }

    void add(const Tally& other)
    {
        values += other.values;
        arriving += other.arriving;
        undefined += other.undefined;
        inf += other.inf;
        nan += other.nan;
        sum += other.sum;
        least = std::min(least, other.least);
        largest = std::max(largest, other.largest);
        leastMagnitude = std::min(leastMagnitude, other.leastMagnitude);
    }

    [[nodiscard]] Cell cell() const
    {
        return nan > 0         ? Cell{Kind::Nan, 0}
               : inf > 0       ? Cell{Kind::Inf, isPositive ? 1.0 : -1.0}
               : undefined > 0 ? Cell{Kind::Undefined, 0}
               : arriving > 0  ? Cell{Kind::Arriving, 0}
               : values > 0    ? Cell{Kind::Value, -least > largest ? least : largest}
                               : Cell{};
    }

    [[nodiscard]] Counts counts() const
    {
        Counts counts{
            .values = values, .arriving = arriving, .undefined = undefined, .inf = inf, .nan = nan};
        if (values > 0) {
            counts.least = least;
            counts.largest = largest;
            counts.mean = sum / static_cast<double>(values);
            counts.leastMagnitude = leastMagnitude < kInfinite ? leastMagnitude : 0;
        }
        return counts;
    }
};

const std::uint8_t* bytesOf(const SharedBytes& bytes)
{
    return reinterpret_cast<const std::uint8_t*>(bytes.get());
}

bool has(const std::uint8_t* flags, std::uint8_t flag, std::int64_t first, std::int64_t count)
{
    return std::memchr(flags + first, flag, static_cast<std::size_t>(count)) != nullptr;
}

// Adds elements of which all are defined and of a dtype that floats hold, if all are finite.
// Otherwise returns false.
template<class Read>
bool addFinite(std::int64_t first, std::int64_t count, Tally& tally, Read read)
{
    constexpr std::uint32_t kExponent = 0x7f800000;
    std::uint32_t special = 0;
    for (std::int64_t i = first; i < first + count; ++i) {
        const bool isSpecial = (std::bit_cast<std::uint32_t>(read(i)) & kExponent) == kExponent;
        special |= isSpecial ? 1U : 0U;
    }
    if (special != 0) {
        return false;
    }
    constexpr auto kStep = static_cast<std::int64_t>(kLanes);
    const std::int64_t last = first + count / kStep * kStep;
    for (std::int64_t i = first; i < last; i += kStep) {
        tally.lanes.add({read(i), read(i + 1), read(i + 2), read(i + 3)});
    }
    tally.values += last - first;
    for (std::int64_t i = last; i < first + count; ++i) {
        tally.add(static_cast<double>(read(i)));
    }
    return true;
}

// Adds elements one after the other. `read` gives the number of one.
template<class Read>
void addRun(const ValuesView& view, std::int64_t first, std::int64_t count, Tally& tally, Read read)
{
    const std::uint8_t* defined = bytesOf(view.defined);
    const std::uint8_t* arriving = bytesOf(view.arriving);
    if (arriving == nullptr || !has(arriving, 1, first, count)) {
        if (defined != nullptr && !has(defined, 1, first, count)) {
            tally.undefined += count;
            return;
        }
        if constexpr (std::is_same_v<decltype(read(first)), float>) {
            if ((defined == nullptr || !has(defined, 0, first, count))
                && addFinite(first, count, tally, read)) {
                return;
            }
        }
    }
    for (std::int64_t i = first; i < first + count; ++i) {
        if (arriving != nullptr && arriving[i] != 0) {
            ++tally.arriving;
        } else if (defined != nullptr && defined[i] == 0) {
            ++tally.undefined;
        } else {
            tally.add(static_cast<double>(read(i)));
        }
    }
}

// Calls visit(read) with a function that reads an element of the array as a number: the frequent
// dtypes have loops of their own.
template<class Visit>
void withReader(const Array& array, Visit visit)
{
    const std::byte* data = array.data.get();
    switch (array.dtype) {
    case DType::F32:
        return visit([at = array.as<float>()](std::int64_t i) { return at[i]; });
    case DType::BF16:
        return visit(
            [at = array.as<std::uint16_t>()](std::int64_t i) { return bf16ToFloat(at[i]); });
    case DType::Int32:
        return visit([at = array.as<std::int32_t>()](std::int64_t i) -> double { return at[i]; });
    case DType::F16:
    case DType::F8E4M3FN:
    case DType::F8E5M2:
    case DType::F8E4M3B11FNUZ:
    case DType::F4E2M1FN:
    case DType::Int2:
    case DType::UInt2:
    case DType::Int4:
    case DType::UInt4:
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
    case DType::UInt32:
    case DType::Bool:
        break;
    }
    if (dtypeBytes(array.dtype) == 1) {
        std::array<double, 256> numbers{};
        for (std::size_t code = 0; code < numbers.size(); ++code) {
            const std::array<std::byte, 4> bytes{static_cast<std::byte>(code)};
            numbers[code] = readElement(array.dtype, bytes.data(), 0);
        }
        return visit([&numbers, data](std::int64_t i) {
            return numbers[static_cast<std::size_t>(data[i])];
        });
    }
    visit([&](std::int64_t i) { return readElement(array.dtype, data, i); });
}

// Elements of a ref of which none is defined.
void addUndefined(const ValuesView& view, std::int64_t first, std::int64_t count, Tally& tally)
{
    const std::uint8_t* arriving = bytesOf(view.arriving);
    const std::int64_t here =
        arriving == nullptr ? 0 : count - std::count(arriving + first, arriving + first + count, 0);
    tally.arriving += here;
    tally.undefined += count - here;
}

// Calls visit(add), where add(first, count, tally) adds elements to a tally.
template<class Visit>
void withAdder(const ValuesView& view, Visit visit)
{
    if (!view.elements.data) {
        return visit([&](std::int64_t first, std::int64_t count, Tally& tally) {
            addUndefined(view, first, count, tally);
        });
    }
    withReader(view.elements, [&](auto read) {
        visit([&](std::int64_t first, std::int64_t count, Tally& tally) {
            addRun(view, first, count, tally, read);
        });
    });
}

} // namespace

Kind kindOf(const ValuesView& view, std::int64_t element)
{
    if (view.arriving && bytesOf(view.arriving)[element] != 0) {
        return Kind::Arriving;
    }
    if (!view.elements.data || (view.defined && bytesOf(view.defined)[element] == 0)) {
        return Kind::Undefined;
    }
    const double value = view.elements.at(element);
    return std::isnan(value) ? Kind::Nan : std::isinf(value) ? Kind::Inf : Kind::Value;
}

double valueOf(const ValuesView& view, std::int64_t element)
{
    const Kind kind = kindOf(view, element);
    return kind == Kind::Value || kind == Kind::Inf ? view.elements.at(element) : 0;
}

Counts countsOf(const ValuesView& view)
{
    Tally tally;
    const std::int64_t all = view.elements.shape.elements();
    withAdder(view, [&](auto add) {
        for (std::int64_t first = 0; first < all; first += kRun) {
            add(first, std::min(kRun, all - first), tally);
        }
    });
    tally.fold();
    return tally.counts();
}

Scanned scan(const ValuesView& view, const Plane& plane, const Region& region, std::int64_t side)
{
    Scanned scanned{{side, ceilDiv(region.rows, side), ceilDiv(region.columns, side), {}}, {}};
    Cells& cells = scanned.cells;
    Tally all;
    std::vector<Tally> inRow(static_cast<std::size_t>(cells.columns));
    withAdder(view, [&](auto add) {
        for (std::int64_t row = 0; row < cells.rows; ++row) {
            std::fill(inRow.begin(), inRow.end(), Tally());
            for (std::int64_t r = row * side; r < std::min((row + 1) * side, region.rows); ++r) {
                const std::int64_t before = (region.row + r) * plane.columns;
                for (std::int64_t column = 0; column < cells.columns; ++column) {
                    const std::int64_t first = before + region.column + column * side;
                    const std::int64_t end =
                        std::min({before + region.column + region.columns, first + side,
                                  before + plane.columns, plane.elements});
                    if (end > first) {
                        add(plane.first + first, end - first,
                            inRow[static_cast<std::size_t>(column)]);
                    }
                }
            }
            for (Tally& tally : inRow) {
                tally.fold();
                all.add(tally);
                cells.cells.push_back(tally.cell());
            }
        }
    });
    scanned.counts = all.counts();
    return scanned;
}

std::int64_t notableElement(const ValuesView& view)
{
    if (!view.elements.data || !isFloat(view.elements.dtype)) {
        return 0;
    }
    std::int64_t nan = -1, inf = -1;
    const auto find = [&](Kind kind, std::int64_t from) {
        while (kindOf(view, from) != kind) {
            ++from;
        }
        return from;
    };
    const std::int64_t all = view.elements.shape.elements();
    withAdder(view, [&](auto add) {
        for (std::int64_t first = 0; first < all && nan < 0; first += kRun) {
            Tally tally;
            add(first, std::min(kRun, all - first), tally);
            inf = inf < 0 && tally.inf > 0 ? find(Kind::Inf, first) : inf;
            nan = tally.nan > 0 ? find(Kind::Nan, first) : nan;
        }
    });
    return nan >= 0 ? nan : std::max<std::int64_t>(inf, 0);
}

} // namespace pallascope::layout::values
