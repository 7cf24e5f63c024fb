#include "core/base/whole_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <mutex>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace pallascope {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".part";

fs::path folderOf(const fs::path& path)
{
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool isLinkOfProcess(const fs::path& path)
{
    struct statfs system
    {};

    return ::statfs(folderOf(path).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

// Follows links as long as `goesOn` holds of them, and returns where it stops; the path itself if
// one of them cannot be read.
template<class F>
fs::path followed(const fs::path& path, F goesOn)
{
    constexpr int kMostLinks = 40; // as in Linux
    std::error_code code;
    fs::path found = path;
    for (int links = 0; links < kMostLinks && fs::is_symlink(found, code) && goesOn(found);
         ++links) {
        const fs::path target = fs::read_symlink(found, code);
        if (code) {
            return path;
        }
        found = target.is_absolute() ? target : found.parent_path() / target;
    }
    return found;
}

// The path with all links resolved. If the links form a cycle, one that cannot be opened.
fs::path withoutLinks(const fs::path& path)
{
    return followed(path, [](const fs::path& /*link*/) { return true; });
}

// Whether the path leads over a link such as /proc/self/fd/1, which stands for an open file. That
// one may have a name, but is not to be replaced: others go on writing to it.
bool isOpenFile(const fs::path& path)
{
    std::error_code code;
    const fs::path found =
        followed(path, [](const fs::path& link) { return !isLinkOfProcess(link); });
    return fs::is_symlink(found, code) && isLinkOfProcess(found);
}

// Whether this is the file to which the process prints, which replacing it would lose.
bool isPrintedTo(const fs::path& path)
{
    struct stat named
    {};

    if (::stat(path.c_str(), &named) != 0 || !S_ISREG(named.st_mode)) {
        return false;
    }
    const auto isSame = [&named](int descriptor) {
        struct stat open
        {};
        return ::fstat(descriptor, &open) == 0 && open.st_dev == named.st_dev
               && open.st_ino == named.st_ino;
    };
    return isSame(STDOUT_FILENO) || isSame(STDERR_FILENO);
}

// ".NAME.HOST-". The host is part of it because a process number means nothing on another host that
// shares the folder.
std::string temporaryStart(const fs::path& path)
{
    constexpr std::size_t kKept = 150; // bytes of the name; file names have at most 255
    std::array<char, 65> host{};
    (void)::gethostname(host.data(), host.size() - 1);
    return "." + path.filename().string().substr(0, kKept) + "." + host.data() + "-";
}

// The number of the process that writes this temporary file; 0 if it is not one of this program's.
pid_t writerOf(std::string_view name, std::string_view start)
{
    if (!name.starts_with(start) || name.find(kSuffix, start.size()) == std::string_view::npos) {
        return 0;
    }
    pid_t process = 0;
    const auto [end, error] =
        std::from_chars(name.data() + start.size(), name.data() + name.size(), process);
    const bool sound = error == std::errc() && end != name.data() + name.size() && *end == '-';
    return sound && process > 0 ? process : 0;
}

void removeLeftBehind(const fs::path& folder, const std::string& start)
{
    std::error_code code;
    std::vector<fs::path> left;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code)) {
        const pid_t process = writerOf(entry->path().filename().string(), start);
        if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) {
            left.push_back(entry->path());
        }
    }
    for (const fs::path& path : left) {
        // May fail if another writer has removed it, or if it is not ours to remove.
        fs::remove(path, code);
    }
}

// The temporary files that are being written now.
struct Temporaries
{
    std::mutex mutex;
    std::set<fs::path> paths;
};

Temporaries& temporaries()
{
    static auto* const all = new Temporaries; // never destroyed, because threads may outlive main()
    return *all;
}

Error cannotWrite(const fs::path& path, const std::string& why)
{
    return userError("Cannot write \"" + path.string() + "\": " + why + ".",
                     {{Subject::File, path.string()}});
}

