// Loads and saves kernels in both forms, and joins the JSON document with the members of the
// archive.
#include "core/kernel_file/kernel_file.h"

#include "core/base/read_file.h"
#include "core/base/sentence.h"
#include "core/base/visible.h"
#include "core/base/whole_file.h"
#include "core/ir/mesh.h"
#include "core/kernel_file/document.h"
#include "core/kernel_file/npy.h"
#include "core/kernel_file/zip.h"
#include "core/trace_file/trace_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace pallascope::kernel_file {

namespace {

constexpr std::string_view kZipSuffix = ".pallascope", kJsonSuffix = ".kernel.json";
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kDocument = "kernel.json";
constexpr std::uint64_t kMostTextBytes = 8U << 20U; // limit for kernel.json, and for one source
constexpr std::size_t kStartBytes = 1024;           // enough to tell what a file is

// ---- reading ------------------------------------------------------------------------------------

// The shape of one of the tiles that make up the array, or of the whole array if there are none.
Shape partShape(const Shape& whole, const std::vector<Extent>& repeats)
{
    std::vector<Extent> extents = whole.extents();
    for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
        extents[axis] /= repeats[axis];
    }
    return Shape(extents);
}

Result<Input> readMember(const InputEntry& entry, const std::string& where, const ir::Type& type,
                         const std::shared_ptr<const ZipReader>& zip)
{
    if (zip == nullptr) {
        return userError(
            fmt::format("{} names a member of an archive, but the file is none", where));
    }
    bool divides = entry.repeats.empty() || entry.repeats.size() == type.shape.rank();
    for (std::size_t axis = 0; divides && axis < entry.repeats.size(); ++axis) {
        const Extent count = entry.repeats[axis];
        divides = count >= 1 && type.shape[axis] % count == 0;
    }
    if (!divides) {
        return userError(fmt::format("{}/repeats is [{}]; expected for each axis of [{}] a number "
                                     "of at least 1 that divides its extent",
                                     where, join(entry.repeats, ","), toString(type.shape)));
    }
    if (Status sound = checkNpy(*zip, *entry.npy, type.dtype, partShape(type.shape, entry.repeats));
        !sound) {
        return sound.error();
    }
    return Input(Stored{zip, *entry.npy, entry.repeats});
}

// Reads the contents of one input. `zip` is null if the file is only JSON.
Result<Input> readInput(const InputEntry& entry, const std::string& where, const ir::Type& type,
                        const std::shared_ptr<const ZipReader>& zip)
{
    std::vector<Recipe> recipes;
    const auto add = [&](const auto& recipe) {
        if (recipe) {
            recipes.emplace_back(*recipe);
        }
    };
    add(entry.normal);
    add(entry.zeros);
    add(entry.fill);
    add(entry.iota);
    add(entry.mask);
    const std::size_t given = recipes.size() + (entry.npy ? 1 : 0);
    if (given != 1) {
        return userError(fmt::format(
            "{} has {} of normal, zeros, fill, iota, mask and npy; expected one", where, given));
    }
    if (entry.npy) {
        return readMember(entry, where, type, zip);
    }
    if (!entry.repeats.empty()) {
        return userError(fmt::format("{} has repeats, which only an npy may have", where));
    }
    if (Status right = checkRecipe(recipes.front(), type.dtype, type.shape); !right) {
        return userError(where + right.error().message);
    }
    return Input(std::move(recipes.front()));
}

Result<std::vector<Input>> readInputs(const Document& document, const std::string& file,
                                      const std::shared_ptr<const ZipReader>& zip)
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
        document.program.sources.push_back({entry.file, visible(*text, Lines::Several)});
    }
    return Done{};
}

Result<KernelFile> finish(Result<Document> document, const std::string& file,
                          const std::shared_ptr<const ZipReader>& zip)
{
    if (!document) {
        return document.error();
    }
    if (Status status = readSources(*document, file, zip.get()); !status) {
        return status.error();
    }
    Result<std::vector<Input>> inputs = readInputs(*document, file, zip);
    if (!inputs) {
        return inputs.error();
    }
    return KernelFile{std::move(document->program), std::move(*inputs),
                      std::move(document->producer)};
}

Result<KernelFile> fromZip(Result<ZipReader> opened, const std::string& file)
{
    if (!opened) {
        return opened.error();
    }
    const auto zip = std::make_shared<const ZipReader>(std::move(*opened));
    const std::string member(kDocument);
    const Result<std::string> text = zip->text(member, kMostTextBytes);
    if (!text) {
        return text.error();
    }
    return finish(fromJson(*text, file), file, zip);
}

// ---- writing ------------------------------------------------------------------------------------

// "sources/0_kernel.py", whatever path the author's tool wrote.
std::string sourceMember(std::size_t index, const std::string& file)
{
    constexpr std::size_t kKept = 60;
    std::string name = file.substr(file.find_last_of("/\\") + 1);
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; }, '_');
    return fmt::format("sources/{}_{}", index, name.substr(0, kKept));
}

// Writes the contents of an input into its entry.
struct EntryOf
{
    InputEntry& entry;
    std::size_t number;

    void operator()(const NormalRecipe& recipe) const { entry.normal = recipe; }

    void operator()(const ZerosRecipe& recipe) const { entry.zeros = recipe; }

