import CoreDataSource
import Foundation
import Testing

/// A sweep in the hook of a load knows as little of what was added during the request as the list does.
@MainActor
struct ScopeChildTests {
    private let topics = SyncScope<Topic>("topics")
    private nonisolated static let list = [
        TopicValue(key: "1", letters: [LetterValue(key: "a")]), TopicValue(key: "2", letters: [LetterValue(key: "b")]),
    ]

    private func withBoard(_ body: @MainActor (PersistentContainer, BoardDataSource) async throws -> Void) async throws
    {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let board = try container.dataSource(BoardDataSource.self)
        try await board.add(Self.list)
        try await body(container, board)
        try await container.close()
    }

    /// Inserts a letter of the topic 1.
    private nonisolated static func insert(_ key: String, _ board: BoardDataSource) async throws {
        try await board.perform { context in
            let (letter, topic) = (try context.letter(key), try context.topic("1"))
            letter.topic = topic
        }
    }

    private func letters(_ container: PersistentContainer) throws -> [String] {
        try container.main.fetch(Letter.self).map(\.key).sorted()
    }

    @Test func aChildThatTheUserAddsDuringARequestStays() async throws {
        try await withBoard { container, board in
            try await Self.insert("before", board)
            try await board.load(topics, maxAge: .zero) { _ in
                try await Self.insert("new", board)
                return .list(Self.list)
            }
            #expect(try letters(container) == ["a", "b", "new"])
            #expect(container.stack.root.requests.keyCount == 0)
            try await board.load(topics, maxAge: .zero) { _ in .list(Self.list) }
            #expect(try letters(container) == ["a", "b"])
        }
    }

    /// The letter b was there before, but not as a child of this topic.
    @Test func aChildThatTheUserMovesDuringARequestStays() async throws {
        try await withBoard { container, board in
            try await Self.insert("edited", board)
            try await board.load(topics, maxAge: .zero) { _ in
                try await Self.insert("b", board)
                try await board.perform { try $0.letter("edited").subject = "new" }
                return .list([Self.list[0], TopicValue(key: "2")])
            }
            #expect(try letters(container) == ["a", "b"])
        }
    }

    @Test func aLaterPageSweepsTheChildrenOfAnEarlierPage() async throws {
        try await withBoard { container, board in
            try await board.load(topics, maxAge: .zero) { request in
                if request.page == 1 { return .page(Self.list, next: nil) }
                return .page([TopicValue(key: "1", letters: [LetterValue(key: "page")])], next: "a")
            }
            #expect(try letters(container) == ["a", "b"])
        }
    }

    /// Beyond the bound, it is not known which children were added.
    @Test func noChildOfAnEntityIsDeletedIfMoreWereAddedThanAreKept() async throws {
        try await withBoard { container, board in
            container.stack.root.requests.keep(atMost: 2)
            try await Self.insert("before", board)
            try await board.load(topics, maxAge: .zero) { _ in
                for key in ["new 1", "new 2", "new 3"] { try await Self.insert(key, board) }
                return .list(Self.list)
            }
            #expect(try letters(container) == ["a", "b", "before", "new 1", "new 2", "new 3"])
            try await board.load(topics, maxAge: .zero) { _ in .list(Self.list) }
            #expect(try letters(container) == ["a", "b"])
        }
    }

    /// The other process has added one child before the request, and one during the request.
    @Test(arguments: SharedPlace.Kind.all)
    func aChildThatAnotherProcessAddsDuringARequestStays(_ kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(model: .graph) { one, other in
            let (mine, theirs) = (
                try one.dataSource(BoardDataSource.self), try other.dataSource(BoardDataSource.self)
            )
            try await mine.add(Self.list)
            try await Self.insert("before", theirs)
            try await mine.load(topics, maxAge: .zero) { _ in
                try await Self.insert("new", theirs)
                return .list(Self.list)
            }
            #expect(try letters(one) == ["a", "b", "new"])
        }
    }
}
