// The tests of the window are classes with slots, as QTest wants them. One program holds many,
// since each program of its own would read Qt's headers and link the window again; it runs the one
// that its first argument names.
#pragma once

#include <QObject>
#include <QString>

#include <map>
#include <memory>

namespace pallascope::test {

using MakeGuiTest = std::unique_ptr<QObject> (*)();

// Every test that is linked, by the name of its file without "_test.cpp".
std::map<QString, MakeGuiTest>& guiTests();

template<typename Test>
bool addGuiTest(const char* name)
{
    const auto make = [] { return std::unique_ptr<QObject>(std::make_unique<Test>()); };
    return guiTests().emplace(QString::fromLatin1(name), make).second;
}

} // namespace pallascope::test

#define PALLASCOPE_GUI_TEST(name, Test)                                                            \
    [[maybe_unused]] const bool added##Test = pallascope::test::addGuiTest<Test>(name)
