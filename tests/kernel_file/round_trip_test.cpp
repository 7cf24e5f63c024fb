// What is written must be read back as it was, and then written as the same bytes.
#include "core/ir/mesh.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/params.h"
#include "core/machine/run.h"
#include "tests/kernel_file/support.h"
#include "tests/machine/table_pipeline.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace pallascope::kernel_file_test {

namespace {

using kernel_file::KernelFile;

// A recipe must stay a recipe. An array must be an array of the archive when it is read.
bool same(const kernel_file::Input& a, const kernel_file::Input& b, const ir::Type& type)
{
    const auto* const recipe = std::get_if<kernel_file::Recipe>(&a);
    if (recipe != nullptr) {
        const auto* const other = std::get_if<kernel_file::Recipe>(&b);
        return other != nullptr && *recipe == *other;
    }
    const Result<Array> first = kernel_file::makeInput(a, type);
    const Result<Array> second = kernel_file::makeInput(b, type);
    return first && second && first->dtype == second->dtype && first->shape == second->shape
           && std::memcmp(first->data.get(), second->data.get(),
                          static_cast<std::size_t>(first->byteCount()))
                  == 0;
}

void expectRoundTrip(const KernelFile& kernel, const std::string& suffix)
{
    const TemporaryFolder folder;
    const std::string first = folder.file("a" + suffix), second = folder.file("b" + suffix);
    const Status saved = kernel_file::save(kernel, first);
    ASSERT_TRUE(saved) << saved.error().message;
    const Result<KernelFile> loaded = kernel_file::load(first);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->program == kernel.program) << kernel.program.name;
    EXPECT_EQ(loaded->producer, kernel.producer);
    ASSERT_EQ(loaded->inputs.size(), kernel.inputs.size());
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
        // The inputs are the first arguments of all these programs.
        const ir::Type type = ir::wholeType(kernel.program, kernel.program.arguments[i]);
        EXPECT_TRUE(same(loaded->inputs[i], kernel.inputs[i], type)) << i;
    }
    ASSERT_TRUE(kernel_file::save(*loaded, second));
    EXPECT_EQ(readBytes(first), readBytes(second));
    EXPECT_TRUE(kernel_file::isKernelFile(first));
    EXPECT_EQ(folder.fileCount(), 2U) << "something was left behind";
}

TEST(KernelFileRoundTrip, everyBuiltInKernelComesBackFromBothKindsOfFile)
{
    for (ir::Program& program : builtInPrograms()) {
        const KernelFile kernel = withDefaults(std::move(program));
        expectRoundTrip(kernel, ".kernel.json");
        expectRoundTrip(kernel, ".pallascope");
    }
}

TEST(KernelFileRoundTrip, aProgramWithEveryKindOfParametersComesBack)
{
    const KernelFile kernel = withDefaults(wideProgram());
    std::set<std::size_t> kinds;
    ir::forEachOperation(kernel.program.body, [&](const ir::Operation& operation) {
        kinds.insert(operation.params.index());
    });
    EXPECT_GE(kinds.size(), 11U);
    expectRoundTrip(kernel, ".kernel.json");
    expectRoundTrip(kernel, ".pallascope");
}

TEST(KernelFileRoundTrip, aMeshAndThePartsOfItsDevicesComeBack)
{
    ir::Program program = builtInPrograms().front();
    program.mesh = {{"x", 2}, {"y", 4}};
    program.arguments[0].partition = {{"y", "x"}, {}};
    const KernelFile kernel = withDefaults(std::move(program));
    expectRoundTrip(kernel, ".kernel.json");
    const ir::Program& meshed = kernel.program;
    const Shape& part = meshed.type(meshed.arguments[0].ref).shape;
    const Shape whole = ir::wholeType(meshed, meshed.arguments[0]).shape;
    EXPECT_EQ(whole, Shape({8 * part[0], part[1]}));
    // Device 6 is at x = 1, y = 2, so it has part 2 * 2 + 1 of the rows.
    EXPECT_EQ(ir::partStart(meshed, meshed.arguments[0], 6)[0], 5 * part[0]);
    // The file holds the whole array.
    KernelFile filled = kernel;
    filled.inputs[0] = normalArray(meshed.type(meshed.arguments[0].ref).dtype, whole, 7);
    expectRoundTrip(filled, ".pallascope");
}

