// Parses and writes headers of .npy files, and reads their elements.
#include "core/kernel_file/npy.h"

#include "core/base/sentence.h"
#include "core/ir/mesh.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace pallascope::kernel_file {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64; // of the first element, in bytes from the start of the file
constexpr std::size_t kMostHeader = 4096;

struct Descr
{
    std::string_view dtype, text;
};

// The types that NumPy has itself. All others are written as "V" and their size in bytes.
constexpr std::array<Descr, 9> kDescrs{{{"f32", "<f4"},
                                        {"f16", "<f2"},
                                        {"int8", "|i1"},
                                        {"uint8", "|u1"},
                                        {"int16", "<i2"},
                                        {"uint16", "<u2"},
                                        {"int32", "<i4"},
                                        {"uint32", "<u4"},
                                        {"bool", "|b1"}}};

std::string descrOf(DType dtype)
{
    for (const Descr& descr : kDescrs) {
        if (descr.dtype == dtypeName(dtype)) {
            return std::string(descr.text);
        }
    }
    return fmt::format("<V{}", dtypeBytes(dtype));
}

// Also accepts the ways of writing the byte order where it makes no difference, and "f1", the
// letter of float8_e5m2, the only type of ml_dtypes that has one.
bool sameDescr(std::string_view found, DType dtype)
{
    const std::string right = descrOf(dtype);
    if (found.size() != right.size()) {
        return false;
    }
    const bool anyOrder = dtypeBytes(dtype) == 1 || right[1] == 'V';
    const bool order = found[0] == right[0] || (anyOrder && (found[0] == '<' || found[0] == '|'));
    const bool e5m2 = dtypeName(dtype) == "f8e5m2" && found.substr(1) == "f1";
    return order && (found.substr(1) == right.substr(1) || e5m2);
}

struct Header
{
    std::string descr;
    bool columnMajor = false;
    std::vector<Extent> shape;
};

// Parses the dict of a header: exactly the members that NumPy writes, in any order and spacing.
class HeaderParser
{
public:
    explicit HeaderParser(std::string_view text)
        : m_text(text)
    {}

    [[nodiscard]] std::optional<Header> parse()
    {
        Header header;
        int seen = 0;
        bool sound = take("{");
        while (sound && !take("}")) {
            const std::string key = quoted();
            sound = take(":");
            if (sound && key == "descr") {
                header.descr = quoted();
                seen |= 1;
            } else if (sound && key == "fortran_order") {
                header.columnMajor = take("True");
                sound = header.columnMajor || take("False");
                seen |= 2;
            } else if (sound && key == "shape") {
                sound = tuple(header.shape);
                seen |= 4;
            } else {
                sound = false;
            }
            sound = sound && (take(",") || ahead('}'));
        }
        skipSpace();
        return sound && seen == 7 && m_text.empty() ? std::optional(header) : std::nullopt;
    }

private:
    void skipSpace()
    {
        m_text.remove_prefix(std::min(m_text.find_first_not_of(" \n"), m_text.size()));
    }

    bool ahead(char c)
    {
        skipSpace();
        return m_text.starts_with(c);
    }

    bool take(std::string_view word)
    {
        skipSpace();
        const bool there = m_text.starts_with(word);
        m_text.remove_prefix(there ? word.size() : 0);
        return there;
    }

    std::string quoted()
    {
        const char quote = ahead('\'') ? '\'' : '"';
        const std::size_t end = ahead(quote) ? m_text.find(quote, 1) : std::string_view::npos;
        if (end == std::string_view::npos) {
            return {};
        }
        std::string text(m_text.substr(1, end - 1));
        m_text.remove_prefix(end + 1);
        return text;
    }

    bool tuple(std::vector<Extent>& extents)
    {
        if (!take("(")) {
            return false;
        }
        while (!take(")")) {
            skipSpace();
            Extent extent = 0;
            const auto [end, fault] =
                std::from_chars(m_text.data(), m_text.data() + m_text.size(), extent);
            if (fault != std::errc() || extent < 0) {
                return false;
            }
            m_text.remove_prefix(static_cast<std::size_t>(end - m_text.data()));
            extents.push_back(extent);
            if (!take(",") && !ahead(')')) {
                return false;
            }
        }
        return true;
    }

