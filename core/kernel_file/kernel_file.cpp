#include "core/kernel_file/kernel_file.h"

#include "core/base/check.h"
#include "core/base/read_file.h"
#include "core/base/sentence.h"
#include "core/base/whole_file.h"
#include "core/ir/mesh.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/npy.h"
#include "core/kernel_file/zip.h"
#include "core/trace/file.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::kernel_file {

namespace {

constexpr std::string_view kZipSuffix = ".pallascope", kJsonSuffix = ".kernel.json";
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kDocument = "kernel.json";
constexpr std::uint64_t kMostTextBytes = 8U << 20U;               // of kernel.json, of one source
constexpr std::uint64_t kMostPipedBytes = std::uint64_t{1} << 28; // of an archive out of a pipe
constexpr std::size_t kStartBytes = 1024;                         // which tell what a file is

// ---- reading ------------------------------------------------------------------------------------

// The contents of one input; `zip` null: the file is JSON alone.
Result<Input> readInput(const InputEntry& entry, const std::string& where, const ir::Type& type,
                        const ZipReader* zip)
{
    const int given = (entry.normal ? 1 : 0) + (entry.zeros ? 1 : 0) + (entry.npy ? 1 : 0);
    if (given != 1) {
        return userError(
            fmt::format("{} has {} of normal, zeros and npy; one is right", where, given));
    }
    if (entry.normal) {
        return Input(Recipe{Recipe::Kind::Normal, entry.normal->seed});
    }
    if (entry.zeros) {
        return Input(Recipe{Recipe::Kind::Zeros, 0});
    }
    if (zip == nullptr) {
        return userError(
            fmt::format("{} names a member of an archive, but the file is none", where));
    }
    Result<Array> array = readNpy(*zip, *entry.npy, type.dtype, type.shape);
    return array ? Result<Input>(Input(std::move(*array))) : Result<Input>(array.error());
}

Result<std::vector<Input>> readInputs(const Document& document, const std::string& file,
                                      const ZipReader* zip)
{
    std::vector<Input> inputs = defaultInputs(document.program);
    if (!document.inputs.empty() && document.inputs.size() != inputs.size()) {
        return userError(fmt::format("{}: /inputs has {} entries; one for each of {} inputs is "
                                     "right",
                                     file, document.inputs.size(), inputs.size()));
    }
    std::size_t next = 0;
    for (const ir::Argument& argument : document.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input && next < document.inputs.size()) {
            Result<Input> input =
                readInput(document.inputs[next], fmt::format("{}: /inputs/{}", file, next),
                          ir::wholeType(document.program, argument), zip);
            if (!input) {
                return input.error();
            }
            inputs[next++] = std::move(*input);
        }
    }
    return inputs;
}

Status readSources(Document& document, const std::string& file, const ZipReader* zip)
{
    for (std::size_t i = 0; i < document.sources.size(); ++i) {
        const SourceEntry& entry = document.sources[i];
        if (entry.text.has_value() == entry.member.has_value()) {
            return userError(fmt::format("{}: /sources/{} needs either text or member", file, i));
        }
        if (entry.member && zip == nullptr) {
            return userError(fmt::format(
                "{}: /sources/{} names a member of an archive, but the file is none", file, i));
        }
        Result<std::string> text = entry.text ? Result<std::string>(*entry.text)
                                              : zip->text(*entry.member, kMostTextBytes);
        if (!text) {
            return text.error();
        }
        document.program.sources.push_back({entry.file, validUtf8(*text)});
    }
    return Done{};
}

Result<KernelFile> finish(Result<Document> document, const std::string& file, const ZipReader* zip)
{
    if (!document) {
        return document.error();
    }
    if (Status status = readSources(*document, file, zip); !status) {
        return status.error();
    }
    Result<std::vector<Input>> inputs = readInputs(*document, file, zip);
    if (!inputs) {
        return inputs.error();
    }
    return KernelFile{std::move(document->program), std::move(*inputs),
                      std::move(document->producer)};
}

Result<KernelFile> fromZip(const Result<ZipReader>& zip, const std::string& file)
{
    if (!zip) {
        return zip.error();
    }
    const std::string member(kDocument);
    const Result<std::string> text = zip->text(member, kMostTextBytes);
    if (!text) {
        return text.error();
    }
    return finish(fromJson(*text, file), file, &*zip);
}

// ---- writing ------------------------------------------------------------------------------------

// "sources/0_kernel.py", whatever path the author's tool has written.
std::string sourceMember(std::size_t index, const std::string& file)
{
    constexpr std::size_t kKept = 60;
    std::string name = file.substr(file.find_last_of("/\\") + 1);
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; }, '_');
    return fmt::format("sources/{}_{}", index, name.substr(0, kKept));
}

