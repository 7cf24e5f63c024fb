// Writes the text of a trace file, compressed or not. core/base/whole_file.h makes the file appear
// whole or not at all.
#pragma once

#include "core/base/whole_file.h"
#include "core/trace_file/json_out.h"

#include <filesystem>
#include <memory>

namespace pallascope::trace_file {

class FileSink : public Sink
{
public:
    // Compresses if the name ends in ".gz".
    explicit FileSink(const std::filesystem::path& path);
    ~FileSink() override;
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    [[nodiscard]] Status open() { return m_file.open(); }

    [[nodiscard]] bool write(std::string_view text) override;
    [[nodiscard]] Status commit();

    // Why the last call failed.
    [[nodiscard]] Error error() const { return m_file.error(); }

private:
    struct Deflater;
    [[nodiscard]] bool deflateAll(std::string_view text, bool last);

    WholeFile m_file;
    std::unique_ptr<Deflater> m_deflater;
};

} // namespace pallascope::trace_file
