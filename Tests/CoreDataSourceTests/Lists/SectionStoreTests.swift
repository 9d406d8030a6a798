import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Sections are the same on every kind of store, whether the store or the list sorts the rows.
@MainActor
struct SectionStoreTests {
    /// A kind of sections, and what a list shows: the name of each section with the sizes of its messages.
    private struct Case {
        let sections: ListSections<MailMessage>
        var order: [FetchOrder<MailMessage>] = [.ascending(\.size)]
        let shown: [String]
        /// The same after a later save.
        let later: [String]
    }

    private static let berlin = ListSectionsTests.berlin

    private static let cases = [
        Case(
            sections: .days(of: \.sent, in: berlin, isAscending: false),
            shown: ["2026-04-01: 6", "2026-03-30: 4", "2026-03-29: 2 3", "2026-03-28: 1", ": 5"],
            later: ["2026-04-01: 1 6", "2026-03-30: 4", "2026-03-29: 2 3", ": 5"]),
        // The store sorts the days, because the order begins with the same attribute.
        Case(
            sections: .days(of: \.sent, in: berlin), order: [.descending(\.sent)],
            shown: ["2026-04-01: 6", "2026-03-30: 4", "2026-03-29: 3 2", "2026-03-28: 1", ": 5"],
            later: ["2026-04-01: 1 6", "2026-03-30: 4", "2026-03-29: 3 2", ": 5"]),
        Case(
            sections: .weeks(of: \.sent, in: berlin, isAscending: false),
            shown: ["2026-03-30: 4 6", "2026-03-23: 1 2 3", ": 5"],
            later: ["2026-03-30: 1 4 6", "2026-03-23: 2 3", ": 5"]),
        Case(
            sections: .months(of: \.sent, in: berlin),
            shown: [": 5", "2026-03: 1 2 3 4", "2026-04: 6"], later: [": 5", "2026-03: 2 3 4", "2026-04: 1 6"]),
        Case(
            sections: .firstLetters(of: \.subject),
            shown: ["A: 1 2", "B: 6", "Z: 3", "#: 4 5"], later: ["A: 1 2", "C: 6", "Z: 3", "#: 4 5"]),
        Case(
            sections: .firstLetters(of: \.subject, isAscending: false),
            shown: ["#: 4 5", "Z: 3", "B: 6", "A: 1 2"], later: ["#: 4 5", "Z: 3", "C: 6", "A: 1 2"]),
        Case(
            sections: .firstLetters(of: \.subject, ListSectionsTests.caseless),
            shown: ["A: 1", "B: 6", "Z: 3", "Ä: 2", "#: 4 5"], later: ["A: 1", "C: 6", "Z: 3", "Ä: 2", "#: 4 5"]),
        // Two threads have one title.
        Case(
            sections: .titles(\.thread?.title, orderedBy: .descending(\.thread?.rank)),
            shown: ["Work: 3", "Home: 2 6", "Work: 1 4", ": 5"], later: ["Work: 3", "Work: 1 4", "Home: 2 6", ": 5"]),
        Case(
            sections: .by(\.subject, isAscending: false),
            shown: ["Äpfel: 2", "zebra: 3", "apple: 1", "Bear: 6", "7 days: 4", ": 5"],
            later: ["Äpfel: 2", "zebra: 3", "apple: 1", "Cat: 6", "7 days: 4", ": 5"]),
    ]

    private func addMessages(_ mail: MailDataSource) async throws {
        try await mail.perform(waitFor: .main) { context in
            let threads = try [("Work", 1), ("Home", 2), ("Work", 3)].map { title, rank in
                let thread = try context.insert(MailThread.self)
                (thread.title, thread.rank) = (title, Int64(rank))
                return thread
            }
            let messages = [
                ("apple", "2026-03-28T22:30:00Z", 0), ("Äpfel", "2026-03-28T23:30:00Z", 1),
                ("zebra", "2026-03-29T21:30:00Z", 2), ("7 days", "2026-03-29T22:30:00Z", 0), (nil, nil, nil),
                ("Bear", "2026-04-01T00:00:00Z", 1),
            ]
            for (index, (subject, sent, thread)) in messages.enumerated() {
                let message = try context.insert(MailMessage.self)
                (message.size, message.subject) = (Int64(index + 1), subject)
                message.sent = try sent.map { try Date($0, strategy: .iso8601) }
                message.thread = thread.map { threads[$0] }
            }
        }
    }

    private func shown(_ list: LiveList<MailMessage>) -> [String] {
        list.sections.map { section in
            "\(section.name): \(list.snapshot[section.range].map { "\($0.size)" }.joined(separator: " "))"
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func everyStoreShowsTheSameSections(kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind, model: .mail)
        let container = try place.open()
        let mail = try container.dataSource(MailDataSource.self)
        try await addMessages(mail)
        let lists = try Self.cases.map { example in
            var request = ObjectRequest(MailMessage.self, order: example.order)
            request.sections = example.sections
            return try mail.list(request)
        }
        for (list, example) in zip(lists, Self.cases) { #expect(shown(list) == example.shown, "\(example.sections)") }
        try await mail.perform(waitFor: .main) { context in
            let messages = try context.fetch(MailMessage.self, order: [.ascending(\.size)])
            messages[0].sent = try Date("2026-04-01T05:00:00Z", strategy: .iso8601)
            messages[5].subject = "Cat"
            messages[5].thread?.rank = 0
        }
        await container.mainTier.waitForLists()
        for (list, example) in zip(lists, Self.cases) { #expect(shown(list) == example.later, "\(example.sections)") }
        try await container.close()
        // The place deletes its folder.
        withExtendedLifetime(place) {}
    }
}