    std::string_view m_text;
};

// Reads a file up to its first element.
Result<Header> readHeader(ZipReader::Member& member, const std::string& who)
{
    const Error bad = userError(fmt::format("{} is not an array as NumPy saves it", who));
    std::array<std::byte, 12> start{};
    const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(start[i]); };
    if (!member.read(std::span(start).first(10))
        || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
        return bad;
    }
    std::size_t length = byte(8) + (byte(9) << 8U);
    if (byte(6) == 2 || byte(6) == 3) {
        if (!member.read(std::span(start).subspan(10))) {
            return bad;
        }
        length += (byte(10) << 16U) + (byte(11) << 24U);
    } else if (byte(6) != 1) {
        return bad;
    }
    if (length > kMostHeader) {
        return bad;
    }
    std::string text(length, '\0');
    if (!member.read(std::as_writable_bytes(std::span(text)))) {
        return bad;
    }
    const std::optional<Header> header = HeaderParser(text).parse();
    return header ? Result<Header>(*header) : Result<Header>(bad);
}

Array toRowMajor(const Array& columns)
{
    Array rows = makeArray(columns.dtype, columns.shape);
    const auto size = static_cast<std::size_t>(dtypeBytes(columns.dtype));
    std::vector<Extent> index(columns.shape.rank(), 0);
    const std::int64_t elements = columns.shape.elements();
    for (std::int64_t i = 0; i < elements; ++i) {
        std::int64_t from = 0;
        for (std::size_t axis = index.size(); axis-- > 0;) {
            from = from * columns.shape[axis] + index[axis];
        }
        std::memcpy(rows.data.get() + static_cast<std::size_t>(i) * size,
                    columns.data.get() + static_cast<std::size_t>(from) * size, size);
        for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == columns.shape[axis];) {
            index[axis] = 0;
        }
    }
    return rows;
}

// Clears the bits above a narrow element, and makes every bool other than 0 a 1.
void tidy(Array& array)
{
    const bool isBool = array.dtype == DType::Bool;
    if (!isBool && dtypeBits(array.dtype) >= 8) {
        return;
    }
    const auto mask =
        static_cast<std::byte>((1U << static_cast<unsigned>(dtypeBits(array.dtype))) - 1U);
    std::byte* const bytes = array.data.get();
    std::transform(bytes, bytes + array.byteCount(), bytes, [&](std::byte value) {
        return isBool ? std::byte(value != std::byte{0} ? 1 : 0) : value & mask;
    });
}

} // namespace

std::string npyHeader(DType dtype, const Shape& shape)
{
    std::string extents;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        extents += fmt::format("{}{}", i > 0 ? ", " : "", shape[i]);
    }
    std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descrOf(dtype), extents, shape.rank() == 1 ? "," : "");
    const std::size_t before = kMagic.size() + 4;
    const std::size_t unpadded = before + dict.size() + 1;
    dict.append((kAlignment - unpadded % kAlignment) % kAlignment + 1, ' ');
    dict.back() = '\n';
    std::string header(kMagic);
    header +=
        {'\1', '\0', static_cast<char>(dict.size() & 0xffU), static_cast<char>(dict.size() >> 8U)};
    return header + dict;
}

namespace {

// A member with the expected dtype and shape, read up to its first element.
struct OpenedNpy
{
    ZipReader::Member member;
    bool columnMajor = false;
};

Result<OpenedNpy> openNpy(const ZipReader& zip, const std::string& member, DType dtype,
                          const Shape& shape)
{
    const std::string who = fmt::format("{}: {}", zip.name(), member);
    Result<ZipReader::Member> opened = zip.member(member);
    if (!opened) {
        return opened.error();
    }
    const Result<Header> header = readHeader(*opened, who);
    if (!header) {
        return header.error();
    }
    if (!sameDescr(header->descr, dtype)) {
        return userError(
            fmt::format("{} holds elements of type '{}'; expected {}, which NumPy stores as '{}'",
                        who, header->descr, dtypeName(dtype), descrOf(dtype)));
    }
    if (header->shape != shape.extents()) {
        return userError(fmt::format("{} has the shape [{}]; expected {}", who,
                                     join(header->shape, ","), toString(shape)));
    }
    // Check this before anything is allocated.
    const std::int64_t bytes = shape.elements() * dtypeBytes(dtype);
    if (static_cast<std::uint64_t>(bytes) > zip.members().at(member)) {
        return userError(fmt::format("{} is cut short: its {} elements are not all there", who,
                                     shape.elements()));
    }
    return OpenedNpy{std::move(*opened), header->columnMajor};
}

} // namespace

