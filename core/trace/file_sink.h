// A file that appears whole or not at all: text goes to a temporary file beside it, which takes its
// name at the end and is removed when anything goes wrong before.
#pragma once

#include "core/base/result.h"
#include "core/trace/json_out.h"

#include <filesystem>
#include <memory>

namespace pallascope::trace {

class FileSink : public Sink
{
public:
    // Compresses when the name ends in ".gz".
    explicit FileSink(std::filesystem::path path);
    ~FileSink() override;
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    [[nodiscard]] Status open();
    [[nodiscard]] bool write(std::string_view text) override;
    [[nodiscard]] Status commit();
    [[nodiscard]] Error error() const; // why the last call failed

private:
    struct Deflater;
    [[nodiscard]] bool writeBytes(const void* bytes, std::size_t size);
    [[nodiscard]] bool deflateAll(std::string_view text, bool last);

    std::filesystem::path m_path, m_temporary;
    std::unique_ptr<Deflater> m_deflater;
    int m_descriptor = -1;
    int m_errno = 0;
};

} // namespace pallascope::trace
