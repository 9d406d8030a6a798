package import CoreDataSource

/// A label, with the word in a subject that its rule looks for.
package struct Label: Sendable, Hashable {
    package var name: String
    package var word: String

    package init(name: String, word: String) {
        (self.name, self.word) = (name, word)
    }
}

/// The data source of labels.
package final class LabelDataSource: KeyedDataSource<Label, LabelEntity> {
    package nonisolated override class var key: ObjectKey<Label, LabelEntity> { ObjectKey(\.name, \.name) }

    package nonisolated override func update(_ entity: LabelEntity, from label: Label) {
        entity.word = label.word
    }

    /// The labels, by their names. A row is reported when messages get or lose the label.
    package func all() throws -> LiveList<LabelEntity> {
        try list(ObjectRequest(LabelEntity.self, order: [.ascending(\.name)]))
    }

    /// Gives each label to the messages with its word in their subject, and takes it from all others.
    ///
    /// A message has several labels, and a label several messages. The links belong to both data sources, so this is one save over both.
    package func applyRules(to messages: MessageDataSource, in container: PersistentContainer) async throws {
        try await container.perform(in: self, messages) { labels, messages in
            for label in try labels.fetch(LabelEntity.self) {
                let found = try messages.fetch(
                    MessageEntity.self, where: .contains(\.subject, label.word, [.caseInsensitive]))
                label.messages.set(found)
            }
        }
    }
}
