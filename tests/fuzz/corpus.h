// Valid files of one format to start from, with the JSON trees of those that are JSON.
#pragma once

#include "tests/fuzz/mutate.h"

#include <string>
#include <vector>

namespace pallascope::fuzz {

struct Corpus
{
    std::vector<std::string> files;
    std::vector<Json> trees; // one for each file, or empty
};

[[nodiscard]] Corpus corpusOfJson(std::vector<std::string> files);

// One of the files, changed: mostly its tree, otherwise its bytes, sometimes both.
[[nodiscard]] std::string mutatedFile(const Corpus& corpus, Random& random);

} // namespace pallascope::fuzz
