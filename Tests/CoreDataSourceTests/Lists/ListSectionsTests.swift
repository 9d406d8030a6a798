import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

extension MailMessage {
    /// Half of the size, which is not in the model.
    fileprivate var halfSize: Int64 { size / 2 }
}

/// Sections with an order of their own, compared with a plain computation.
@MainActor
struct ListSectionsTests {
    private nonisolated static let seed = testSeed()

    nonisolated static let berlin: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
        (calendar.firstWeekday, calendar.minimumDaysInFirstWeek) = (2, 4)
        return calendar
    }()

    nonisolated static let caseless = FetchCollation { lhs, rhs in
        let (left, right) = (lhs.lowercased(), rhs.lowercased())
        return left < right
            ? .orderedAscending
            : left > right
                ? .orderedDescending
                : lhs < rhs
                    ? .orderedAscending : lhs > rhs ? .orderedDescending : .orderedSame
    }

    // MARK: Plain

    /// Sections, and the same in plain words.
    struct Plan {
        var sections: ListSections<MailMessage>
        var name: @MainActor (MailMessage) -> String
        /// Negative, 0 or positive.
        var order: @MainActor (MailMessage, MailMessage) -> Int
    }

    private static func compare<Value: Comparable>(_ lhs: Value?, _ rhs: Value?) -> Int {
        guard let lhs, let rhs else { return lhs == nil ? (rhs == nil ? 0 : -1) : 1 }
        return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
    }

    private static func bytes(_ lhs: String?, _ rhs: String?) -> Int {
        guard let lhs, let rhs else { return compare(lhs, rhs) }
        return lhs.utf8.elementsEqual(rhs.utf8) ? 0 : lhs.utf8.lexicographicallyPrecedes(rhs.utf8) ? -1 : 1
    }

    private static func components(_ date: Date?, _ units: Set<Calendar.Component>) -> [Int]? {
        date.map { date in
            let parts = berlin.dateComponents(units, from: date)
            return [parts.yearForWeekOfYear, parts.weekOfYear, parts.year, parts.month, parts.day].compactMap(\.self)
        }
    }

    private static func order(_ lhs: [Int]?, _ rhs: [Int]?) -> Int {
        guard let lhs, let rhs else { return lhs == nil ? (rhs == nil ? 0 : -1) : 1 }
        return lhs == rhs ? 0 : lhs.lexicographicallyPrecedes(rhs) ? -1 : 1
    }

    private static func periods(
        _ sections: ListSections<MailMessage>, _ units: Set<Calendar.Component>, _ sign: Int
    ) -> Plan {
        Plan(sections: sections) {
            guard let parts = components($0.sent, units) else { return "" }
            return units.contains(.weekOfYear)
                ? monday($0.sent ?? .now)
                : parts.enumerated().map { $0 == 0 ? "\($1)" : $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: "-")
        } order: {
            sign * order(components($0.sent, units), components($1.sent, units))
        }
    }

    private static func monday(_ date: Date) -> String {
        var day = date
        while berlin.component(.weekday, from: day) != 2 { day -= 12 * 3600 }
        let parts = berlin.dateComponents([.year, .month, .day], from: day)
        return [parts.year ?? 0, parts.month ?? 0, parts.day ?? 0].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(
            separator: "-")
    }

    private static func letter(_ text: String?) -> String {
        guard let first = text?.first, first.isLetter else { return "#" }
        return String(String(first).folding(options: .diacriticInsensitive, locale: nil).uppercased().prefix(1))
    }

    private static func letterOrder(_ lhs: String, _ rhs: String) -> Int {
        (lhs == "#") == (rhs == "#") ? bytes(lhs, rhs) : lhs == "#" ? 1 : -1
    }

    /// A plan, with a request whose order may begin with the same attribute.
    static func plan(_ number: Int, _ request: inout ObjectRequest<MailMessage>, _ sign: Int) -> Plan {
        let isAscending = sign > 0
        switch number {
        case 0: return periods(.days(of: \.sent, in: berlin, isAscending: isAscending), [.year, .month, .day], sign)
        case 1:
            request.order.insert(isAscending ? .ascending(\.sent) : .descending(\.sent), at: 0)
            return periods(.days(of: \.sent, in: berlin), [.year, .month, .day], sign)
        case 2:
            request.order.insert(isAscending ? .ascending(\.sent) : .descending(\.sent), at: 0)
            return periods(.weeks(of: \.sent, in: berlin), [.yearForWeekOfYear, .weekOfYear], sign)
        case 3: return periods(.months(of: \.sent, in: berlin, isAscending: isAscending), [.year, .month], sign)
        case 4, 5:
            let collation = number == 4 ? nil : caseless
            func letter(_ text: String?) -> String {
                guard collation != nil, let first = text?.first, first.isLetter else { return Self.letter(text) }
                return first.uppercased()
            }
            return Plan(sections: .firstLetters(of: \.subject, collation, isAscending: isAscending)) {
                letter($0.subject)
            } order: {
                sign * letterOrder(letter($0.subject), letter($1.subject))
            }
        case 6:
            return Plan(
                sections: .titles(
                    \.thread?.title, orderedBy: isAscending ? .ascending(\.thread?.rank) : .descending(\.thread?.rank))
            ) {
                $0.thread?.title ?? ""
            } order: {
                let rank = sign * compare($0.thread?.rank, $1.thread?.rank)
                return rank == 0 ? bytes($0.thread?.title, $1.thread?.title) : rank
            }
        case 7:
            return Plan(sections: .by(\.subject, isAscending: isAscending)) {
                $0.subject ?? ""
            } order: {
                sign * bytes($0.subject, $1.subject)
            }
        case 8:
            return Plan(sections: .by(\.halfSize, isAscending: isAscending)) {
                "\($0.halfSize)"
            } order: {
                sign * compare($0.halfSize, $1.halfSize)
            }
        default:
            return Plan(sections: .by(\.isRead, isAscending: isAscending)) {
                "\($0.isRead)"
            } order: {
                sign * compare($0.isRead ? 1 : 0, $1.isRead ? 1 : 0)
            }
        }
    }

    private func expected(
        _ plan: Plan, _ request: ObjectRequest<MailMessage>, _ mail: MailDataSource
    ) throws -> [String] {
        var plain = request
        (plain.sections, plain.limit) = (nil, nil)
        let sorted = try mail.main.fetch(plain).enumerated().sorted {
            let order = plan.order($0.element, $1.element)
            return order == 0 ? $0.offset < $1.offset : order < 0
        }.map(\.element).prefix(request.limit ?? .max)
        var lines: [String] = []
        for (index, message) in sorted.enumerated() {
            if index == 0 || plan.order(sorted[index - 1], message) != 0 { lines.append("- \(plan.name(message))") }
            lines.append("\(message.objectID.key)")
        }
        return lines
    }

    private func shown(_ list: LiveList<MailMessage>) -> [String] {
        list.sections.flatMap { section in
            ["- \(section.name)"] + list.snapshot[section.range].map { "\($0.id.key)" }
        }
    }

    /// Moments around midnight and around the changes to and from daylight saving time.
    private nonisolated static func moment(_ random: inout SeededRandom) -> Date {
        // 2026-03-28T23:00Z and 2026-10-24T22:00Z are midnights in Berlin.
        let midnights: [Double] = [796_431_600, 814_572_000, 799_023_600]
        let midnight = midnights[random.next(below: 3)]
        return Date(timeIntervalSinceReferenceDate: midnight + Double(Int(random.next(below: 500)) - 250) * 900)
    }

    @Test(arguments: StorePlace.local)
    func randomSavesLeaveEveryListAsAPlainComputation(place: StorePlace) async throws {
        var random = SeededRandom(seed: Self.seed &+ (place == .sqlite ? 1 : 0))
        for _ in 0..<3 {
            try await place.withMail { container, mail in
                var followed: [(plan: Plan, request: ObjectRequest<MailMessage>, list: LiveList<MailMessage>?)] = []
                for number in 0..<10 {
                    var request = ObjectRequest(
                        MailMessage.self, order: random.next(below: 2) == 0 ? [.descending(\.size)] : [])
                    let plan = Self.plan(number, &request, random.next(below: 2) == 0 ? 1 : -1)
                    request.sections = plan.sections
                    if random.next(below: 3) == 0 { request.limit = 6 }
                    followed.append((plan, request, nil))
                }
                let delegates = followed.map { _ in RecordingDelegate() }
                for round in 0..<8 {
                    let seed = random.next()
                    try await mail.perform(waitFor: round % 2 == 0 ? .store : .main) { context in
                        var editor = MailEditor(random: SeededRandom(seed: seed))
                        try editor.edit(context, count: round == 0 ? 60 : 4)
                        var random = SeededRandom(seed: seed)
                        for message in try context.fetch(MailMessage.self)
                        where random.next(below: round == 0 ? 2 : 8) == 0 {
                            message.sent = random.next(below: 6) == 0 ? nil : Self.moment(&random)
                        }
                    }
                    if round == 5 { try await container.reset() }
                    for index in followed.indices where round == 0 {
                        followed[index].list = try mail.list(followed[index].request)
                        try mail.register(delegates[index], dataKey: "\(index)", followed[index].request)
                        delegates[index].follow(mail, "\(index)")
                    }
                    await container.mainTier.waitForLists()
                    for (index, (plan, request, list)) in followed.enumerated() {
                        let shown = list.map(shown)
                        #expect(
                            try shown == expected(plan, request, mail),
                            "\(index): \(request), round \(round), seed \(Self.seed)")
                        #expect(delegates[index].problems == [], "\(index), seed \(Self.seed)")
                    }
                }
            }
        }
    }

    @Test func sectionsOfAnotherTypeAreRefused() async throws {
        try await StorePlace.memory.withMail { _, mail in
            @MainActor func code(
                _ sections: ListSections<MailMessage>, by section: PartialKeyPath<MailMessage>? = nil
            ) -> DataSourceError.Code? {
                var request = ObjectRequest(MailMessage.self)
                request.sections = sections
                do { _ = try mail.list(request, sectionBy: section) } catch { return (error as? DataSourceError)?.code }
                return nil
            }
            #expect(code(.days(of: \.size, in: Self.berlin)) == .invalidRequest)
            #expect(code(.firstLetters(of: \.sent)) == .invalidRequest)
            #expect(code(.days(of: \.halfSize, in: Self.berlin)) == .unknownAttribute)
            #expect(code(.by(\.isRead), by: \.size) == .invalidRequest)
        }
    }

    /// A store sorts days that agree with the order, and the list holds no rows beyond its limit.
    @Test func aWindowOfDaysHoldsNoOtherRows() async throws {
        try await StorePlace.sqlite.withMail { container, mail in
            try await mail.perform { context in
                for number in 0..<600 {
                    let message = try context.insert(MailMessage.self)
                    message.sent = Date(timeIntervalSinceReferenceDate: Double(number) * 7200)
                }
            }
            var request = ObjectRequest(MailMessage.self, order: [.descending(\.sent)], limit: 20)
            request.sections = .days(of: \.sent, in: Self.berlin)
            let list = try mail.list(request)
            #expect(list.count == 20 && list.sections.count == 2)
            #expect(list.snapshot.state.rows.count < 100)
            let interval = try #require(list.sections[0].interval)
            #expect(interval.contains(try #require(list.snapshot[0].sent)))
            let last = list.snapshot.last
            try list.moveWindow(after: last.map { FetchCursor($0) })
            #expect(list.count == 20 && list.snapshot.state.rows.count < 100)
            #expect(try #require(list.snapshot[0].sent) < (try #require(last?.sent)))
        }
    }
}
