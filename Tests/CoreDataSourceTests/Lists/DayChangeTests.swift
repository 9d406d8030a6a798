import CoreDataSource
import Foundation
import Observation
import RowStore
import TestSupport
import Testing

/// Lists with sections by days are told that a day ends.
@MainActor
struct DayChangeTests {
    /// A container whose clock and timers a test moves.
    private struct Clocked {
        let container: PersistentContainer
        let mail: MailDataSource
        let timers = ManualTimers()
        let now = Shared(Date(timeIntervalSinceReferenceDate: 0))

        @MainActor init(_ now: String) throws {
            self.now.value = try Date(now, strategy: .iso8601)
            var scheduling = timers.scheduling
            scheduling.now = { [clock = self.now] in clock.value }
            let layout = ModelLayout(.mail)
            container = PersistentContainer(
                layout, InMemoryStore(layout), startup: StoreStartup(reason: .firstLaunch), configuration: .init(),
                scheduling: scheduling)
            mail = try container.dataSource(MailDataSource.self)
        }

        /// Lets time pass, and runs the timers.
        @MainActor func wait(until text: String) async throws {
            now.value = try Date(text, strategy: .iso8601)
            timers.fire()
            // The timers of the lists hop to main.
            for _ in 0..<10 { await Task.yield() }
            await container.mainTier.waitForLists()
        }

        var request: ObjectRequest<MailMessage> { request(.days(of: \.sent, in: ListSectionsTests.berlin)) }

        func request(_ sections: ListSections<MailMessage>) -> ObjectRequest<MailMessage> {
            var request = ObjectRequest(MailMessage.self, order: [.descending(\.sent)])
            request.sections = sections
            return request
        }
    }

    @Test func everyObserverIsNotifiedWhenADayEnds() async throws {
        let clock = try Clocked("2026-10-25T22:58:30Z")
        let list = try clock.mail.list(clock.request)
        let delegate = RecordingDelegate()
        try clock.mail.register(delegate, dataKey: "days", clock.request)
        let plain = RecordingDelegate()
        try clock.mail.register(plain, dataKey: "plain", ObjectRequest(MailMessage.self))
        var updates = clock.mail.updates(clock.request).makeAsyncIterator()
        _ = await updates.next()
        let noticeCount = Shared(0)
        withObservationTracking {
            _ = list.snapshot
        } onChange: {
            noticeCount.update { $0 += 1 }
        }
        // The clock is checked each minute.
        #expect(clock.timers.delays == [.seconds(60)])
        try await clock.wait(until: "2026-10-25T22:59:30Z")
        #expect(noticeCount.value == 0 && delegate.calls == [])
        #expect(clock.timers.delays == [.seconds(30)])
        try await clock.wait(until: "2026-10-25T23:00:00Z")
        #expect(noticeCount.value == 1 && delegate.calls == ["reload"] && plain.calls == [])
        #expect(list.lastUpdateReason.kind == .dayChange)
        #expect(await updates.next()?.reason.kind == .dayChange)
        try await clock.wait(until: "2026-10-25T23:01:00Z")
        #expect(delegate.calls == ["reload"])
        try await clock.container.close()
    }

    /// The end of a week or a month, in a time zone and with a first weekday.
    struct PeriodEnd: Sendable {
        let unit: CalendarPeriods.Unit
        let zone: String
        var firstWeekday = 2
        /// Half a minute before the end, a second before the end, and the end.
        let moments: [String]
        /// The names of the section that ends and of the section that begins.
        let names: [String]

        var sections: ListSections<MailMessage> {
            get throws {
                var calendar = Calendar(identifier: .gregorian)
                calendar.timeZone = try #require(TimeZone(identifier: zone))
                (calendar.firstWeekday, calendar.minimumDaysInFirstWeek) = (firstWeekday, 4)
                return unit == .week ? .weeks(of: \.sent, in: calendar) : .months(of: \.sent, in: calendar)
            }
        }