Status checkPlace(const fs::path& named, const fs::path& path)
{
    std::error_code code;
    const fs::file_status status = fs::status(named, code); // links in /proc do not lead to a path
    if (code == std::errc::too_many_symbolic_link_levels) {
        return cannotWrite(named, code.message());
    }
    if (named == "-") {
        return cannotWrite(named, "it does not mean standard output here; use the name of a file, "
                                  "such as \"./-\" for one of that name");
    }
    if (isPrintedTo(named)) {
        return cannotWrite(named, "what is printed goes there; use the name of another file");
    }
    if (fs::is_directory(status)) {
        return cannotWrite(named, "it is a folder; use the name of a file");
    }
    if (path.filename().empty()) {
        return cannotWrite(named, "it names no file");
    }
    if ((fs::exists(status) && !fs::is_regular_file(status)) || isOpenFile(named)) {
        return cannotWrite(named, "it is not an ordinary file");
    }
    const fs::path folder = folderOf(path);
    if (!fs::is_directory(folder, code)) {
        return cannotWrite(named, "there is no folder \"" + folder.string() + "\"");
    }
    if (::access(folder.c_str(), W_OK) != 0) {
        return cannotWrite(named, "the folder \"" + folder.string() + "\" is not writable");
    }
    if (fs::exists(status) && ::access(path.c_str(), W_OK) != 0) {
        return cannotWrite(named, std::strerror(errno));
    }
    return Done{};
}

} // namespace

WholeFile::WholeFile(std::filesystem::path path)
    : m_named(std::move(path))
    , m_path(withoutLinks(m_named))
{}

WholeFile::~WholeFile()
{
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
    if (!m_temporary.empty()) {
        std::error_code ignored;
        fs::remove(m_temporary, ignored);
        const std::scoped_lock lock(temporaries().mutex);
        temporaries().paths.erase(m_temporary);
    }
}

Status WholeFile::check(const std::filesystem::path& path)
{
    return checkPlace(path, withoutLinks(path));
}

Status WholeFile::open()
{
    if (Status sound = checkPlace(m_named, m_path); !sound) {
        return sound;
    }
    static std::atomic<int> counter{0};
    const fs::path folder = folderOf(m_path);
    const std::string start = temporaryStart(m_path);
    removeLeftBehind(folder, start);
    fs::path temporary;
    do { // the name may be taken by what a process with the same number left
        temporary = m_path.parent_path()
                    / (start + std::to_string(::getpid()) + "-" + std::to_string(counter++)
                       + std::string(kSuffix));
        m_descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (m_descriptor < 0 && errno == EEXIST);
    if (m_descriptor < 0) {
        return refuse();
    }
    m_temporary = temporary;
    const std::scoped_lock lock(temporaries().mutex);
    temporaries().paths.insert(m_temporary);
    return Done{};
}

bool WholeFile::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            m_errno = errno;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

Status WholeFile::commit()
{
    // close() reports what the system could not write in the end (a quota, a network disk).
    const int closed = ::close(std::exchange(m_descriptor, -1));
    const std::scoped_lock lock(temporaries().mutex);
    if (closed != 0 || std::rename(m_temporary.c_str(), m_path.c_str()) != 0) {
        return refuse();
    }
    temporaries().paths.erase(m_temporary);
    m_temporary.clear();
    return Done{};
}

Status WholeFile::refuse()
{
    m_errno = errno;
    return error();
}

Error WholeFile::error(int code) const
{
    return cannotWrite(m_named, std::strerror(code));
}

Status writeFile(const std::filesystem::path& path, std::string_view bytes)
{
    WholeFile file(path);
    if (Status opened = file.open(); !opened) {
        return opened;
    }
    return file.write(bytes) ? file.commit() : file.error();
}

void removeTemporaryFiles()
{
    temporaries().mutex.lock(); // never unlocked: no writer opens or commits after this
    std::error_code ignored;
    for (const fs::path& path : temporaries().paths) {
        fs::remove(path, ignored);
    }
}

bool isSamePlace(const std::filesystem::path& a, const std::filesystem::path& b)
{
    std::error_code code;
    if (fs::equivalent(a, b, code) && !code) {
        return true;
    }
    const auto place = [&](const fs::path& path) {
        const fs::path found = withoutLinks(path);
        return fs::weakly_canonical(folderOf(found), code) / found.filename();
    };
    return place(a) == place(b);
}

} // namespace pallascope