Document documentOf(const KernelFile& kernel)
{
    Document document;
    document.program = kernel.program;
    document.producer = kernel.producer;
    for (const Input& input : kernel.inputs) {
        InputEntry& entry = document.inputs.emplace_back();
        if (const auto* recipe = std::get_if<Recipe>(&input)) {
            switch (recipe->kind) {
            case Recipe::Kind::Normal:
                entry.normal = NormalRecipe{recipe->seed};
                break;
            case Recipe::Kind::Zeros:
                entry.zeros.emplace();
                break;
            }
        } else {
            entry.npy = fmt::format("arrays/arg{}.npy", document.inputs.size() - 1);
        }
    }
    return document;
}

Status saveJson(const KernelFile& kernel, const std::string& path)
{
    Document document = documentOf(kernel);
    for (const InputEntry& input : document.inputs) {
        if (input.npy) {
            return userError(fmt::format("Cannot write \"{}\": arrays need a file that ends in {}",
                                         path, kZipSuffix));
        }
    }
    for (const ir::Source& source : kernel.program.sources) {
        document.sources.push_back({source.file, source.text, {}});
    }
    return writeFile(path, toJson(document));
}

Status saveZip(const KernelFile& kernel, const std::string& path)
{
    Document document = documentOf(kernel);
    std::vector<MemberBytes> members;
    std::vector<std::string> headers(kernel.inputs.size());
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
        if (const auto* array = std::get_if<Array>(&kernel.inputs[i])) {
            headers[i] = npyHeader(array->dtype, array->shape);
            members.push_back({*document.inputs[i].npy,
                               {std::as_bytes(std::span(headers[i])),
                                {array->data.get(), static_cast<std::size_t>(array->byteCount())}},
                               false});
        }
    }
    for (const ir::Source& source : kernel.program.sources) {
        const std::string member = sourceMember(document.sources.size(), source.file);
        document.sources.push_back({source.file, {}, member});
        members.push_back({member, {std::as_bytes(std::span(source.text))}, true});
    }
    const std::string text = toJson(document);
    members.insert(members.begin(),
                   {std::string(kDocument), {std::as_bytes(std::span(text))}, true});
    return writeZip(path, members);
}

} // namespace

std::vector<Input> defaultInputs(const ir::Program& program)
{
    std::vector<Input> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            inputs.emplace_back(Recipe{Recipe::Kind::Normal, inputs.size()});
        }
    }
    return inputs;
}

Array makeInput(const Input& input, const ir::Type& type)
{
    if (const auto* array = std::get_if<Array>(&input)) {
        return *array;
    }
    const auto& recipe = std::get<Recipe>(input);
    switch (recipe.kind) {
    case Recipe::Kind::Normal:
        return normalArray(type.dtype, type.shape, recipe.seed);
    case Recipe::Kind::Zeros: {
        Array array = makeArray(type.dtype, type.shape);
        std::fill_n(array.data.get(), array.byteCount(), std::byte{0}); // 0 in every dtype
        return array;
    }
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

bool isKernelText(std::string_view start)
{
    return start.starts_with(kZipMagic)
           || start.substr(0, kStartBytes).find('"' + std::string(kFormat) + '"')
                  != std::string_view::npos;
}

bool isKernelFile(const std::string& path)
{
    return isOrdinaryFile(path)
           && (path.ends_with(kZipSuffix) || path.ends_with(kJsonSuffix)
               || isKernelText(firstBytes(path, kStartBytes)));
}

Result<KernelFile> load(const std::string& path)
{
    const bool ordinary = isOrdinaryFile(path);
    if (ordinary && firstBytes(path, kZipMagic.size()) == kZipMagic) {
        return asSentence(fromZip(ZipReader::open(path), path));
    }
    if (trace::isTraceFile(path)) {
        return userError(
            fmt::format("\"{}\" is a trace; a kernel is right. `pallascope report` and "
                        "`pallascope open` take traces.",
                        path));
    }
    // An archive from a pipe is read whole.
    const Result<std::string> bytes = readFile(path, ordinary ? kMostTextBytes : kMostPipedBytes);
    return bytes ? parse(*bytes, path) : Result<KernelFile>(bytes.error());
}

Result<KernelFile> parse(std::string_view bytes, const std::string& name)
{
    return asSentence(bytes.starts_with(kZipMagic)
                          ? fromZip(ZipReader::openBytes(bytes, name), name)
                          : finish(fromJson(bytes, name), name, nullptr));
}

Status save(const KernelFile& kernel, const std::string& path)
{
    if (path.ends_with(kZipSuffix)) {
        return asSentence(saveZip(kernel, path));
    }
    if (path.ends_with(kJsonSuffix)) {
        return asSentence(saveJson(kernel, path));
    }
    return userError(fmt::format("Cannot write \"{}\": a name that ends in {} or {} is right.",
                                 path, kJsonSuffix, kZipSuffix));
}

} // namespace pallascope::kernel_file
