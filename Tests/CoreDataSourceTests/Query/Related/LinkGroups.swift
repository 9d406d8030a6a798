import CoreDataSource
import Foundation

/// Groups by to-many relationships as lines: by an ordered one of many to many, from both sides, and by one to objects of two
/// entities, of one to many. An object without related objects is in none.
extension ManagedObjectContext {
    static var tagged: ObjectRequest<MailTag> { ObjectRequest(where: \.name != "a") }

    /// The groups that aggregates have, in their order.
    func linkGroups(_ request: ObjectRequest<MailMessage>) throws -> [String] {
        let tags = try aggregate(request, groupBy: \.tags, .count(), .sum(\.size), .max(\.sent))
        let replies = try aggregate(request, groupBy: \.replies, .count(), .min(\.price))
        let messages = try aggregate(Self.tagged, groupBy: \.messages, .count(), .sum(\.weight))
        return tags.map { "tags \($0.key): \($0.values)" } + replies.map { "replies \($0.key): \($0.values)" }
            + messages.map { "messages \($0.key): \($0.values)" }
    }

    /// The groups that a plain computation over the objects gives, in the order of their first objects.
    func plainLinkGroups(_ request: ObjectRequest<MailMessage>) throws -> [String] {
        let messages = try fetch(request)
        return lines("tags", messages, \.tags) {
            "\(($0.count, $0.map(\.size).reduce(0, +), $0.compactMap(\.sent).max()))"
        }
            + lines("replies", messages, { Array($0.replies) }) {
                "\(($0.count, $0.compactMap(\.price).min()))"
            }
            + lines("messages", try fetch(Self.tagged), { Array($0.messages) }) {
                "\(($0.count, $0.compactMap(\.weight).reduce(0, +)))"
            }
    }

    private func lines<Object: ManagedObject, End: ManagedObject>(
        _ name: String, _ objects: [Object], _ ends: (Object) -> [End], values: ([Object]) -> String
    ) -> [String] {
        var (order, members): ([ManagedObjectID], [ManagedObjectID: [Object]]) = ([], [:])
        for object in objects {
            for end in ends(object) {
                if members[end.objectID] == nil { order.append(end.objectID) }
                members[end.objectID, default: []].append(object)
            }
        }
        return order.map { "\(name) \($0): \(values(members[$0] ?? []))" }
    }
}

/// Live aggregates with the same groups.
@MainActor
struct LiveLinkGroups {
    private let request: ObjectRequest<MailMessage>
    private let tags: LiveAggregate<[ManagedObjectID: (Int, Int64, Date?)]>
    private let replies: LiveAggregate<[ManagedObjectID: (Int, Decimal?)]>
    private let messages: LiveAggregate<[ManagedObjectID: (Int, Double)]>

    init(_ mail: MailDataSource, _ request: ObjectRequest<MailMessage>) throws {
        self.request = request
        tags = try mail.liveAggregate(request, groupBy: \.tags, .count(), .sum(\.size), .max(\.sent))
        replies = try mail.liveAggregate(request, groupBy: \.replies, .count(), .min(\.price))
        messages = try mail.liveAggregate(
            ManagedObjectContext.tagged, groupBy: \.messages, .count(), .sum(\.weight))
    }

    private var lines: [String] {
        tags.value.map { "tags \($0.key): \($0.value)" } + replies.value.map { "replies \($0.key): \($0.value)" }
            + messages.value.map { "messages \($0.key): \($0.value)" }
    }

    /// What the live aggregates, and the groups of the main context, have other than a plain computation.
    func problems(_ context: ManagedObjectContext) throws -> [String] {
        let plain = try context.plainLinkGroups(request)
        var found: [String] = []
        if lines.sorted() != plain.sorted() { found.append("\(lines.sorted()) instead of \(plain.sorted())") }
        let groups = try context.linkGroups(request)
        if groups != plain { found.append("at once \(groups) instead of \(plain)") }
        return found
    }
}
