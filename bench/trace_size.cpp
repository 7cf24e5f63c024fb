// Measures the bytes of a recorded row in memory, of an event in the Chrome half of a
// .trace.json.gz, and of a recorded row in its pallascope section. Each half is compressed by
// itself.
#include "app/run_job/chips.h"
#include "app/run_job/run_job.h"
#include "core/trace_file/trace_file.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <malloc.h>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace {

using namespace pallascope;

// The memory that the process uses, without memory that is reserved but was never touched.
double residentBytes()
{
    malloc_trim(0);
    std::ifstream file("/proc/self/statm");
    double total = 0, resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double rowsOf(const trace::Trace& trace)
{
    return static_cast<double>(trace.steps().size() + trace.segments().size()
                               + trace.copies().size() + trace.waits().size()
                               + trace.visits().size() + trace.signals().size());
}

double packed(std::string_view text)
{
    constexpr int kGzip = 15 + 16;
    z_stream stream{};
    deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY);
    std::vector<unsigned char> out(deflateBound(&stream, text.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    const auto size = static_cast<double>(stream.total_out);
    deflateEnd(&stream);
    return size;
}

double count(std::string_view text, std::string_view part)
{
    double found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size())) {
        ++found;
    }
    return found;
}

void measure(const char* what, const char* kernel, const std::string& chip,
             const std::map<std::string, std::string>& parameters)
{
    const double before = residentBytes();
    std::shared_ptr<const trace::Trace> trace;
    {
        const auto run = app::runKernel(
            {.kernel = kernel, .parameters = parameters, .chip = chip, .fullValues = false});
        if (!run) {
            std::fprintf(stderr, "%s\n", run.error().message.c_str());
            std::exit(2);
        }
        trace = run->view->trace;
    }
    const double rows = rowsOf(*trace), memory = (residentBytes() - before) / rows;
    const std::string text = trace_file::toJson(*trace);
    const std::size_t middle = text.find("\n],\n\"pallascope\":");
    const std::string_view chrome = std::string_view(text).substr(0, middle),
                           section = std::string_view(text).substr(middle);
    const double events = count(chrome, "\"ph\":\"X\"");
    std::printf("%-28s %8.0f rows: %5.1f bytes a row in memory, %5.2f in the section; %8.0f events "
                "of %5.2f bytes\n",
                what, rows, memory, packed(section) / rows, events, packed(chrome) / events);
}

} // namespace

int main()
{
    const auto cube = [](const char* size, const char* block) {
        return std::map<std::string, std::string>{{"m", size},   {"n", size},   {"k", size},
                                                  {"bm", block}, {"bn", block}, {"bk", block}};
    };
    measure("matmul 4096^3 by 512", "matmul", "v5e", cube("4096", "512"));
    measure("matmul 4096^3 by 128", "matmul", "v5e", cube("4096", "128"));
    measure("matmul 8192^3 by 128", "matmul", "v5e", cube("8192", "128"));
    measure("add_vectors, 32768 steps", "add_vectors", "v5e",
            {{"shape", "262144,128"}, {"block", "8"}});
    measure("add_by_hand, 32768 steps", "add_by_hand", "v5e", {{"rows", "262144"}, {"block", "8"}});
    measure("add_by_hand, two cores", "add_by_hand", "v5p",
            {{"rows", "262144"}, {"block", "8"}, {"cores", "2"}});
    return 0;
}
