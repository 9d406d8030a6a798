import CoreDataSource
import Foundation
import RowStore
import TestSupport

/// Everything of the model Mail.
final class MailDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] {
        [MailCard.self, MailMessage.self, MailPerson.self, MailTag.self, MailThread.self]
    }
}

/// Makes random edits of a graph of mail.
struct MailEditor {
    var random: SeededRandom

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func any<Object: ManagedObject>(_ objects: [Object]) -> Object? {
        objects.isEmpty || below(5) == 0 ? nil : objects[below(objects.count)]
    }

    private mutating func text() -> String { ["", "a", "b", "ab", "B", "é", "e\u{301}", "10", "9"][below(9)] }

    /// Inserts, edits, links and deletes a few objects.
    mutating func edit(_ context: EditingContext, count: Int) throws {
        for _ in 0..<count {
            switch below(12) {
            case 0: try context.insert(MailThread.self).title = below(4) == 0 ? nil : text()
            case 1: try context.insert(MailPerson.self).name = text()
            case 2: try context.insert(MailTag.self).name = text()
            case 3: try context.insert(MailCard.self).code = Int64(below(4))
            case 4: try context.insert(MailNote.self).subject = text()
            case 5, 6: try context.insert(MailMessage.self).subject = below(5) == 0 ? nil : text()
            case 7 where below(4) == 0: try delete(context)
            default: try change(context)
            }
        }
    }

    private mutating func delete(_ context: EditingContext) throws {
        switch below(4) {
        case 0: if let thread = any(try context.fetch(MailThread.self)) { context.delete(thread) }
        case 1: if let person = any(try context.fetch(MailPerson.self)) { context.delete(person) }
        case 2: if let tag = any(try context.fetch(MailTag.self)) { context.delete(tag) }
        default: if let message = any(try context.fetch(MailMessage.self)) { context.delete(message) }
        }
    }

    private mutating func change(_ context: EditingContext) throws {
        let (people, threads) = (try context.fetch(MailPerson.self), try context.fetch(MailThread.self))
        let messages = try context.fetch(MailMessage.self)
        switch below(4) {
        case 0:
            guard let person = any(people) else { return }
            person.age = below(4) == 0 ? nil : Int64(below(5))
            person.boss = any(people)
            person.card = any(try context.fetch(MailCard.self))
        case 1:
            guard let thread = any(threads) else { return }
            thread.rank = Int64(below(4))
            thread.title = below(4) == 0 ? nil : text()
            thread.owner = any(people)
        case 2:
            guard let tag = any(try context.fetch(MailTag.self)) else { return }
            tag.weight = below(3) == 0 ? nil : Double(below(5)) / 2
            guard let message = any(messages) else { return }
            if below(2) == 0 { tag.messages.insert(message) } else { tag.messages.remove(message) }
        default:
            guard let message = any(messages) else { return }
            message.size = Int64(below(6))
            message.price = below(3) == 0 ? nil : Decimal(below(30)) / 10
            message.sent = below(3) == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(below(5)))
            message.isRead = below(2) == 0
            message.thread = any(threads)
            message.author = any(people)
            message.replyTo = any(messages)
            let tags = try context.fetch(MailTag.self)
            message.tags = (0..<below(4)).compactMap { _ in any(tags) }
        }
    }
}