TEST(KernelFileRoundTrip, randomPipelinesComeBack)
{
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const machine_test::TablePipeline pipeline =
            machine_test::randomPipeline(random, {.inOuts = true, .mostBuffers = 4});
        kernel_file::Document document;
        document.program = machine_test::tableProgram(pipeline);
        const Result<kernel_file::Document> back =
            kernel_file::fromJson(kernel_file::toJson(document), "p");
        ASSERT_TRUE(back) << back.error().message;
        ASSERT_TRUE(back->program == document.program);
    }
}

TEST(KernelFileRoundTrip, arraysAndRecipesAreKept)
{
    KernelFile kernel = withDefaults(builtInPrograms().back());
    const ir::Type& type = kernel.program.type(kernel.program.arguments[0].ref);
    kernel.inputs[0] = normalArray(type.dtype, type.shape, 7);
    kernel.inputs[1] = kernel_file::ZerosRecipe{};
    expectRoundTrip(kernel, ".pallascope");
    kernel.inputs[0] = kernel_file::NormalRecipe{1ULL << 63U};
    expectRoundTrip(kernel, ".kernel.json");
    const Array zeros = kernel_file::makeInput(kernel.inputs[1], type).value();
    for (std::int64_t i = 0; i < zeros.shape.elements(); ++i) {
        ASSERT_EQ(zeros.at(i), 0);
    }
}

TEST(KernelFileRoundTrip, everyRecipeIsKept)
{
    KernelFile kernel = withDefaults(builtInPrograms().back()); // its arrays hold whole numbers
    const std::size_t rank = kernel.program.type(kernel.program.arguments[0].ref).shape.rank();
    const std::vector<std::int64_t> steps(rank, -1), none(rank, 0);
    for (const kernel_file::Recipe& recipe :
         {kernel_file::Recipe(kernel_file::FillRecipe{-3}),
          kernel_file::Recipe(kernel_file::IotaRecipe{-1, steps}),
          kernel_file::Recipe(kernel_file::IotaRecipe{0, none}),
          kernel_file::Recipe(kernel_file::MaskRecipe{steps, -2, {}, 1, 0}),
          kernel_file::Recipe(kernel_file::MaskRecipe{steps, {}, 0, 0, -7})}) {
        kernel.inputs[1] = recipe;
        expectRoundTrip(kernel, ".pallascope");
        expectRoundTrip(kernel, ".kernel.json");
    }
}

TEST(KernelFileRoundTrip, whatWroteTheFileIsKept)
{
    KernelFile kernel = withDefaults(builtInPrograms().back());
    kernel.producer = "a tool, 3.1";
    expectRoundTrip(kernel, ".pallascope");
    expectRoundTrip(kernel, ".kernel.json");
}

TEST(KernelFileRoundTrip, whatJaxWasAskedAndSaidIsKept)
{
    KernelFile kernel = withDefaults(builtInPrograms().back());
    kernel.program.kernels = {{.kernel = "a",
                               .vmemLimitBytes = 1 << 20,
                               .dimensionSemantics = {"parallel", "arbitrary"},
                               .allowInputFusion = {0, 2},
                               .hasSideEffects = true,
                               .collectiveId = 3},
                              {.kernel = "b"}};
    kernel.program.chip = "tpu_v6e";
    kernel.program.lowering = {ir::Verdict::No, "Unimplemented primitive cumsum."};
    expectRoundTrip(kernel, ".pallascope");
    expectRoundTrip(kernel, ".kernel.json");
}

TEST(KernelFileRoundTrip, jsonCannotHoldArraysAndOtherNamesAreNoKernelFiles)
{
    const TemporaryFolder folder;
    KernelFile kernel = withDefaults(builtInPrograms().back());
    const ir::Type& type = kernel.program.type(kernel.program.arguments[0].ref);
    EXPECT_FALSE(kernel_file::save(kernel, folder.file("k.txt")));
    kernel.inputs[0] = normalArray(type.dtype, type.shape, 7);
    EXPECT_FALSE(kernel_file::save(kernel, folder.file("k.kernel.json")));
    EXPECT_FALSE(kernel_file::save(kernel, folder.file("missing/k.pallascope")));
    EXPECT_EQ(folder.fileCount(), 0U) << "something was half written";
}

// ---- no member of a struct is forgotten ---------------------------------------------------------

struct Anything
{
    template<class T>
    operator T() const; // NOLINT(google-explicit-constructor)
};

template<class T, class... A>
consteval std::size_t memberCount()
{
    if constexpr (requires { T{A{}..., Anything{}}; }) {
        return memberCount<T, A..., Anything>();
    } else {
        return sizeof...(A);
    }
}

