// views_agree FILE...: runs kernels from files, as captured from JAX, and holds all views to one
// another. Exits with 1 where they disagree.
#include "app/run_job/run_job.h"
#include "tests/agreement/disagreements.h"
#include "tests/agreement/texts.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

int main(int argc, char** argv)
{
    int status = 0;
    for (int i = 1; i < argc; ++i) {
        const std::string path = argv[i];
        const auto run = pallascope::app::openFile(path);
        if (!run) {
            std::printf("%s: %s\n", path.c_str(), run.error().message.c_str());
            continue; // kernels that do not run have no views
        }
        std::vector<std::string> found = pallascope::test::disagreements(*run->view);
        const auto add = [&](std::vector<std::string> more) {
            std::move(more.begin(), more.end(), std::back_inserter(found));
        };
        add(pallascope::test::misplacedTexts(*run->view));
        add(pallascope::test::disagreements(*run->view, run->view)); // beside itself
        add(pallascope::test::misplacedTexts(*run->view, run->view));
        for (const std::string& sentence : found) {
            std::printf("%s: %s\n", path.c_str(), sentence.c_str());
            status = 1;
        }
    }
    return status;
}
