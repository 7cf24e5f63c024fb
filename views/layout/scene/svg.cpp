// Writes the items that the widgets paint as a standalone SVG file.
#include "views/layout/scene/svg.h"

#include "views/layout/scene/font_metrics.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

namespace pallascope::layout {

namespace {

// Writes a number with at most two decimals, without an exponent and independent of the locale.
std::string number(double value)
{
    std::array<char, 64> buffer{};
    const double rounded = std::round(value * 100.0) / 100.0;
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), rounded == 0.0 ? 0.0 : rounded,
                      std::chars_format::fixed);
    return error == std::errc() ? std::string(buffer.data(), end) : "0";
}

std::string attribute(std::string_view name, double value)
{
    return " " + std::string(name) + "=\"" + number(value) + "\"";
}

std::string attribute(std::string_view name, const std::string& value)
{
    return " " + std::string(name) + "=\"" + value + "\"";
}

std::string place(const Rect& r)
{
    return attribute("x", r.x) + attribute("y", r.y) + attribute("width", r.w)
           + attribute("height", r.h);
}

std::string hex(Rgb c)
{
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string text = "#";
    for (const std::uint8_t channel : {c.r, c.g, c.b}) {
        text += kDigits[channel >> 4U];
        text += kDigits[channel & 15U];
    }
    return text;
}

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            // XML 1.0 allows no other control characters, not even escaped.
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

class SvgWriter
{
public:
    explicit SvgWriter(Theme theme)
        : m_theme(theme)
    {}

    [[nodiscard]] std::string write(const Scene& scene, double scale)
    {
        for (const Item& item : scene.items) {
            std::visit([this](const auto& shape) { add(shape); }, item);
        }
        for (; m_depth > 0; --m_depth) {
            m_body += "</g>\n";
        }
        const std::string size =
            attribute("width", scene.width) + attribute("height", scene.height);
        const std::string box = "0 0 " + number(scene.width) + " " + number(scene.height);
        const std::string shown =
            attribute("width", scene.width * scale) + attribute("height", scene.height * scale);
        return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + shown + attribute("viewBox", box)
               + ">\n" + "<title>" + escaped(scene.title) + "</title>\n<defs>\n" + m_definitions
               + "</defs>\n" + "<rect" + size + attribute("fill", hex(resolve(Role::View, m_theme)))
               + "/>\n" + m_body + "</svg>\n";
    }

private:
    std::string color(Color c) const { return hex(resolve(c, m_theme)); }

    void fillRect(const Rect& rect, const std::string& fill)
    {
        m_body += "<rect" + place(rect) + attribute("fill", fill) + "/>\n";
    }

    static std::string points(const std::vector<Point>& list)
    {
        std::string text;
        for (const Point& p : list) {
            text += (text.empty() ? "" : " ") + number(p.x) + "," + number(p.y);
        }
        return text;
    }

    void add(const FillItem& item) { fillRect(item.rect, color(item.color)); }

    void add(const HatchItem& item)
    {
        fillRect(item.rect, color(item.background));
        fillRect(item.rect, "url(#" + pattern(item.hatch, color(item.color)) + ")");
    }

    // There is one pattern per kind and colour. It lies in user space, so its origin is fixed as
    // that of the widgets' tiles is.
    std::string pattern(Hatch hatch, const std::string& stroke)
    {
        const auto key = std::make_pair(hatch, stroke);
        if (const auto found = m_patterns.find(key); found != m_patterns.end()) {
            return found->second;
        }
        std::string id = "h" + std::to_string(m_patterns.size() + 1);
        const HatchTile tile = hatchTile(hatch);
        const std::string s = number(tile.step);
        const std::string most = number(tile.step + 1);
        // The stripe itself, and the corners of the two neighbouring stripes that reach into the
        // tile.
        const std::string path =
            tile.rising ? "M-1,1 L1,-1 M0," + s + " L" + s + ",0 M" + number(tile.step - 1) + ","
                              + most + " L" + most + "," + number(tile.step - 1)
                        : "M-1," + number(tile.step - 1) + " L1," + most + " M0,0 L" + s + "," + s
                              + " M" + number(tile.step - 1) + ",-1 L" + most + ",1";
        m_definitions += "<pattern" + attribute("id", id) + " patternUnits=\"userSpaceOnUse\""
                         + attribute("width", tile.step) + attribute("height", tile.step) + "><path"
                         + attribute("d", path) + attribute("stroke", stroke)
                         + attribute("stroke-width", tile.thickness * 0.7071) + "/></pattern>\n";
        m_patterns.emplace(key, id);
        return id;
    }

