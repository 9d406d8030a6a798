import CoreDataSource
import TestSupport

/// A topic with its letters, and those with their attachments, as a server sends them.
struct TopicValue: Sendable {
    var key: String
    var title = ""
    /// Nil for a letter that the hook ignores.
    var letters: [LetterValue?] = []
}

struct LetterValue: Sendable {
    var key: String
    var subject = ""
    var attachments: [String] = []
}

/// How a board sweeps.
struct SweepRules: Sendable {
    var deleting = SyncDeletion.all
    var options: SyncOptions = .allowsEmpty
}

/// Topics, with everything that comes with them.
class BoardDataSource: DataSource<TopicValue> {
    override class var entities: [ManagedObject.Type] { [Topic.self, Letter.self, Attachment.self] }

    nonisolated class var rules: SweepRules { SweepRules() }

    override func onAdd(_ value: TopicValue, in context: PrivateContext) throws -> ManagedObject? {
        let topic = try context.topic(value.key)
        topic.title = value.title
        let letters = try value.letters.map { try $0.map { try letter($0, of: topic, in: context) } }
        let rules = Self.rules
        try context.sweep(\.letters, of: topic, keeping: letters, deleting: rules.deleting, options: rules.options)
        return topic
    }

    private nonisolated func letter(
        _ value: LetterValue, of topic: Topic, in context: PrivateContext
    ) throws -> Letter {
        let letter = try context.letter(value.key)
        letter.subject = value.subject
        letter.topic = topic
        let attachments = try value.attachments.map { try context.attachment($0) }
        letter.attachments = attachments
        try context.sweep(\.attachments, of: letter, keeping: attachments, options: .allowsEmpty)
        return letter
    }
}

/// Sweeps as if nothing was said.
final class StrictBoardDataSource: BoardDataSource {
    override nonisolated class var rules: SweepRules { SweepRules(options: []) }
}

/// Deletes at most half of the letters of a topic.
final class CarefulBoardDataSource: BoardDataSource {
    override nonisolated class var rules: SweepRules { SweepRules(deleting: .atMost(0.5)) }
}

/// What a board has stored: the attachments, in their order, by letters and topics.
typealias BoardContents = [String: [String: [String]]]

extension PersistentContainer {
    func board() async throws -> BoardContents {
        try await read { context in
            var board: BoardContents = [:]
            for topic in try context.fetch(Topic.self) {
                board[topic.key] = Dictionary(
                    uniqueKeysWithValues: topic.letters.map { ($0.key, $0.attachments.map(\.key)) })
            }
            return board
        }
    }

    /// How many letters and attachments there are, whoever they belong to.
    func childCounts() async throws -> [Int] {
        try await read { [try $0.count(Letter.self), try $0.count(Attachment.self)] }
    }
}

/// Gives the body a data source on an empty store, in memory or not.
@MainActor func withBoard<Source: BoardDataSource>(
    _ type: Source.Type, _ configuration: PersistentContainer.Configuration = .init(),
    _ body: @MainActor (PersistentContainer, Source) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let container = try await PersistentContainer(
        model: .graph, store: .sqlite(directory.store), configuration: configuration)
    try await body(container, try container.dataSource(type))
    try await container.close()
}
