// Files that people break and that others make to hurt: one sentence with the place, or a legal
// program; never a crash.
#include "core/ir/print.h"
#include "core/ir/verify.h"
#include "core/kernel_file/zip.h"
#include "core/machine/run.h"
#include "tests/kernel_file/support.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <random>
#include <zlib.h>

namespace pallascope::kernel_file_test {

namespace {

using nlohmann::json;

std::string exampleText()
{
    return readBytes(std::filesystem::path(PALLASCOPE_EXAMPLES) / "add.kernel.json");
}

// Checks the form of the sentence.
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

// The message for the example with one value replaced by that JSON, or removed.
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
        std::string value; // JSON; empty: removed
        std::string part;  // of the sentence
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
        {"/values/6/shape", "[1099511627776]", "/values/6/shape is [1099511627776]"},
        {"/values/6/shape", "[1,1,1,1,1,1,1,1,1]", "has 9 axes; 8 at most"},
        {"/values/3/space", R"("l2")", "must be one of any, hbm, vmem, smem"},
        {"/values/13/literal", "0.5", "/values/13/literal is 0.5, which is no int32"},
        {"/values/6/literal", "1", "/values/6/literal is of f32[16,128]"},
        {"/values/6/litral", "1", R"(/values/6 has "litral", which is not known here)"},
        {"/inputs/0", R"({"zeros":{},"npy":"a.npy"})", "/inputs/0 has 2 of"},
        {"/inputs/0", R"({"npy":"arrays/a.npy"})", "/inputs/0 names a member of an archive"},
        {"/inputs/1", "", "/inputs has 1 entries"},
        {"/arguments/0/ref", "1", "/arguments/0/ref is 1; 0"},
        {"/arguments/0/ref", "99", "/arguments/0/ref is 99"},
        {"/arguments/2", "", "/body/arguments has 3 entries, /arguments 2"},
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
    EXPECT_NE(messageOf(file.dump()).find("64 at most"), std::string::npos);
}

// ---- seeded mutations ---------------------------------------------------------------------------

// Loops that a mutation has made long, or endless, are legal.
bool hasLongLoop(const ir::Program& program)
{
    bool found = false;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto* const scan = std::get_if<ir::ScanParams>(&operation.params);
        found =
            found || operation.code == ir::OpCode::While || (scan != nullptr && scan->length > 100);
    });
    return found;
}

// A legal program is printed, and runs for some steps.
void treatAsLegal(const kernel_file::KernelFile& file)
{
    ASSERT_TRUE(ir::verify(file.program));
    ASSERT_FALSE(ir::printText(file.program).empty());
    if (hasLongLoop(file.program) || !machine::checkFit(file.program, machine_test::v5e())) {
        return;
    }
    int calls = 0;
    machine::Options options;
    options.values = machine::ValueMode::Needed;
    options.progress = [&calls](double) { return ++calls < 100; };
    std::vector<Array> inputs;
    for (const ir::Argument& argument : file.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = file.program.type(argument.ref);
            inputs.push_back({type.dtype, type.shape, nullptr});
        }
    }
    const auto run = machine::run(file.program, inputs, machine_test::v5e(), options);
    if (!run) {
        EXPECT_FALSE(run.error().message.empty());
    }
}

// Returns whether it was legal.
bool legalOrRefused(const std::string& bytes)
{
    const Result<kernel_file::KernelFile> file = kernel_file::parse(bytes, "my.kernel.json");
    if (file) {
        treatAsLegal(*file);
        return true;
    }
    EXPECT_EQ(file.error().message.rfind("my.kernel.json", 0), 0U) << file.error().message;
    EXPECT_EQ(file.error().message.find('\n'), std::string::npos) << file.error().message;
    return false;
}

std::string zipOf(const kernel_file::KernelFile& kernel)
{
    const TemporaryFolder folder;
    EXPECT_TRUE(kernel_file::save(kernel, folder.file("k.pallascope")));
    return readBytes(folder.file("k.pallascope"));
}

std::string jsonOf(const kernel_file::KernelFile& kernel)
{
    const TemporaryFolder folder;
    EXPECT_TRUE(kernel_file::save(kernel, folder.file("k.kernel.json")));
    return readBytes(folder.file("k.kernel.json"));
}

kernel_file::KernelFile withArray()
{
    kernel_file::KernelFile kernel = withDefaults(builtInPrograms().back());
    const ir::Type& type = kernel.program.type(kernel.program.arguments[0].ref);
    kernel.inputs[0] = normalArray(type.dtype, type.shape, 1);
    return kernel;
}

