#include "tests/gui/gui_test.h"

#include "views/style.h"

#include <QApplication>
#include <QTest>

#include <cstdio>

namespace pallascope::test {

std::map<QString, MakeGuiTest>& guiTests()
{
    static std::map<QString, MakeGuiTest> tests;
    return tests;
}

} // namespace pallascope::test

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    pallascope::views::dressApplication();
    const auto& tests = pallascope::test::guiTests();
    const auto found = argc > 1 ? tests.find(QString::fromLocal8Bit(argv[1])) : tests.end();
    if (found == tests.end()) {
        std::fputs("Name one of these tests; what follows is QTest's:\n", stderr);
        for (const auto& [name, make] : tests) {
            std::fprintf(stderr, "  %s\n", qPrintable(name));
        }
        return 2;
    }
    const std::unique_ptr<QObject> test = found->second();
    argv[1] = argv[0];
    return QTest::qExec(test.get(), argc - 1, argv + 1);
}