    void add(const PolylineItem& item)
    {
        std::string dash;
        for (const double part : item.dash) {
            dash += (dash.empty() ? "" : " ") + number(part * item.width);
        }
        m_body += "<polyline" + attribute("points", points(item.points)) + " fill=\"none\""
                  + attribute("stroke", color(item.color)) + attribute("stroke-width", item.width)
                  + (dash.empty() ? "" : attribute("stroke-dasharray", dash)) + "/>\n";
    }

    void add(const PolygonItem& item)
    {
        m_body += "<polygon" + attribute("points", points(item.points))
                  + attribute("fill", color(item.fill))
                  + (item.hasEdge ? attribute("stroke", color(item.edge))
                                        + attribute("stroke-width", item.edgeWidth)
                                  : "")
                  + "/>\n";
    }

    void add(const DiscItem& item)
    {
        m_body += "<circle" + attribute("cx", item.center.x) + attribute("cy", item.center.y)
                  + attribute("r", item.radius) + attribute("fill", color(item.fill))
                  + attribute("stroke", color(item.edge))
                  + attribute("stroke-width", item.edgeWidth) + "/>\n";
    }

    void add(const TextItem& item)
    {
        const bool mono = item.weight == Weight::Mono || item.weight == Weight::MonoBold;
        const Rect& r = item.rect;
        const double x = item.align == Align::Left    ? r.x
                         : item.align == Align::Right ? r.right()
                                                      : r.x + r.w / 2;
        const double middle = r.y + r.h / 2 + kBaselineBelowMiddle * item.size;
        const double baseline = item.angle == 0 ? std::round(middle) : middle;
        const Rgb ink = item.onFill ? inkOn(item.color, m_theme) : resolve(item.color, m_theme);
        m_body += "<text" + attribute("x", x) + attribute("y", baseline)
                  + attribute("font-size", item.size) + attribute("fill", hex(ink))
                  + attribute("font-family", std::string(family(mono)));
        constexpr std::array<int, 5> kWeights = {400, 500, 600, 400, 700};
        const int weight = kWeights[static_cast<std::size_t>(item.weight)];
        m_body += weight == 400 ? "" : attribute("font-weight", weight);
        m_body += item.align == Align::Left
                      ? ""
                      : attribute("text-anchor",
                                  std::string(item.align == Align::Right ? "end" : "middle"));
        if (item.angle != 0) {
            m_body += attribute("transform", "rotate(" + number(item.angle) + " " + number(r.x)
                                                 + " " + number(r.y) + ")");
        }
        m_body += " xml:space=\"preserve\">" + escaped(item.text) + "</text>\n";
    }

    static std::string_view family(bool mono)
    {
        return mono ? "'JetBrains Mono',monospace" : "'Pallascope Sans','Inter',sans-serif";
    }

    // Neighbouring cells of one colour in a row become one rectangle.
    void add(const ImageItem& item)
    {
        const double w = item.rect.w / item.columns;
        const double h = item.rect.h / item.rows;
        m_body += "<g shape-rendering=\"crispEdges\">\n";
        for (std::int32_t row = 0; row < item.rows; ++row) {
            const auto at = [&](std::int32_t column) {
                return item
                    .cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(item.columns)
                           + static_cast<std::size_t>(column)];
            };
            for (std::int32_t first = 0; first < item.columns;) {
                std::int32_t last = first + 1;
                while (last < item.columns && at(last) == at(first)) {
                    ++last;
                }
                fillRect({item.rect.x + first * w, item.rect.y + row * h, (last - first) * w, h},
                         color(item.palette[at(first)]));
                first = last;
            }
        }
        m_body += "</g>\n";
    }

    void add(const ClipItem& item)
    {
        if (item.pop) {
            if (m_depth > 0) {
                --m_depth;
                m_body += "</g>\n";
            }
            return;
        }
        const std::string id = "c" + std::to_string(++m_clips);
        m_definitions +=
            "<clipPath" + attribute("id", id) + "><rect" + place(item.rect) + "/></clipPath>\n";
        m_body += "<g clip-path=\"url(#" + id + ")\">\n";
        ++m_depth;
    }

    Theme m_theme;
    std::string m_definitions;
    std::string m_body;
    std::map<std::pair<Hatch, std::string>, std::string> m_patterns;
    int m_clips = 0;
    int m_depth = 0;
};

} // namespace

std::string toSvg(const Scene& scene, Theme theme, double scale)
{
    return SvgWriter(theme).write(scene, scale);
}

} // namespace pallascope::layout
