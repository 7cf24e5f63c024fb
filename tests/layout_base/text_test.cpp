// Text: how it is measured and elided, and what the canvas does with it.
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/font_metrics.h"

#include <gtest/gtest.h>

#include <random>

using namespace pallascope::layout;

namespace {

std::vector<TextItem> textsOf(Canvas&& canvas)
{
    std::vector<TextItem> texts;
    for (const Item& item : std::move(canvas).finish("", "").items) {
        if (const auto* text = std::get_if<TextItem>(&item)) {
            texts.push_back(*text);
        }
    }
    return texts;
}

} // namespace

TEST(FontMetrics, figuresAreTabularSoThatLiveNumbersDoNotJitter)
{
    for (const Weight weight :
         {Weight::Regular, Weight::Medium, Weight::SemiBold, Weight::Mono, Weight::MonoBold}) {
        for (char32_t digit = U'1'; digit <= U'9'; ++digit) {
            // The advances are rounded.
            EXPECT_NEAR(advance(digit, weight), advance(U'0', weight), 1);
        }
    }
}

TEST(FontMetrics, monoHasOneAdvance)
{
    for (char32_t c = 0x20; c < 0x7F; ++c) {
        EXPECT_EQ(advance(c, Weight::Mono), 600);
    }
}

TEST(FontMetrics, unknownCodePointsAreAsWideAsN)
{
    EXPECT_EQ(advance(0x1F600, Weight::Regular), advance(U'n', Weight::Regular));
}

TEST(FontMetrics, symbolsOfCaptionsAreKnown)
{
    // A thin space is thinner than a space, and the sans font has both.
    EXPECT_LT(advance(0x2009, Weight::Regular), advance(U' ', Weight::Regular));
    EXPECT_NE(advance(U'→', Weight::Regular), advance(U'n', Weight::Regular));
    EXPECT_NE(advance(U'·', Weight::Regular), advance(U'n', Weight::Regular));
}

TEST(FontMetrics, readsUtf8AndSurvivesBrokenBytes)
{
    const std::string text = "aµ→\xF0\x9F\x98\x80";
    std::size_t at = 0;
    EXPECT_EQ(nextCodePoint(text, at), U'a');
    EXPECT_EQ(nextCodePoint(text, at), U'µ');
    EXPECT_EQ(nextCodePoint(text, at), U'→');
    EXPECT_EQ(nextCodePoint(text, at), char32_t(0x1F600));
    EXPECT_EQ(at, text.size());
    for (const std::string broken : {"\xE2\x86", "\x80", "\xFF\xFE", "\xC3"}) {
        std::size_t place = 0;
        while (place < broken.size()) {
            EXPECT_EQ(nextCodePoint(broken, place), char32_t(0xFFFD));
        }
        EXPECT_EQ(place, broken.size());
    }
}

TEST(Text, widthGrowsWithSizeAndText)
{
    EXPECT_DOUBLE_EQ(textWidth("ab", 20), 2 * textWidth("ab", 10));
    EXPECT_DOUBLE_EQ(textWidth("ab", 11), textWidth("a", 11) + textWidth("b", 11));
    EXPECT_EQ(textWidth("", 11), 0);
}

TEST(Text, elidedTextFitsAndKeepsWhatItCan)
{
    const std::string text = "step 304 (4,6,0) · prologue 1.60 µs";
    for (double width = 0; width < 260; width += 1.5) {
        const std::string shown = elided(text, width, 11, Weight::Regular);
        ASSERT_LE(textWidth(shown, 11), width + 0.5);
        if (shown != text && !shown.empty()) {
            ASSERT_EQ(shown.substr(shown.size() - 3), "…");
            // One more character would not have fitted.
            const std::size_t kept = shown.size() - 3;
            ASSERT_EQ(text.compare(0, kept, shown, 0, kept), 0);
        }
    }
    EXPECT_EQ(elided(text, 400, 11, Weight::Regular), text);
    EXPECT_EQ(elided(text, 3, 11, Weight::Regular), "");
}

