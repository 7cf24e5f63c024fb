// docs/kernel_format.md must name everything that a file can hold.
#include "core/kernel_file/params.h"
#include "tests/kernel_file/support.h"

#include <gtest/gtest.h>

namespace pallascope::kernel_file_test {

namespace {

// Collects the keys of a struct and of the structs in it.
class Keys
{
public:
    std::vector<std::string> keys;

    template<class T>
    void operator()(std::string_view key, T& value)
    {
        keys.emplace_back(key);
        enter(value);
    }

    template<class T>
    void required(std::string_view key, T& value)
    {
        (*this)(key, value);
    }

    void params(std::string_view key, ir::OpCode, const ir::Params&)
    {
        keys.emplace_back(key);
        add(static_cast<const ir::Params*>(nullptr));
    }

private:
    template<class... P>
    void add(const std::variant<P...>*)
    {
        const auto one = [&]<class Params>(Params params) {
            if constexpr (!std::same_as<Params, std::monostate>) {
                kernel_file::fields(*this, params);
            }
        };
        (one(P{}), ...);
    }

    template<class T>
    void enter(const std::vector<T>&)
    {
        constexpr bool isStruct = std::is_class_v<T> && requires(Keys & a, T & t)
        {
            kernel_file::fields(a, t);
        };
        if constexpr (isStruct && !std::same_as<T, ir::Operation>) {
            T entry{};
            kernel_file::fields(*this, entry);
        } else if constexpr (std::same_as<T, ir::Operation>) {
            if (!m_inOperation) { // operations have regions, which hold operations
                m_inOperation = true;
                T entry{};
                kernel_file::fields(*this, entry);
            }
        }
    }

    void enter(const ir::Region& region)
    {
        ir::Region copy = region;
        kernel_file::fields(*this, copy);
    }

    template<class T>
    void enter(const std::optional<T>&)
    {
        if constexpr (requires(Keys & a, T & t) { kernel_file::fields(a, t); }) {
            T value{};
            kernel_file::fields(*this, value);
        }
    }

    template<class E>
    void enter(const E&)
    {
        if constexpr (std::is_enum_v<E> && requires(E e) { kernel_file::enumName(e); }) {
            for (std::underlying_type_t<E> i = 0;; ++i) {
                const std::string_view name = kernel_file::enumName(static_cast<E>(i));
                if (name.empty()) {
                    return;
                }
                keys.emplace_back(name);
            }
        }
    }

    bool m_inOperation = false;
};

TEST(KernelFormatDocument, namesEveryKeyEveryEnumeratorAndEveryOperation)
{
    const std::string document = readBytes(PALLASCOPE_FORMAT);
    Keys collected;
    kernel_file::Document example;
    kernel_file::fields(collected, example);
    EXPECT_GT(collected.keys.size(), 60U);
    for (const ir::OpEntry& entry : ir::opTable()) {
        collected.keys.emplace_back(entry.name);
    }
    for (const std::string& key : collected.keys) {
        const bool named = document.find('`' + key + '`') != std::string::npos
                           || document.find('"' + key + '"') != std::string::npos;
        EXPECT_TRUE(named) << key;
    }
}

} // namespace

} // namespace pallascope::kernel_file_test
