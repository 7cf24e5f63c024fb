// Files that come in and go out, and names that a JSON object has twice.
#include "core/base/read_file.h"
#include "core/base/repeated_name.h"
#include "core/base/whole_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pallascope {

namespace {

class Files : public ::testing::Test
{
protected:
    Files()
    {
        std::string name = (std::filesystem::temp_directory_path() / "files-XXXXXX").string();
        m_folder = ::mkdtemp(name.data());
    }

    ~Files() override { std::filesystem::remove_all(m_folder); }

    [[nodiscard]] std::string path(const char* name) const { return (m_folder / name).string(); }

    [[nodiscard]] std::ptrdiff_t count() const
    {
        return std::distance(std::filesystem::directory_iterator(m_folder), {});
    }

private:
    std::filesystem::path m_folder;
};

TEST_F(Files, areReadUpToAndWithTheLimit)
{
    const std::string text(200'000, 'x');
    ASSERT_TRUE(writeFile(path("a"), text));
    for (const std::uint64_t most : {text.size(), text.size() + 1, 2 * text.size()}) {
        const Result<std::string> read = readFile(path("a"), most);
        ASSERT_TRUE(read) << most;
        EXPECT_EQ(*read, text);
    }
    EXPECT_FALSE(readFile(path("a"), text.size() - 1));
    const Result<std::string> endless = readFile("/dev/zero", 1024);
    ASSERT_FALSE(endless);
    EXPECT_EQ(endless.error().message,
              "\"/dev/zero\" is larger than 1 KiB, the most that is read of such a file.");
    EXPECT_EQ(firstBytes(path("a"), 3), "xxx");
    EXPECT_EQ(firstBytes(path("a"), 300'000), text);
    EXPECT_EQ(firstBytes("/dev/zero", 3), "");
}

// Files of /proc say that they have no size.
TEST_F(Files, thatHaveMoreThanTheySayAreReadWhole)
{
    const Result<std::string> read = readFile("/proc/self/status", 1 << 20);
    ASSERT_TRUE(read);
    EXPECT_NE(read->find("Name:"), std::string::npos);
}

TEST_F(Files, thatAreNotCommittedLeaveTheOldOneAndNothingElse)
{
    ASSERT_TRUE(writeFile(path("a"), "old"));
    {
        WholeFile file(path("a"));
        ASSERT_TRUE(file.open());
        EXPECT_TRUE(file.write("new"));
        EXPECT_EQ(count(), 2);
    }
    EXPECT_EQ(count(), 1);
    EXPECT_EQ(*readFile(path("a"), 10), "old");
}

TEST_F(Files, areOnePlaceByWhateverName)
{
    ASSERT_TRUE(writeFile(path("a"), ""));
    std::filesystem::create_symlink("a", path("link"));
    std::filesystem::create_symlink("none", path("dangling"));
    EXPECT_TRUE(isSamePlace(path("a"), path("./a")));
    EXPECT_TRUE(isSamePlace(path("a"), path("link")));
    EXPECT_TRUE(isSamePlace(path("none"), path("dangling")));
    EXPECT_FALSE(isSamePlace(path("a"), path("none")));
    EXPECT_FALSE(isSamePlace(path("none"), path("other")));
}

TEST(RepeatedName, isFoundWhereverItIs)
{
    EXPECT_EQ(repeatedName(R"({"a":1,"b":2,"a":3})"), "/a");
    EXPECT_EQ(repeatedName(R"({"x":[1,{"b":{}},{"c":1, "c" :2}]})"), "/x/2/c");
    EXPECT_EQ(repeatedName(R"([{"a":{"a":[{"q":1,"q":1}]}}])"), "/0/a/a/0/q");
    EXPECT_EQ(repeatedName(R"({"a":"{\"b\":1,\"b\":2}","b":"\\","c":"a"})"), std::nullopt);
    EXPECT_EQ(repeatedName(R"([{"a":1},{"a":1},["a","a"],"a","a"])"), std::nullopt);
    EXPECT_EQ(repeatedName(R"({"a":{"a":{"b":"a"}},"b":{"a":1}})"), std::nullopt);
    EXPECT_EQ(repeatedName(R"({"a":1,"\u0061":2})"), "/a");
    EXPECT_EQ(repeatedName(R"({"\u00e9\t":1,"é\u0009":2})"), "/é\t");
    EXPECT_EQ(repeatedName(R"({"\ud83d\uDE42":1,"🙂":2})"), "/🙂");
    EXPECT_EQ(repeatedName(R"({"\/\"\\":1,"/\u0022\u005c":2})"), "//\"\\");
    EXPECT_EQ(repeatedName(R"({"\\u0061":1,"a":2,"\u20ac":3,"\u0061b":4})"), std::nullopt);
    EXPECT_EQ(repeatedName("3"), std::nullopt);
    EXPECT_EQ(repeatedName("\"a\""), std::nullopt);
}

} // namespace

} // namespace pallascope