TEST(Canvas, neighbouringFillsShareAnEdgeWhateverTheFraction)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<double> length(0.1, 9);
    Canvas canvas(1000, 20);
    double x = 0;
    for (int i = 0; i < 200; ++i) {
        const double w = length(random);
        canvas.fill(x, 0, w, 10, Role::Mxu);
        x += w;
    }
    double at = 0;
    for (const Item& item : std::move(canvas).finish("", "").items) {
        const Rect& rect = std::get<FillItem>(item).rect;
        ASSERT_EQ(rect.x, at); // there is no gap and no overlap
        ASSERT_EQ(rect.w, std::round(rect.w));
        at = rect.right();
    }
    EXPECT_EQ(at, std::round(x));
}

TEST(Canvas, aLabelIsDrawnWholeOrNotAtAll)
{
    const double needed = textWidth("dot 1.37 µs", 11, Weight::Medium);
    Canvas canvas(300, 20);
    EXPECT_TRUE(canvas.label(0, 0, needed + 8, 16, "dot 1.37 µs", Role::Mxu));
    EXPECT_FALSE(canvas.label(0, 0, needed + 7, 16, "dot 1.37 µs", Role::Mxu));
    // The bar is too low.
    EXPECT_FALSE(canvas.label(0, 0, needed + 8, 10, "dot 1.37 µs", Role::Mxu));
    const auto texts = textsOf(std::move(canvas));
    ASSERT_EQ(texts.size(), 1U);
    EXPECT_EQ(texts[0].text, "dot 1.37 µs");
    EXPECT_TRUE(texts[0].onFill);
}

TEST(Canvas, richTextMakesEverySecondPartStrong)
{
    Canvas canvas(400, 20);
    const double end = canvas.rich(10, 0, 380, 16, "step |2| of |512|");
    const auto texts = textsOf(std::move(canvas));
    ASSERT_EQ(texts.size(), 4U);
    EXPECT_EQ(texts[0].weight, Weight::Regular);
    EXPECT_EQ(texts[1].text, "2");
    EXPECT_EQ(texts[1].weight, Weight::Medium);
    EXPECT_EQ(texts[3].text, "512");
    EXPECT_DOUBLE_EQ(end, 10 + textWidth("step ", 11) + textWidth("2", 11, Weight::Medium)
                              + textWidth(" of ", 11) + textWidth("512", 11, Weight::Medium));
}

TEST(Canvas, richTextNeverLeavesItsWidth)
{
    for (double width = 0; width < 200; width += 3) {
        Canvas canvas(400, 20);
        EXPECT_LE(canvas.rich(10, 0, width, 16, "MXU busy |0.16 µs| of |1.37 µs|, next x(0,3)"),
                  10 + width + 0.5);
        for (const TextItem& text : textsOf(std::move(canvas))) {
            EXPECT_LE(text.rect.x + textWidth(text.text, text.size, text.weight), 10 + width + 0.5);
        }
    }
}

TEST(Canvas, paragraphsWrapBetweenWordsAndKeepThem)
{
    const std::string text =
        "The run reaches |145.4 TFLOP/s|, |73.8 %| of peak, under the ridge of |240.5|: the "
        "output is f32.";
    for (const double width : {120.0, 200.0, 333.0, 900.0}) {
        Canvas canvas(1000, 400);
        const double below = canvas.paragraph(5, 7, width, text);
        std::string words;
        double lowest = 0;
        double line = -1;
        for (const TextItem& item : textsOf(std::move(canvas))) {
            EXPECT_LE(item.rect.x + textWidth(item.text, item.size, item.weight), 5 + width + 0.6)
                << item.text;
            words += (item.rect.y != line && line >= 0 ? " " : "") + item.text;
            line = item.rect.y;
            lowest = std::max(lowest, item.rect.y + 17);
        }
        EXPECT_EQ(below, lowest);
        EXPECT_EQ(words, "The run reaches 145.4 TFLOP/s, 73.8 % of peak, under the ridge of 240.5: "
                         "the output is f32.");
    }
}

TEST(Canvas, framesStayInsideTheirRectangle)
{
    Canvas canvas(100, 100);
    canvas.frame(10, 10, 30, 20, Role::Text, 2);
    double area = 0;
    for (const Item& item : std::move(canvas).finish("", "").items) {
        const Rect& r = std::get<FillItem>(item).rect;
        EXPECT_GE(r.x, 10);
        EXPECT_LE(r.right(), 40);
        EXPECT_GE(r.y, 10);
        EXPECT_LE(r.bottom(), 30);
        area += r.w * r.h;
    }
    EXPECT_EQ(area, 30 * 20 - 26 * 16); // this also means that the sides do not overlap
}
