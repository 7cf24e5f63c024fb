// The strip of a program's kernels, and the choice of a device.
#include "core/trace/columns.h"
#include "core/trace/pieces.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"

namespace pallascope::test {

using layout::Target;
namespace target = layout::target;
using trace::kNone;

namespace {

// The main job as the kernel "first", which a kernel "second" of one segment follows.
trace::TraceBuilder twoKernels()
{
    trace::TraceBuilder builder = mainJobBuilder();
    trace::Info& info = builder.info;
    std::vector<trace::Operation>& operations = info.operations.edit();
    std::vector<trace::ListingLine>& listing = info.listing.edit();
    std::vector<trace::ListingLine> lines;
    const auto add = [&](const std::string& name, const std::string& label, std::string text) {
        const auto operation = static_cast<std::int32_t>(operations.size());
        operations.push_back({name, label, static_cast<std::int32_t>(lines.size()), {}});
        lines.push_back({std::move(text), operation});
        return operation;
    };
    lines.push_back({"program() mesh=(d:2) {", kNone});
    add("kernel", "first", "  kernel[name=first] {");
    for (const trace::ListingLine& line : listing) {
        if (line.operation != kNone) {
            operations[trace::at(line.operation)].listingLine =
                static_cast<std::int32_t>(lines.size());
        }
        lines.push_back({"    " + line.text, line.operation});
    }
    lines.push_back({"  }", kNone});
    add("kernel", "second", "  kernel[name=second] {");
    const std::int32_t exp = add("exp", "exp", "    b = exp a");
    lines.push_back({"  }", kNone});
    listing = std::move(lines);
    trace::SegmentTemplate body = info.templates[0];
    body.operations = {exp};
    body.retire = {body.cycles};
    body.marks = {{0, exp, Cycles(0), body.cycles}};
    info.templates.edit().push_back(body);
    builder.segments.templateId.push_back(static_cast<std::int32_t>(info.templates.size()) - 1);
    builder.segments.agent.push_back(0);
    builder.segments.step.push_back(kNone);
    builder.segments.begin.push_back(builder.end.value());
    builder.end += body.duration * 100;
    return builder;
}

app::FinishedRun finished(trace::TraceBuilder builder)
{
    app::FinishedRun run = finishedRun();
    run.view =
        std::make_shared<const layout::RunView>(runViewOf(std::move(builder).finish().value()));
    return run;
}

// The same on the first of two devices, of which the second does nothing.
app::FinishedRun onTwoDevices()
{
    trace::TraceBuilder builder = twoKernels();
    trace::Info& info = builder.info;
    trace::Link own = info.links[0], out = info.links[0];
    info.links.clear();
    for (const std::string device : {"device 0 ", "device 1 "}) {
        own.name = device + "HBM";
        own.kind = "HBM";
        out.name = device + "ICI d+";
        out.kind = "ICI";
        info.links.insert(info.links.end(), {own, out});
    }
    info.agents = {"device 0 TensorCore 0", "device 1 TensorCore 0"};
    return finished(std::move(builder));
}

} // namespace

class ProgramTest : public QObject, private WindowFixture
{
    Q_OBJECT

private Q_SLOTS:

    void init() { open(); }

    void cleanup() { close(); }

    void theStripTakesNoRoomForOneKernel()
    {
        QVERIFY(!window->program().isVisible());
        const QRect grid = window->docks().dock(QStringLiteral("grid"))->geometry();
        session().runs().adopt(finished(twoKernels()));
        QCoreApplication::processEvents();
        QTRY_VERIFY(window->program().isVisible());
        QTRY_VERIFY(window->docks().dock(QStringLiteral("grid"))->geometry().top() > grid.top());
        session().runs().adopt(finishedRun());
        QCoreApplication::processEvents();
        QTRY_VERIFY(!window->program().isVisible());
        QTRY_COMPARE(window->docks().dock(QStringLiteral("grid"))->geometry(), grid);
    }

    void aClickOnAKernelGoesToItsBegin()
    {
        session().runs().adopt(finished(twoKernels()));
        QTRY_VERIFY(window->program().isVisible());
        const auto& pieces = session().viewpoint().run()->index->pieces();
        QCOMPARE(pieces.kernels, 2);
        const Picoseconds begin = pieces.all[1].begin;
        const QPoint second = placeOf(window->program(), target::Piece{0, 1, begin});
        QVERIFY(second.x() > 0);
        QTest::mouseClick(&window->program(), Qt::LeftButton, {}, second);
        QCOMPARE(now(), begin);
        QVERIFY(!layout::is<target::Piece>(state().selection));
    }

    void arrowsWalkAlongTheStrip()
    {
        session().runs().adopt(finished(twoKernels()));
        QTRY_VERIFY(window->program().isVisible());
        key(Qt::Key_9, Qt::ControlModifier);
        QVERIFY(window->program().hasFocus());
        for (const Qt::Key each : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Return}) {
            QTest::keyClick(&window->program(), each);
        }
        QCOMPARE(now(), session().viewpoint().run()->index->pieces().all[1].begin);
        for (const Qt::Key each : {Qt::Key_Left, Qt::Key_Return}) {
            QTest::keyClick(&window->program(), each);
        }
        QCOMPARE(now(), Picoseconds(0));
    }

    void theDevicesOpenWhereThereAreSeveral()
    {
        app::Dock* devices = window->docks().dock(QStringLiteral("devices"));
        QVERIFY(!devices->isVisible());
        session().runs().adopt(onTwoDevices());
        QTRY_VERIFY(devices->isVisible());
        QTRY_VERIFY(!view("devices").visibleRegion().isEmpty());
        session().runs().adopt(finishedRun());
        QTRY_VERIFY(!devices->isVisible());
    }

    void aClickOnADeviceChoosesIt()
    {
        session().runs().adopt(onTwoDevices());
        QTRY_VERIFY(!view("devices").visibleRegion().isEmpty());
        QCOMPARE(state().device, 0);
        QTest::mouseClick(&view("devices"), Qt::LeftButton, {},
                          placeOf(view("devices"), target::Device{1}));
        QCOMPARE(state().device, 1);
        QTest::mouseClick(&timeline(), Qt::LeftButton, {}, placeOf(timeline(), target::Device{0}));
        QCOMPARE(state().device, 0);
        session().viewpoint().setDevice(7);
        QCOMPARE(state().device, 1);
        session().runs().adopt(finishedRun()); // which has one
        QCOMPARE(state().device, 0);
    }
};

PALLASCOPE_GUI_TEST("program", ProgramTest);

} // namespace pallascope::test

#include "program_test.moc"
