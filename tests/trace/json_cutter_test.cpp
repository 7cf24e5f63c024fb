// A JSON text that is cut into members must be complete, whatever the pieces that it arrives in.
#include "core/trace_file/json_cutter.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace pallascope::trace_test {

namespace {

using Json = nlohmann::json;
using trace_file::JsonCutter;

// The object that the members make together, or null if the text is not valid.
Json joined(const std::string& text, std::size_t piece)
{
    Json found = Json::object();
    bool isSound = true;
    const auto parsed = [&](const std::string& part) {
        Json json = Json::parse(part, nullptr, false);
        isSound = isSound && !json.is_discarded();
        return json;
    };
    JsonCutter cutter("list", {.value =
                                   [&](const std::string& key, std::string& value) {
                                       const Json name = parsed("\"" + key + "\"");
                                       found[name.is_string() ? name.get<std::string>() : ""] =
                                           parsed(value);
                                       return Status(Done{});
                                   },
                               .elements =
                                   [&](std::int64_t first, std::string& elements) {
                                       Json& list = found["list"];
                                       list = list.is_null() ? Json::array() : list;
                                       EXPECT_EQ(static_cast<std::size_t>(first), list.size());
                                       for (Json& element : parsed(elements)) {
                                           list.push_back(std::move(element));
                                       }
                                       return Status(Done{});
                                   }});
    for (std::size_t at = 0; at < text.size(); at += piece) {
        if (!cutter.feed(std::string_view(text).substr(at, piece))) {
            return nullptr;
        }
    }
    return cutter.finish() && isSound ? found : Json(nullptr);
}

void expectSame(const std::string& text)
{
    Json whole = Json::parse(text, nullptr, false);
    whole = whole.is_discarded() || !whole.is_object() ? Json(nullptr) : whole;
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, text.size()}) {
        EXPECT_EQ(joined(text, std::max<std::size_t>(piece, 1)), whole)
            << "in pieces of " << piece << ": " << text.substr(0, 200);
    }
}

} // namespace

TEST(JsonCutter, givesMembersWhole)
{
    expectSame(R"({})");
    expectSame(R"( { "a" : 1 , "b":[1,{"c":"],\"}"}], "d":"x\\", "e":null,"f":-1.5e3} )");
    expectSame(R"({"list":[],"after":true})");
    expectSame(R"({"list":[{"a":[1,2]},"b,]",3],"after":{"list":[1,2]}})");
    expectSame(R"({"list":{"no":"list"}})");
}

TEST(JsonCutter, refusesWhatIsNoObject)
{
    for (const char* text : {"",
                             " ",
                             "[]",
                             "1",
                             "{",
                             "{\"a\"",
                             "{\"a\":",
                             "{\"a\":1",
                             "{\"a\":1,}",
                             "{\"a\":1}x",
                             "{,}",
                             "{\"a\" 1}",
                             "{\"list\":[1,]}",
                             "{\"list\":[,1]}",
                             "{\"list\":[1",
                             "{\"a\":[}",
                             "{\"a\":]}",
                             "{\"a\":tru}",
                             "{a:1}",
                             "{\"a\":1 2}",
                             "{} {}"}) {
        expectSame(text);
    }
}

// Lists of several megabytes come in parts. A comma that ends a part must be followed by an
// element.
TEST(JsonCutter, cutsLongLists)
{
    std::string text = R"({"before":0,"list":[)";
    for (int i = 0; i < 35'000; ++i) {
        text += (i > 0 ? "," : "") + std::string(R"({"name":"a, \"b\" [c]","ts":)")
                + std::to_string(i) + R"(,"args":{"x":[1,2,3]}})";
    }
    ASSERT_GT(text.size(), std::size_t{3} << 19);
    for (const char* end : {R"(],"after":[1,2]})", R"(,],"after":1})", R"(, ]})", R"(]},)"}) {
        const std::string all = text + end;
        Json whole = Json::parse(all, nullptr, false);
        whole = whole.is_discarded() ? Json(nullptr) : whole;
        EXPECT_EQ(joined(all, 65'536), whole) << end;
        EXPECT_EQ(joined(all, all.size()), whole) << end;
    }
}

// After one byte of valid JSON is changed, the cutter must refuse exactly what a parser refuses.
TEST(JsonCutter, agreesWithAParserOnChangedBytes)
{
    const std::string text =
        R"({"a":[1,"b\"",{}],"list":[{"c":"d"},[2],"e"],"f":{"g":[true,null]}})";
    const std::string bytes = "{}[]\",: \\1ax";
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (const char byte : bytes) {
            std::string changed = text;
            changed[at] = byte;
            expectSame(changed);
        }
    }
}

} // namespace pallascope::trace_test
