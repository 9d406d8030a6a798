import CoreDataSource
import ErrorExpectations
import Foundation
import FrameworkNames
import Testing

@StoredEntity
final class MemoEntity: ManagedObject {
    @Stored(unique: true) var uid: String
    var text: String = ""
}

struct Memo: Equatable {
    var uid: String
    var text = ""
    /// Whether the server says that the memo was deleted.
    var isDeleted = false
}

final class MemoDataSource: KeyedDataSource<Memo, MemoEntity> {
    nonisolated override class var key: ObjectKey<Memo, MemoEntity> { ObjectKey(\.uid, \.uid) }

    nonisolated override func onAdd(
        _ memo: Memo, in context: PrivateContext
    ) throws -> ManagedObject? {
        if !memo.isDeleted { return try super.onAdd(memo, in: context) }
        try onDelete(memo, in: context)
        return nil
    }

    nonisolated override func update(_ entity: MemoEntity, from memo: Memo, in context: PrivateContext) {
        entity.text = memo.text
    }
}

func refresh(_ memos: MemoDataSource, from server: MemoServer) async throws {
    let scope = SyncScope("memos", MemoEntity.self)
    let (freshness, start) = (try memos.freshness(of: scope), Date())
    // Nil if the server answers 410, because the cursor is too old.
    if let cursor = freshness.cursor,
        let changes = try await server.changes(since: cursor)
    {
        try await memos.apply(
            .list(changes.memos, cursor: changes.cursor), to: scope,
            requestedAt: start, since: freshness, deleting: .none)
    } else {
        let list = try await server.list()
        try await memos.apply(
            .list(list.memos, cursor: list.cursor), to: scope,
            requestedAt: start, since: freshness)
    }
}

/// A server that keeps its changes for some time.
actor MemoServer {
    struct Answer: Sendable {
        var memos: [Memo]
        var cursor: String
    }

    private(set) var requests: [String] = []
    private var texts: [String: String]
    /// The uid of the memo that each change has edited or deleted.
    private var changed: [String] = []
    /// The number of changes that the server no longer knows.
    private var forgotten = 0
    private var beforeAnswer: (@Sendable () async throws -> Void)?

    init(_ texts: [String: String]) { self.texts = texts }

    func set(_ uid: String, _ text: String?) {
        texts[uid] = text
        changed.append(uid)
    }

    func forgetChanges() { forgotten = changed.count }

    /// Runs the body when the next request arrives, before the server answers.
    func beforeNextAnswer(_ body: @escaping @Sendable () async throws -> Void) { beforeAnswer = body }

    func list() async throws -> Answer {
        requests.append("list")
        let body = beforeAnswer.take()
        try await body?()
        return Answer(memos: texts.keys.sorted().map(memo), cursor: "\(changed.count)")
    }

    func changes(since cursor: String) async throws -> Answer? {
        requests.append("changes since \(cursor)")
        let body = beforeAnswer.take()
        try await body?()
        guard let first = Int(cursor), first >= forgotten else { return nil }
        return Answer(memos: Set(changed[first...]).sorted().map(memo), cursor: "\(changed.count)")
    }

    private func memo(_ uid: String) -> Memo {
        Memo(uid: uid, text: texts[uid] ?? "", isDeleted: texts[uid] == nil)
    }
}

/// The section about a server that sends changes.
@MainActor
struct ChangeCursorSnippets {
    private let server = MemoServer(["1": "a", "2": "b", "3": "c"])
    private let scope = SyncScope("memos", MemoEntity.self)

    private func withMemos(_ body: @MainActor (MemoDataSource) async throws -> Void) async throws {
        let model = ManagedObjectModel("Memos") { MemoEntity.self }
        let container = try await PersistentContainer(model: model, store: .inMemory)
        try await body(container.dataSource(MemoDataSource.self))
        try await container.close()
    }

    private func shown(_ memos: MemoDataSource) throws -> [String] {
        try memos.fetch(MemoEntity.self, order: [.ascending(\.uid)]).map { $0.uid + $0.text }
    }

    @Test func changesKeepTheOtherObjects() async throws {
        try await withMemos { memos in
            try await refresh(memos, from: server)
            #expect(try shown(memos) == ["1a", "2b", "3c"])
            #expect(try memos.freshness(of: scope).cursor == "0")
            await server.set("2", "B")
            await server.set("3", nil)
            await server.set("4", "d")
            try await refresh(memos, from: server)
            #expect(try shown(memos) == ["1a", "2B", "4d"])
            // The deletion by the hook belongs to the answer, so the cursor stays.
            #expect(try memos.freshness(of: scope).cursor == "3")
            // Nothing has changed. An empty list is no error, because it may delete nothing.
            try await refresh(memos, from: server)
            #expect(try shown(memos) == ["1a", "2B", "4d"])
            #expect(await server.requests == ["list", "changes since 0", "changes since 3"])
        }
    }

    @Test func aCursorThatIsTooOldGetsTheWholeList() async throws {
        try await withMemos { memos in
            try await refresh(memos, from: server)
            await server.set("4", "d")
            try await refresh(memos, from: server)
            await server.set("1", nil)
            await server.set("3", "C")
            await server.forgetChanges()
            try await refresh(memos, from: server)
            // The whole list has no value for memo 1, so the load deletes it.
            #expect(try shown(memos) == ["2b", "3C", "4d"])
            #expect(try memos.freshness(of: scope).cursor == "3")
            #expect(await server.requests == ["list", "changes since 0", "changes since 1", "list"])
        }
    }

    @Test func aDeletionByTheAppDropsTheCursor() async throws {
        try await withMemos { memos in
            try await refresh(memos, from: server)
            try await memos.delete(MemoEntity.self, where: \.uid == "1")
            #expect(try memos.freshness(of: scope).cursor == nil)
            try await refresh(memos, from: server)
            #expect(try shown(memos) == ["1a", "2b", "3c"])
            #expect(await server.requests == ["list", "list"])
        }
    }

    @Test func aDeletionByTheAppDuringARequestDropsTheNewCursor() async throws {
        try await withMemos { memos in
            try await refresh(memos, from: server)
            await server.set("2", "B")
            await server.beforeNextAnswer { try await memos.delete(MemoEntity.self, where: \.uid == "1") }
            try await refresh(memos, from: server)
            #expect(try shown(memos) == ["2B", "3c"])
            #expect(try memos.freshness(of: scope).cursor == nil)
            try await refresh(memos, from: server)
            #expect(try shown(memos) == ["1a", "2B", "3c"])
            #expect(try memos.freshness(of: scope).cursor == "1")
            #expect(await server.requests == ["list", "changes since 0", "list"])
        }
    }

    @Test func changesFromBeforeAnotherAnswerAreRefused() async throws {
        try await withMemos { memos in
            try await refresh(memos, from: server)
            await server.set("1", "A")
            let server = server
            await server.beforeNextAnswer { @MainActor in try await refresh(memos, from: server) }
            await expectError(.scopeChanged) { try await refresh(memos, from: server) }
            #expect(try shown(memos) == ["1A", "2b", "3c"])
            #expect(try memos.freshness(of: scope).cursor == "1")
            #expect(await server.requests == ["list", "changes since 0", "changes since 0"])
        }
    }
}
