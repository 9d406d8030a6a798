import CoreDataSource
import Foundation
import TestSupport
import Testing

/// The least and the greatest value of related objects, in code and by the store.
@MainActor @Suite struct ExtremeTests {
    @Test(arguments: StorePlace.local) func theStoreFindsTheExtremesOfTheObjects(place: StorePlace) async throws {
        try await place.withMail { container, mail in
            try await mail.perform { context in
                let threads = try (0..<3).map { _ in try context.insert(MailThread.self) }
                for (number, subject) in ["b", "\u{E9}", "a", nil, "Z", nil].enumerated() {
                    let message = try context.insert(number == 2 ? MailNote.self : MailMessage.self)
                    message.subject = subject
                    message.size = Int64(number * 7 % 5)
                    message.price = number == 4 ? nil : Decimal(number - 3) * 1.5
                    message.sent = number < 5 ? Date(timeIntervalSinceReferenceDate: Double(number * 3 % 4)) : nil
                    message.thread = threads[number == 5 ? 1 : 0]
                }
                try Self.compare(context)
                _ = try context.first(MailMessage.self).map { $0.size = 99 }
                try Self.compare(context)
            }
            try Self.compare(mail.main)
            try await container.read { try Self.compare($0) }
            let threads = ObjectRequest(MailThread.self, order: [.descending(\.messages[max: \.size])])
            #expect(try mail.main.fetch(threads).map { $0.messages.count } == [5, 1, 0])
            #expect(try mail.main.count(MailThread.self, where: FetchPredicate(format: "messages.@min.size == 0")) == 1)
            #expect(try mail.main.count(MailThread.self, where: \.messages[min: \.size] == 0) == 1)
        }
    }

    private nonisolated static func compare(_ context: ManagedObjectContext) throws {
        let rows = try context.values(
            ObjectRequest(MailThread.self), \.messages.count, \.messages[max: \.subject], \.messages[min: \.subject],
            \.messages[max: \.size], \.messages[min: \.price], \.messages[max: \.sent])
        let threads = try context.fetch(MailThread.self)
        #expect(rows.count == 3 && threads.count == 3)
        for (row, thread) in zip(rows, threads) {
            let messages = thread.messages
            #expect(row.0 == messages.count && row.1 == messages[max: \.subject] && row.2 == messages[min: \.subject])
            #expect(row.3 == messages[max: \.size] && row.4 == messages[min: \.price] && row.5 == messages[max: \.sent])
        }
        #expect(rows[0].1 == "\u{E9}" && rows[0].2 == "Z" && rows[0].4 == -4.5)
        #expect(rows[1].0 == 1 && rows[1].1 == nil && rows[1].5 == nil && rows[2].3 == nil)
        let titled = try context.values(ObjectRequest(MailMessage.self), \.thread!.messages[max: \.size])
        #expect(titled.count == 6 && titled.allSatisfy { $0 != nil })
    }
}