// An archive that counts members and gives each a value other than its default.
class Scrambler
{
public:
    std::size_t members = 0;

    template<class T>
    void operator()(std::string_view, T& value)
    {
        ++members;
        scramble(value);
    }

    template<class T>
    void required(std::string_view key, T& value)
    {
        (*this)(key, value);
    }

private:
    void scramble(bool& value) { value = !value; }

    void scramble(double& value) { value += 0.5; }

    void scramble(std::string& value) { value = "\"\\\xc3\xa9" + std::to_string(m_next++); }

    void scramble(DType& value) { value = value == DType::BF16 ? DType::Bool : DType::BF16; }

    void scramble(Shape& value) { value = Shape{m_next, m_next + 1}; }

    void scramble(ir::ValueId& value) { value.index = static_cast<std::int32_t>(m_next++); }

    void scramble(ir::LocationId& value) { value.index = static_cast<std::int32_t>(m_next++); }

    template<class T>
    void scramble(std::optional<T>& value)
    {
        scramble(value.emplace());
    }

    template<class T>
    void scramble(std::vector<T>& list)
    {
        list.resize(2);
        for (T& entry : list) {
            scramble(entry);
        }
    }

    template<class T>
    void scramble(T& value)
    {
        if constexpr (std::is_enum_v<T>) {
            const auto second = static_cast<T>(1);
            value = value == second ? static_cast<T>(0) : second;
        } else if constexpr (std::is_integral_v<T>) {
            value = static_cast<T>(m_next++ + 1000);
        } else {
            Scrambler inner;
            kernel_file::fields(inner, value);
            EXPECT_EQ(inner.members, (memberCount<T>()));
        }
    }

    std::int64_t m_next = 3;
};

// The document's JSON with one operation. It is not a legal program, and is read only as far as the
// structs go.
template<class P>
void expectParamsSurvive()
{
    if constexpr (!std::same_as<P, std::monostate>) {
        P params{};
        Scrambler scrambler;
        kernel_file::fields(scrambler, params);
        EXPECT_EQ(scrambler.members, memberCount<P>()) << "fields.h forgets a member";
        for (const std::string_view name : kernel_file::kOperationsWith<P>) {
            const std::optional<ir::OpCode> code = ir::opFromName(name);
            ASSERT_TRUE(code) << name;
            EXPECT_TRUE(std::holds_alternative<P>(kernel_file::paramsFor(*code))) << name;
            ir::Operation operation{.code = *code, .params = params};
            const std::string text = kernel_file::operationToJson(operation);
            const Result<ir::Operation> back = kernel_file::operationFromJson(text);
            ASSERT_TRUE(back) << text << back.error().message;
            EXPECT_TRUE(*back == operation) << text;
        }
    }
}

template<class... P>
void expectAllSurvive(const std::variant<P...>*)
{
    (expectParamsSurvive<P>(), ...);
}

template<class T>
std::size_t fieldCount()
{
    T value{};
    Scrambler scrambler;
    kernel_file::fields(scrambler, value);
    return scrambler.members;
}

TEST(KernelFileRoundTrip, noMemberOfAProgramIsForgotten)
{
    EXPECT_EQ(fieldCount<ir::Type>(), (memberCount<ir::Type>()));
    EXPECT_EQ(fieldCount<ir::Value>(), (memberCount<ir::Value>() - 1 + memberCount<ir::Type>()));
    EXPECT_EQ(fieldCount<ir::Location>(), (memberCount<ir::Location>()));
    EXPECT_EQ(fieldCount<ir::Argument>(), (memberCount<ir::Argument>()));
    EXPECT_EQ(fieldCount<ir::CompilerParams>(), (memberCount<ir::CompilerParams>()));
    EXPECT_EQ(fieldCount<ir::Lowering>(), (memberCount<ir::Lowering>()));
    // fields.h writes these member by member, so they are counted here by hand: all of Operation
    // but its number, all of Region, all of Program but its operation count.
    EXPECT_EQ(memberCount<ir::Operation>(), 7U);
    EXPECT_EQ(memberCount<ir::Region>(), 3U);
    EXPECT_EQ(memberCount<ir::Program>(), 11U);
}

TEST(KernelFileRoundTrip, everyMemberOfEveryKindOfParametersIsWrittenAndRead)
{
    expectAllSurvive(static_cast<const ir::Params*>(nullptr));
}

} // namespace

} // namespace pallascope::kernel_file_test
