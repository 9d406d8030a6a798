import CoreDataSource
import MailApp
import Testing

/// A sidebar shows the number of unread messages of each label.
@MainActor
struct LabelBadgeTests {
    private func plain(_ world: MailWorld) throws -> [ManagedObjectID: Int] {
        var counts: [ManagedObjectID: Int] = [:]
        for message in try world.main.fetch(MessageEntity.self, where: \.isRead == false) {
            for label in message.labels { counts[label.objectID, default: 0] += 1 }
        }
        return counts
    }

    @Test func everyLabelHasABadge() async throws {
        let world = try await MailWorld()
        let (mail, labels) = (world.store.messages, world.store.labels)
        try await mail.perform { for message in try $0.fetch(MessageEntity.self) { message.isRead = false } }
        try await labels.applyRules(to: mail, in: world.store.container)
        let unread = try mail.liveAggregate(
            ObjectRequest(MessageEntity.self, where: \.isRead == false),
            groupBy: \.labels, .count())
        for label in try labels.fetch(LabelEntity.self, order: [.ascending(\.name)]) {
            print(label.name, unread.value[label.objectID] ?? 0)
        }
        #expect(try unread.value.count > 1 && unread.value == plain(world))
        try await mail.perform(waitFor: .main) { context in
            for message in try context.fetch(MessageEntity.self).prefix(200) { message.isRead = true }
        }
        #expect(try unread.value == plain(world))
        try await labels.add(Label(name: "Travel", word: "regatta"))
        try await labels.applyRules(to: mail, in: world.store.container)
        try await labels.delete(Label(name: "Plans", word: ""), waitFor: .main)
        #expect(try unread.value.count > 0 && unread.value == plain(world))
    }
}