        static let all = [
            PeriodEnd(
                unit: .week, zone: "Europe/Berlin",
                moments: ["2026-11-29T22:59:30Z", "2026-11-29T22:59:59Z", "2026-11-29T23:00:00Z"],
                names: ["2026-11-23", "2026-11-30"]),
            PeriodEnd(
                unit: .week, zone: "America/New_York", firstWeekday: 1,
                moments: ["2026-11-29T04:59:30Z", "2026-11-29T04:59:59Z", "2026-11-29T05:00:00Z"],
                names: ["2026-11-22", "2026-11-29"]),
            PeriodEnd(
                unit: .month, zone: "Europe/Berlin",
                moments: ["2026-10-31T22:59:30Z", "2026-10-31T22:59:59Z", "2026-10-31T23:00:00Z"],
                names: ["2026-10", "2026-11"]),
            PeriodEnd(
                unit: .month, zone: "Asia/Tokyo",
                moments: ["2026-11-30T14:59:30Z", "2026-11-30T14:59:59Z", "2026-11-30T15:00:00Z"],
                names: ["2026-11", "2026-12"]),
        ]
    }

    @Test(arguments: PeriodEnd.all) func theEndOfAWeekAndOfAMonthIsReported(end: PeriodEnd) async throws {
        let clock = try Clocked(end.moments[0])
        let add = {
            let now = clock.now.value
            try await clock.mail.perform(waitFor: .main) { try $0.insert(MailMessage.self).sent = now }
        }
        try await add()
        let request = clock.request(try end.sections)
        let list = try clock.mail.list(request)
        let delegate = RecordingDelegate()
        try clock.mail.register(delegate, dataKey: "periods", request)
        #expect(list.sections.map(\.name) == [end.names[0]])
        let calls = delegate.calls
        try await clock.wait(until: end.moments[1])
        #expect(delegate.calls == calls && list.lastUpdateReason.kind == .initial)
        #expect(list.sections[0].interval?.contains(clock.now.value) == true)
        try await clock.wait(until: end.moments[2])
        #expect(delegate.calls == calls + ["reload"] && list.lastUpdateReason.kind == .dayChange)
        // What was called "this week" or "this month" has ended.
        #expect(list.sections[0].interval?.end == clock.now.value)
        try await add()
        #expect(list.sections.map(\.name) == [end.names[1], end.names[0]])
        try await clock.container.close()
    }

    @Test func aResumedListIsNotifiedOfADayThatEnded() async throws {
        let clock = try Clocked("2026-06-01T12:00:00Z")
        let list = try clock.mail.list(clock.request)
        let delegate = RecordingDelegate()
        try clock.mail.register(delegate, dataKey: "days", clock.request)
        clock.mail.pausedDataKeys = ["days"]
        list.isPaused = true
        // A user set the clock.
        try await clock.wait(until: "2026-07-01T12:00:00Z")
        #expect(delegate.calls == [] && list.lastUpdateReason.kind == .initial)
        try await clock.mail.perform(waitFor: .main) { try $0.insert(MailMessage.self).sent = .now }
        clock.mail.pausedDataKeys = []
        list.isPaused = false
        #expect(delegate.calls == ["reload"] && list.lastUpdateReason.kind == .dayChange && list.count == 1)
        clock.mail.pausedDataKeys = ["days"]
        clock.mail.pausedDataKeys = []
        #expect(delegate.calls == ["reload"])
        try await clock.container.close()
    }

    @Test func theClockStopsWithTheLastList() async throws {
        let clock = try Clocked("2026-06-01T12:00:00Z")
        var list: LiveList<MailMessage>? = try clock.mail.list(clock.request)
        #expect(clock.timers.delays == [.seconds(60)])
        #expect(list?.count == 0)
        list = nil
        try await clock.wait(until: "2026-06-01T12:01:00Z")
        #expect(clock.timers.delays == [])
        try await clock.container.close()
    }
}
