// Makes corpora and changes their files.
#include "tests/fuzz/corpus.h"

#include <algorithm>
#include <iterator>

namespace pallascope::fuzz {

Corpus corpusOfJson(std::vector<std::string> files)
{
    Corpus corpus{std::move(files), {}};
    std::transform(corpus.files.begin(), corpus.files.end(), std::back_inserter(corpus.trees),
                   [](const std::string& text) { return Json::parse(text); });
    return corpus;
}

std::string mutatedFile(const Corpus& corpus, Random& random)
{
    const std::size_t which = random.below(corpus.files.size());
    const std::string& other = random.pick(corpus.files);
    const std::size_t how = random.below(8);
    if (corpus.trees.empty() || how == 0) {
        return mutatedBytes(corpus.files[which], other, random);
    }
    std::string text = mutatedTree(corpus.trees[which], random.pick(corpus.trees), random);
    return how == 1 ? mutatedBytes(std::move(text), other, random) : text;
}

} // namespace pallascope::fuzz