Status checkNpy(const ZipReader& zip, const std::string& member, DType dtype, const Shape& shape)
{
    const Result<OpenedNpy> opened = openNpy(zip, member, dtype, shape);
    return opened ? Status(Done{}) : Status(opened.error());
}

Result<Array> readNpy(const ZipReader& zip, const std::string& member, DType dtype,
                      const Shape& shape)
{
    Result<OpenedNpy> opened = openNpy(zip, member, dtype, shape);
    if (!opened) {
        return opened.error();
    }
    Array array = makeArray(dtype, shape);
    const std::span bytes(array.data.get(), static_cast<std::size_t>(array.byteCount()));
    if (Status status = opened->member.read(bytes); !status) {
        return status.error();
    }
    if (Status status = opened->member.finish(); !status) {
        return status.error();
    }
    tidy(array);
    return opened->columnMajor && shape.rank() > 1 ? toRowMajor(array) : array;
}

Result<std::vector<std::optional<Array>>> readInputs(const std::string& path,
                                                     const ir::Program& program)
{
    const Result<ZipReader> zip = aboutFile(asSentence(ZipReader::open(path)), path);
    if (!zip) {
        return zip.error();
    }
    std::vector<std::optional<Array>> inputs;
    std::size_t taken = 0;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind != ir::ArgumentKind::Input) {
            continue;
        }
        const std::string member = fmt::format("arg{}.npy", inputs.size());
        inputs.emplace_back();
        if (zip->members().contains(member)) {
            const ir::Type type = ir::wholeType(program, argument);
            Result<Array> array =
                aboutFile(asSentence(readNpy(*zip, member, type.dtype, type.shape)), path);
            if (!array) {
                return array.error();
            }
            inputs.back() = std::move(*array);
            ++taken;
        }
    }
    if (taken == zip->members().size() && taken > 0) {
        return inputs;
    }
    const std::string expected =
        fmt::format("expected {}, one for each input of {}",
                    inputs.empty()       ? "nothing"
                    : inputs.size() == 1 ? "arg0"
                                         : fmt::format("arg0 to arg{}", inputs.size() - 1),
                    program.name);
    if (zip->members().empty()) {
        return userError(fmt::format("{} is an empty archive; {}.", path, expected),
                         {{Subject::File, path}});
    }
    for (const auto& [name, size] : zip->members()) {
        const auto number = [&](std::size_t i) { return fmt::format("arg{}.npy", i); };
        bool known = false;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            known = known || name == number(i);
        }
        if (!known) {
            return userError(fmt::format("{} has a member {}; {}.", path, name, expected),
                             {{Subject::File, path}});
        }
    }
    return inputs;
}

Status writeResults(const std::string& path, const std::vector<Array>& results)
{
    std::vector<std::string> headers;
    headers.reserve(results.size());
    std::vector<MemberBytes> members;
    for (const Array& array : results) {
        headers.push_back(npyHeader(array.dtype, array.shape));
        const std::span<const std::byte> data(array.data.get(),
                                              static_cast<std::size_t>(array.byteCount()));
        members.push_back({fmt::format("result{}.npy", members.size()),
                           {std::as_bytes(std::span(headers.back())), data},
                           false});
    }
    if (members.empty()) {
        return userError(fmt::format("Cannot write \"{}\": the kernel has no output.", path),
                         {{Subject::File, path}});
    }
    return aboutFile(asSentence(writeZip(path, members)), path);
}

} // namespace pallascope::kernel_file
