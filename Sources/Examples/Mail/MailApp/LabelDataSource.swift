package import CoreDataSource

/// A label. Its rule looks for a word in the subjects of messages.
package struct Label: Sendable, Hashable {
    package var name: String
    package var word: String

    package init(name: String, word: String) {
        (self.name, self.word) = (name, word)
    }
}

package final class LabelDataSource: KeyedDataSource<Label, LabelEntity> {
    package nonisolated override class var key: ObjectKey<Label, LabelEntity> { ObjectKey(\.name, \.name) }

    package nonisolated override func update(_ entity: LabelEntity, from label: Label, in context: PrivateContext) {
        entity.word = label.word
    }

    /// A live list of the labels, sorted by name. The list reports a label when messages get or lose the label.
    package func all() throws -> LiveList<LabelEntity> {
        try list(ObjectRequest(LabelEntity.self, order: [.ascending(\.name)]))
    }

    /// Applies the rule of each label: adds the label to messages with the word in their subject, and removes it from all other
    /// messages.
    ///
    /// A message can have several labels, and a label several messages. The links belong to both data sources, so one save
    /// writes the entities of both.
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
