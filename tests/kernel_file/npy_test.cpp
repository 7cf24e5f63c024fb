// Reads files that NumPy has written (make_fixtures.py), and compares the bytes of our own with
// NumPy's description of the format.
#include "core/kernel_file/npy.h"
#include "tests/kernel_file/support.h"

#include <gtest/gtest.h>

namespace pallascope::kernel_file_test {

namespace {

std::string fixture(const std::string& name)
{
    return std::string(PALLASCOPE_KERNEL_FILE_TESTS) + "/" + name;
}

kernel_file::ZipReader opened(const std::string& path)
{
    Result<kernel_file::ZipReader> zip = kernel_file::ZipReader::open(path);
    EXPECT_TRUE(zip) << zip.error().message;
    return std::move(*zip);
}

// The elements of the fixtures are -3, -2, -1, ... in row-major order.
void expectCounting(const char* name, const std::string& member, DType dtype, const Shape& shape)
{
    SCOPED_TRACE(member);
    const Result<Array> array = kernel_file::readNpy(opened(fixture(name)), member, dtype, shape);
    ASSERT_TRUE(array) << array.error().message;
    ASSERT_EQ(array->shape, shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        ASSERT_EQ(array->at(i),
                  dtype == DType::Bool ? static_cast<double>(i % 2) : static_cast<double>(i - 3))
            << i;
    }
}

TEST(Npy, numpysArraysAreRead)
{
    expectCounting("args.npz", "arg0.npy", DType::F32, {3, 5});
    expectCounting("args.npz", "arg1.npy", DType::BF16, {2, 4});
    expectCounting("args.npz", "arg2.npy", DType::Int32, {7});
    expectCounting("args.npz", "arg3.npy", DType::Bool, {2, 3});
    expectCounting("args.npz", "arg4.npy", DType::F32, {3, 5}); // column-major in the file
    expectCounting("args.npz", "arg5.npy", DType::F32, {});
    expectCounting("packed.npz", "arg0.npy", DType::BF16, {2, 3, 4});
}

TEST(Npy, anotherTypeOrShapeIsRefusedWithBoth)
{
    const kernel_file::ZipReader zip = opened(fixture("args.npz"));
    const auto type = kernel_file::readNpy(zip, "arg0.npy", DType::BF16, {3, 5});
    ASSERT_FALSE(type);
    EXPECT_NE(
        type.error().message.find(
            "arg0.npy holds elements of type '<f4'; expected bf16, which NumPy stores as '<V2'"),
        std::string::npos)
        << type.error().message;
    const auto shape = kernel_file::readNpy(zip, "arg0.npy", DType::F32, {5, 3});
    ASSERT_FALSE(shape);
    EXPECT_NE(shape.error().message.find("has the shape [3,5]; expected [5,3]"), std::string::npos)
        << shape.error().message;
}

TEST(Npy, headersAreNumpysByteForByte)
{
    // As numpy.save writes them: version 1.0, padded so that the elements start at byte 128.
    const auto expected = [](const std::string& dict) {
        std::string header = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dict;
        header.resize(127, ' ');
        return header + '\n';
    };
    EXPECT_EQ(kernel_file::npyHeader(DType::F32, {3, 5}),
              expected("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }"));
    EXPECT_EQ(kernel_file::npyHeader(DType::BF16, {7}),
              expected("{'descr': '<V2', 'fortran_order': False, 'shape': (7,), }"));
    EXPECT_EQ(kernel_file::npyHeader(DType::Bool, {}),
              expected("{'descr': '|b1', 'fortran_order': False, 'shape': (), }"));
}

TEST(Npy, theFirstElementIsAlignedWhateverTheShape)
{
    for (const Extent extent : {1LL, 10LL, 100000LL, 10000000000LL}) {
        const std::string header =
            kernel_file::npyHeader(DType::F32, {extent, extent, extent, extent, extent, 1});
        EXPECT_EQ(header.size() % 64, 0U);
        EXPECT_EQ(header.back(), '\n');
    }
}

TEST(Npz, resultsAreReadBackByName)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("r.npz");
    const std::vector<Array> arrays{normalArray(DType::F32, {3, 5}, 1),
                                    normalArray(DType::BF16, {2}, 2),
                                    normalArray(DType::Bool, {4, 1}, 3)};
    ASSERT_TRUE(kernel_file::writeResults(path, arrays));
    const kernel_file::ZipReader zip = opened(path);
    EXPECT_EQ(zip.members().size(), 3U);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const Result<Array> back = kernel_file::readNpy(zip, "result" + std::to_string(i) + ".npy",
                                                        arrays[i].dtype, arrays[i].shape);
        ASSERT_TRUE(back) << back.error().message;
        for (std::int64_t e = 0; e < back->shape.elements(); ++e) {
            ASSERT_EQ(back->at(e), arrays[i].at(e));
        }
    }
    EXPECT_FALSE(kernel_file::writeResults(folder.file("none.npz"), {}));
    EXPECT_EQ(folder.fileCount(), 1U);
}

TEST(Npz, inputsThatTheKernelDoesNotHaveAreRefused)
{
    const ir::Program wide = wideProgram(); // it has one input, f32[32,128]
    const auto inputs = kernel_file::readInputs(fixture("args.npz"), wide);
    ASSERT_FALSE(inputs);
    EXPECT_NE(inputs.error().message.find("arg0.npy has the shape [3,5]; expected [32,128]"),
              std::string::npos)
        << inputs.error().message;
    const TemporaryFolder folder;
    ASSERT_TRUE(kernel_file::writeResults(folder.file("r.npz"), {normalArray(DType::F32, {2}, 1)}));
    const auto misnamed = kernel_file::readInputs(folder.file("r.npz"), wide);
    ASSERT_FALSE(misnamed);
    EXPECT_NE(misnamed.error().message.find("has a member result0.npy; expected arg0"),
              std::string::npos)
        << misnamed.error().message;
}

} // namespace

} // namespace pallascope::kernel_file_test