std::vector<json::json_pointer> placesOf(const json& node)
{
    std::vector<json::json_pointer> places;
    const json flat = node.flatten();
    for (const auto& [pointer, leaf] : flat.items()) {
        for (json::json_pointer at(pointer); !at.empty(); at.pop_back()) {
            places.push_back(at);
        }
    }
    return places;
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

TEST(BadKernelFile, bytesChangedAnywhereGiveASentenceOrALegalKernel)
{
    const std::vector<std::string> whole{exampleText(), jsonOf(withDefaults(wideProgram())),
                                         zipOf(withArray()),
                                         zipOf(withDefaults(builtInPrograms().front()))};
    std::mt19937_64 random(1);
    for (int round = 0; round < 1500; ++round) {
        SCOPED_TRACE(round);
        std::string bytes = whole[random() % whole.size()];
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        legalOrRefused(bytes);
        ASSERT_FALSE(HasFatalFailure());
    }
}

TEST(BadKernelFile, valuesChangedAnywhereGiveASentenceOrALegalKernel)
{
    const std::vector<json> whole{json::parse(exampleText()),
                                  json::parse(jsonOf(withDefaults(wideProgram()))),
                                  json::parse(jsonOf(withDefaults(wideProgram(false)))),
                                  json::parse(jsonOf(withDefaults(builtInPrograms()[1])))};
    std::vector<std::vector<json::json_pointer>> places;
    std::transform(whole.begin(), whole.end(), std::back_inserter(places), placesOf);
    const json odd = json::parse(R"([0, 1, 2, -1, 3, 7, 128, 1e9, -2147483648, 9223372036854775807,
        1099511627776, 0.5, "", "f32", "add", "vmem", null, true, false, [], {}, [0], [1, 0], "nan"])");
    std::mt19937_64 random(2);
    int legal = 0;
    for (int round = 0; round < 3000; ++round) {
        SCOPED_TRACE(round);
        const std::size_t which = random() % whole.size();
        json file = whole[which];
        const json::json_pointer& place = places[which][random() % places[which].size()];
        if (random() % 4 == 0) {
            const json::json_pointer& from = places[which][random() % places[which].size()];
            file[place] = json(whole[which][from]);
        } else if (random() % 8 == 0 && file[place.parent_pointer()].is_object()) {
            file[place.parent_pointer()].erase(place.back());
        } else {
            file[place] = odd[random() % odd.size()];
        }
        legal += legalOrRefused(file.dump()) ? 1 : 0;
        ASSERT_FALSE(HasFatalFailure()) << place.to_string() << " " << file.dump();
    }
    EXPECT_GT(legal, 100); // names, seeds, literals, lines
    EXPECT_LT(legal, 2000);
}

// ---- archives made to hurt ----------------------------------------------------------------------

std::string littleEndian(std::uint64_t number, int bytes)
{
    std::string text;
    for (int i = 0; i < bytes; ++i) {
        text += static_cast<char>(number >> (8U * static_cast<unsigned>(i)));
    }
    return text;
}

struct RawMember
{
    std::string name, data;     // deflated data as it is
    std::uint64_t unpacked = 0; // what the headers say
    std::uint32_t crc = 0;
    int method = 0; // 0 stored, 8 deflated
};

// A zip by hand, as PKWARE's APPNOTE lays it out, so that it may lie.
std::string rawZip(const std::vector<RawMember>& members)
{
    std::string file, directory;
    for (const RawMember& member : members) {
        const std::string common = littleEndian(20, 2) + littleEndian(0, 2)
                                   + littleEndian(static_cast<std::uint64_t>(member.method), 2)
                                   + littleEndian(0, 4) + littleEndian(member.crc, 4)
                                   + littleEndian(member.data.size(), 4)
                                   + littleEndian(member.unpacked, 4)
                                   + littleEndian(member.name.size(), 2) + littleEndian(0, 2);
        directory += "PK\x01\x02" + littleEndian(20, 2) + common + littleEndian(0, 2)
                     + littleEndian(0, 2) + littleEndian(0, 2) + littleEndian(0, 4)
                     + littleEndian(file.size(), 4) + member.name;
        file += "PK\x03\x04" + common + member.name + member.data;
    }
    const std::size_t start = file.size();
    return file + directory + "PK\x05\x06" + littleEndian(0, 4) + littleEndian(members.size(), 2)
           + littleEndian(members.size(), 2) + littleEndian(directory.size(), 4)
           + littleEndian(start, 4) + littleEndian(0, 2);
}

RawMember stored(const std::string& name, const std::string& data)
{
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    return {name, data, data.size(), static_cast<std::uint32_t>(crc), 0};
}

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
         "elements of type '<f8'; f32, which NumPy stores as '<f4', is right"},
        {headerOnly("{'descr': '<f4', 'fortran_order': False, 'shape': (64, 127), }"),
         "has the shape [64,127]; [64,128] is right"},
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
