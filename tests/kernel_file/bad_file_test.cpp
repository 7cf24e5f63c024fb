// Files that people break by mistake or that others make to do harm. For each there must be one
// sentence with the place. tests/fuzz has random ones.
#include "core/kernel_file/zip.h"
#include "tests/kernel_file/raw_zip.h"
#include "tests/kernel_file/support.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pallascope::kernel_file_test {

namespace {

using nlohmann::json;

std::string exampleText()
{
    return readBytes(std::filesystem::path(PALLASCOPE_EXAMPLES) / "add.kernel.json");
}

// The error's message, whose form is checked here.
std::string messageOf(const std::string& bytes)
{
    const Result<kernel_file::KernelFile> file = kernel_file::parse(bytes, "my.kernel.json");
    EXPECT_FALSE(file) << "was accepted";
    if (file) {
        return {};
    }
    const std::string& message = file.error().message;
    EXPECT_EQ(file.error().kind, ErrorKind::User);
    EXPECT_EQ(message.rfind("my.kernel.json", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 400U) << message;
    return message;
}

// The message for the example with one value replaced by this JSON, or removed.
std::string messageWith(const std::string& pointer, const std::string& value)
{
    json file = json::parse(exampleText());
    const json::json_pointer place(pointer);
    if (!value.empty()) {
        file[place] = json::parse(value);
    } else {
        json& parent = file[place.parent_pointer()];
        parent.is_array() ? parent.erase(std::stoul(place.back()))
                          : void(parent.erase(place.back()));
    }
    return messageOf(file.dump());
}

constexpr const char* kBody = "/body/operations/0/regions/0";

std::string inBody(const std::string& rest)
{
    return std::string(kBody) + rest;
}

TEST(BadKernelFile, everySentenceNamesThePlaceAndWhatIsRight)
{
    struct Case
    {
        std::string pointer;
        std::string value; // JSON; empty: the value is removed
        std::string part;  // a part of the sentence
    };

    const std::vector<Case> cases{
        {"/format", R"("pallascope.chip")", "is no kernel"},
        {"/version", "2", "another version"},
        {"/name", "", "/name is missing"},
        {"/values", "", "/values is missing"},
        {"/values/6/dtype", R"("f31")", "/values/6/dtype must be the name of a dtype"},
        {"/values/6/shape", R"("16,128")", "/values/6/shape must be a list"},
        {"/values/6/shape/0", "-1", "/values/6/shape is [-1,128]"},
        {"/values/6/shape/0", "1.5", "/values/6/shape/0 must be a whole number"},
        {"/values/0/shape", "[1099511627776,128]", "/values/0/shape is [1099511627776,128]"},
        {"/values/6/shape", "[2199023255552]", "/values/6/shape is [2199023255552]"},
        {"/values/6/shape", "[1,1,1,1,1,1,1,1,1]", "has 9 axes; expected at most 8"},
        {"/values/3/space", R"("l2")", "must be one of any, hbm, vmem, smem"},
        {"/values/13/literal", "0.5", "/values/13/literal is 0.5, which is no int32"},
        {"/values/6/literal", "1", "/values/6/literal is of f32[16,128]"},
        {"/values/6/litral", "1", R"(/values/6 has "litral", which is not known here)"},
        {"/inputs/0", R"({"zeros":{},"npy":"a.npy"})", "/inputs/0 has 2 of"},
        {"/inputs/0", R"({"npy":"arrays/a.npy"})", "/inputs/0 names a member of an archive"},
        {"/inputs/0", R"({"zeros":{},"repeats":[1,1]})", "/inputs/0 has repeats, which only an"},
        {"/inputs/0", R"({"fill":{}})", "/inputs/0/fill/value is missing"},
        {"/inputs/0", R"({"fill":{"value":0.1}})",
         "/inputs/0/fill/value is 0.1, which f32 does not hold exactly"},
        {"/inputs/0", R"({"iota":{"steps":[1]}})", "/inputs/0/iota/steps has 1 numbers; 2, one"},
        {"/inputs/0", R"({"iota":{"steps":[1.5,0]}})", "/inputs/0/iota/steps/0 must be a whole"},
        {"/inputs/0", R"({"iota":{"steps":[262144,4096]}})",
         "/inputs/0/iota makes elements from 0 to 17035264; expected -16777216 to 16777216, which "
         "f32"},
        {"/inputs/0", R"({"iota":{"start":1,"steps":[9223372036854775807,0]}})", "beyond 64 bits"},
        {"/inputs/0", R"({"mask":{"steps":[1,-1,0],"low":0}})",
         "/inputs/0/mask/steps has 3 numbers"},
        {"/inputs/0", R"({"mask":{"steps":[-9223372036854775807,0],"low":0}})",
         "/inputs/0/mask/steps make sums beyond 64 bits"},
        {"/inputs/0", R"({"mask":{"steps":[1,-1],"low":null}})", "/inputs/0/mask/low must be"},
        {"/inputs/0", R"({"mask":{"steps":[1,-1],"outside":1e-50}})",
         "/inputs/0/mask/outside is 1e-50, which f32"},
        {"/inputs/1", "", "/inputs has 1 entries"},
        {"/arguments/0/ref", "1", "/arguments/0/ref is 1; expected 0"},
        {"/arguments/0/ref", "99", "/arguments/0/ref is 99"},
        {"/arguments/2", "", "/body/arguments has 3 entries but /arguments has 2"},
        {inBody("/operations/2/op"), R"("ad")", "must be the name of an operation"},
        {inBody("/operations/2/operands/0"), "99", "names value 99; /values has 14"},
        {inBody("/operations/2/operands/0"), "-1", "names value -1"},
        {inBody("/operations/2/operands/0"), "9", "uses value 9, which is not defined before"},
        {inBody("/operations/2/operands/0"), "8", "uses value 8, which is not defined before"},
        {"/body/operations/0/regions/2/results/0", "10", "is defined in another region"},
        {inBody("/operations/2/results/0"), "6", "defines value 6, which is defined before"},
        {inBody("/operations/2/results/0"), "13", "defines value 13, which is a literal"},
        {inBody("/operations/2/location"), "0", "/location is 0; /locations has 0"},
        {"/locations", R"([{"file":"a.py","line":0}])", "/locations/0/line is 0"},
        {"/locations", R"([{"file":"a.py","line":1,"caller":0}])", "/locations/0/caller is 0"},
        {inBody("/operations/2/params"), R"({"axis":0})", R"(has "params", which is not known)"},
        {inBody("/operations/0/params/entries/0/start"), "2199023255552", "reaches beyond"},
        {inBody("/operations/0/params/entries/0/size"), "17", "reaches outside"},
        {inBody("/operations/2/operands"), "[6]", "/regions/0/operations/2: add takes 2 operands"},
        {"/body/operations/0/params/grid/0", "0", "/body/operations/0: pipeline has a grid axis"},
        {"/body/operations/0/params/axis_names", "[]", "/axis_names has 0 entries"},
        {"/body/operations/0/params/specs/0/in_buffers", "2000", "asks for 2000 buffers"},
        {"/body/operations/0/params/specs/0/block/0/size", "1099511627776",
         "/specs/0/block is [1099511"},
        {"/body/operations/0/params/origin", R"("grid")", "one of emit_pipeline, pallas_call"},
        {"/mesh", R"([{"name":"x"}])", "/mesh/0/size is missing"},
        {"/mesh", R"([{"name":"x","size":0}])", "has the axis \"x\" of 0"},
        {"/mesh", R"([{"name":"x","size":16},{"name":"y","size":17}])", "1 to 256 devices"},
        {"/mesh", R"([{"name":"x","size":2},{"name":"x","size":2}])", "names of their own"},
        {"/arguments/0/partition", R"([["x"],[]])", "The partition of x of add must have"},
        {"/arguments/0/partition", "[[]]", "one list for each of 2 axes"},
        {"/lowering", R"({"accepted":"maybe"})", "/lowering/accepted must be one of unknown, yes"},
        {"/compiler_params", R"([{"kernel":"a","vmem_limit_bytes":-1}])",
         "/compiler_params/0/vmem_limit_bytes is -1; expected 0 to"},
        {"/sources", R"([{"file":"a.py"}])", "/sources/0 needs either text or member"},
        {"/sources", R"([{"file":"a.py","member":"s/a.py"}])", "names a member of an archive"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.pointer + " " + c.part);
        EXPECT_NE(messageWith(c.pointer, c.value).find(c.part), std::string::npos)
            << messageWith(c.pointer, c.value);
    }
}

TEST(BadKernelFile, whatIsNoJsonIsRefused)
{
    EXPECT_NE(messageOf("").find("is empty"), std::string::npos);
    EXPECT_NE(messageOf("hello").find("is not JSON from line 1"), std::string::npos);
    EXPECT_NE(messageOf("[]").find("is no kernel"), std::string::npos);
    EXPECT_NE(messageOf(R"({"format": "pallascope.kernel", "version": 1e999})").find("range"),
              std::string::npos);
    EXPECT_NE(messageOf(std::string(100'000, '[')).find("100000 levels deep"), std::string::npos);
    EXPECT_NE(messageOf(std::string((8U << 20U) + 1, ' ')).find("at most are read"),
              std::string::npos);
}

TEST(BadKernelFile, aProductThatNoMemoryHasRoomForIsRefused)
{
    json file = json::parse(exampleText());
    const std::size_t first = file["values"].size();
    for (int i = 0; i < 2; ++i) { // zeros, and their product with themselves
        file["values"].push_back({{"dtype", "int8"}, {"shape", {8192, 8192}}});
    }
    json& operations = file["body"]["operations"][0]["regions"][0]["operations"];
    operations.push_back({{"op", "iota"},
                          {"results", {first}},
                          {"params", {{"dtype", "int8"}, {"shape", {8192, 8192}}}}});
    operations.push_back(
        {{"op", "dot_general"},
         {"operands", {first, first}},
         {"results", {first + 1}},
         {"params", {{"lhs_contracting", {1}}, {"rhs_contracting", {0}}, {"dtype", "int8"}}}});
    const std::string message = messageOf(file.dump());
    EXPECT_NE(message.find("/regions/0/operations/5: dot_general takes 5.5e+11 products"),
              std::string::npos)
        << message;
}

TEST(BadKernelFile, bracketsInATextAreNoDepth)
{
    json file = json::parse(exampleText());
    file["sources"] = {{{"file", "a.py"}, {"text", std::string(2000, '[') + "\"\\"}}};
    EXPECT_TRUE(kernel_file::parse(file.dump(), "f"));
}

TEST(BadKernelFile, regionsCannotBeNestedWithoutEnd)
{
    json inner = json::object();
    for (int i = 0; i < 80; ++i) {
        inner = {{"operations", {{{"op", "cond"}, {"operands", {13}}, {"regions", {inner}}}}}};
    }
    json file = json::parse(exampleText());
    file["body"]["operations"][0]["regions"][0] = inner;
    EXPECT_NE(messageOf(file.dump()).find("at most 64"), std::string::npos);
}

std::string zipOf(const kernel_file::KernelFile& kernel)
{
    const TemporaryFolder folder;
    EXPECT_TRUE(kernel_file::save(kernel, folder.file("k.pallascope")));
    return readBytes(folder.file("k.pallascope"));
}

kernel_file::KernelFile withArray()
{
    kernel_file::KernelFile kernel = withDefaults(builtInPrograms().back());
    const ir::Type& type = kernel.program.type(kernel.program.arguments[0].ref);
    kernel.inputs[0] = normalArray(type.dtype, type.shape, 1);
    return kernel;
}

TEST(BadKernelFile, aFileCutAnywhereIsRefused)
{
    const std::string text = exampleText(), zip = zipOf(withArray());
    for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
        messageOf(text.substr(0, size));
    }
    for (std::size_t size = 0; size < zip.size(); size += 11) {
        messageOf(zip.substr(0, size));
    }
}

// ---- archives made to hurt ----------------------------------------------------------------------

TEST(BadKernelArchive, aSoundOneByHandIsRead)
{
    EXPECT_TRUE(kernel_file::parse(rawZip({stored("kernel.json", exampleText())}), "f"));
}

TEST(BadKernelArchive, namesThatLeaveTheArchiveAreRefused)
{
    for (const char* name :
         {"/etc/passwd", "../a", "a/../../b", "a//b", "a\\b", "c:a", "./a", "a\nb", "..", "a/.."}) {
        SCOPED_TRACE(name);
        const std::string message =
            messageOf(rawZip({stored("kernel.json", exampleText()), stored(name, "x")}));
        EXPECT_NE(message.find("a relative path"), std::string::npos) << message;
    }
    for (const char* name : {"arrays/", "sources/a..b.py", "a b"}) {
        SCOPED_TRACE(name);
        EXPECT_TRUE(kernel_file::parse(
            rawZip({stored("kernel.json", exampleText()), stored(name, "")}), "f"));
    }
}

TEST(BadKernelArchive, sizesThatLieAreRefused)
{
    RawMember lie = stored("kernel.json", exampleText());
    lie.unpacked += 5;
    messageOf(rawZip({lie}));
    lie.unpacked -= 10;
    messageOf(rawZip({lie}));
    lie = stored("kernel.json", exampleText());
    lie.crc ^= 1U;
    EXPECT_NE(messageOf(rawZip({lie})).find("damaged"), std::string::npos);
}

TEST(BadKernelArchive, aBombIsRefusedBeforeItIsUnpacked)
{
    const std::string text = exampleText();
    const RawMember bomb{"arrays/a.npy", "x", 0xffff'0000U, 0, 8};
    std::string message = messageOf(rawZip({stored("kernel.json", text), bomb}));
    EXPECT_NE(message.find("unpacks to more than 250 times its size"), std::string::npos)
        << message;
    std::vector<RawMember> many{stored("kernel.json", text)};
    for (int i = 0; i < 20; ++i) {
        many.push_back({"a" + std::to_string(i), "x", 0xffff'0000U, 0, 8});
    }
    message = messageOf(rawZip(many));
    EXPECT_NE(message.find("more than 64 GiB"), std::string::npos) << message;
    many.assign(5000, stored("x", ""));
    message = messageOf(rawZip(many));
    EXPECT_NE(message.find("5000 members; 4096 at most"), std::string::npos) << message;
}

TEST(BadKernelArchive, membersMustBeThereOnceAndBeArraysOfTheRightShape)
{
    EXPECT_NE(messageOf(rawZip({stored("a", "")})).find("has no member kernel.json"),
              std::string::npos);
    const RawMember document = stored("kernel.json", exampleText());
    EXPECT_NE(messageOf(rawZip({document, document})).find("two members kernel.json"),
              std::string::npos);
    json file = json::parse(exampleText());
    file["inputs"][0] = {{"npy", "arrays/x.npy"}};
    const RawMember withNpy = stored("kernel.json", file.dump());
    EXPECT_NE(messageOf(rawZip({withNpy})).find("has no member arrays/x.npy"), std::string::npos);
    const auto headerOnly = [](const std::string& dict) {
        return std::string("\x93NUMPY\x01\x00", 8) + littleEndian(dict.size(), 2) + dict;
    };
    const std::vector<std::pair<std::string, std::string>> cases{
        {"not npy", "is not an array as NumPy saves it"},
        {headerOnly("{'descr': '<f4'}"), "is not an array as NumPy saves it"},
        {headerOnly("{'descr': '<f8', 'fortran_order': False, 'shape': (64, 128), }"),
         "elements of type '<f8'; expected f32, which NumPy stores as '<f4'"},
        {headerOnly("{'descr': '<f4', 'fortran_order': False, 'shape': (64, 127), }"),
         "has the shape [64,127]; expected [64,128]"},
        {headerOnly("{'descr': '<f4', 'fortran_order': False, 'shape': (64, 128), }"),
         "is cut short"},
    };
    for (const auto& [bytes, part] : cases) {
        const std::string message = messageOf(rawZip({withNpy, stored("arrays/x.npy", bytes)}));
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
}

} // namespace

} // namespace pallascope::kernel_file_test