    void operator()(const FillRecipe& recipe) const { entry.fill = recipe; }

    void operator()(const IotaRecipe& recipe) const { entry.iota = recipe; }

    void operator()(const MaskRecipe& recipe) const { entry.mask = recipe; }

    void operator()(const Recipe& recipe) const { std::visit(*this, recipe); }

    void operator()(const Array&) const { entry.npy = fmt::format("arrays/arg{}.npy", number); }

    void operator()(const Stored& stored) const
    {
        entry.npy = fmt::format("arrays/arg{}.npy", number);
        entry.repeats = stored.repeats;
    }
};

Document documentOf(const KernelFile& kernel)
{
    Document document;
    document.program = kernel.program;
    document.producer = kernel.producer;
    for (const Input& input : kernel.inputs) {
        InputEntry& entry = document.inputs.emplace_back();
        std::visit(EntryOf{entry, document.inputs.size() - 1}, input);
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

Result<Array> partOf(const Stored& stored, const ir::Type& type)
{
    return readNpy(*stored.zip, stored.member, type.dtype, partShape(type.shape, stored.repeats));
}

// The arrays that the file will contain, by the number of their input.
Result<std::map<std::size_t, Array>> storedArrays(const KernelFile& kernel)
{
    std::map<std::size_t, Array> arrays;
    std::size_t number = 0;
    for (const ir::Argument& argument : kernel.program.arguments) {
        if (argument.kind != ir::ArgumentKind::Input) {
            continue;
        }
        const Input& input = kernel.inputs[number];
        if (const auto* array = std::get_if<Array>(&input)) {
            arrays.emplace(number, *array);
        } else if (const auto* stored = std::get_if<Stored>(&input)) {
            Result<Array> part = partOf(*stored, ir::wholeType(kernel.program, argument));
            if (!part) {
                return part.error();
            }
            arrays.emplace(number, std::move(*part));
        }
        ++number;
    }
    return arrays;
}

Status saveZip(const KernelFile& kernel, const std::string& path)
{
    Document document = documentOf(kernel);
    const Result<std::map<std::size_t, Array>> arrays = storedArrays(kernel);
    if (!arrays) {
        return arrays.error();
    }
    std::vector<MemberBytes> members;
    std::vector<std::string> headers(kernel.inputs.size());
    for (const auto& [number, array] : *arrays) {
        headers[number] = npyHeader(array.dtype, array.shape);
        members.push_back({*document.inputs[number].npy,
                           {std::as_bytes(std::span(headers[number])),
                            {array.data.get(), static_cast<std::size_t>(array.byteCount())}},
                           false});
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
            inputs.emplace_back(NormalRecipe{inputs.size()});
        }
    }
    return inputs;
}

Result<Array> makeInput(const Input& input, const ir::Type& type)
{
    if (const auto* array = std::get_if<Array>(&input)) {
        return *array;
    }
    if (const auto* recipe = std::get_if<Recipe>(&input)) {
        return makeFrom(*recipe, type.dtype, type.shape);
    }
    const auto& stored = std::get<Stored>(input);
    Result<Array> part = partOf(stored, type);
    return asSentence(part && !stored.repeats.empty() ? Result<Array>(tiled(*part, stored.repeats))
                                                      : std::move(part));
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

std::optional<Error> givenPython(const std::string& path)
{
    if (!path.ends_with(".py") || !isOrdinaryFile(path)) {
        return std::nullopt;
    }
    return userError(fmt::format("\"{0}\" is a Python program; capture a function of it first, by "
                                 "`pallascope capture {0}:FUNCTION -o FILE.pallascope` or by "
                                 "Capture… in the window.",
                                 path),
                     {{Subject::File, path}});
}

Result<KernelFile> load(const std::string& path)
{
    if (std::optional<Error> python = givenPython(path)) {
        return *std::move(python);
    }
    const bool ordinary = isOrdinaryFile(path);
    if (ordinary && firstBytes(path, kZipMagic.size()) == kZipMagic) {
        return aboutFile(asSentence(fromZip(ZipReader::open(path), path)), path);
    }
    if (trace_file::isTraceFile(path)) {
        return trace_file::givenATrace(path, "a kernel");
    }
    // An archive from a pipe is read as a whole.
    const Result<std::string> bytes = readFile(path, ordinary ? kMostTextBytes : kMostPipedBytes);
    return bytes ? parse(*bytes, path) : Result<KernelFile>(bytes.error());
}

Result<KernelFile> parse(std::string_view bytes, const std::string& name)
{
    return aboutFile(asSentence(bytes.starts_with(kZipMagic)
                                    ? fromZip(ZipReader::openBytes(bytes, name), name)
                                    : finish(fromJson(bytes, name), name, nullptr)),
                     name);
}

Status save(const KernelFile& kernel, const std::string& path)
{
    if (path.ends_with(kZipSuffix)) {
        return aboutFile(asSentence(saveZip(kernel, path)), path);
    }
    if (path.ends_with(kJsonSuffix)) {
        return aboutFile(asSentence(saveJson(kernel, path)), path);
    }
    return userError(fmt::format("Cannot write \"{}\": expected a name that ends in {} or {}.",
                                 path, kJsonSuffix, kZipSuffix),
                     {{Subject::File, path}});
}

} // namespace pallascope::kernel_file
