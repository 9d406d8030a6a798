import CoreDataSource
import ErrorExpectations
import Foundation
import FrameworkNames
import RowStore
import Testing

@StoredEntity
final class LetterEntity: ManagedObject {
    @Stored(unique: true) var uid: String
    var subject: String = ""
    var isRead: Bool = false
    /// The value of `isRead` that the server has.
    var serverIsRead: Bool = false
    /// Whether the server has the letter.
    var isOnServer: Bool = false
    /// Whether the user has deleted the letter.
    var isRemoved: Bool = false
}

struct Letter: ManagedObjectConvertible, Equatable {
    var uid: String
    var isRead = false
    var isRemoved = false

    init(uid: String) { self.uid = uid }

    init(_ entity: LetterEntity) {
        (uid, isRead, isRemoved) = (entity.uid, entity.isRead, entity.isRemoved)
    }
}

class LetterDataSource: KeyedDataSource<Letter, LetterEntity> {
    nonisolated override class var key: ObjectKey<Letter, LetterEntity> { ObjectKey(\.uid, \.uid) }

    nonisolated override func update(
        _ entity: LetterEntity, from letter: Letter, in context: PrivateContext
    ) {
        if entity.isRead == entity.serverIsRead {
            entity.isRead = letter.isRead
        }
        entity.serverIsRead = letter.isRead
        entity.isOnServer = true
    }
}

/// A data source without precautions.
private final class PlainLetterDataSource: LetterDataSource {
    nonisolated override func update(_ entity: LetterEntity, from letter: Letter, in context: PrivateContext) {
        entity.isRead = letter.isRead
    }
}

let unsent: FetchPredicate<LetterEntity> =
    \.isRemoved == false && \.isOnServer == false
    || \.isRemoved == true && \.isOnServer == true
    || \.isRemoved == false
        && FetchPredicate(#Predicate { $0.isRead != $0.serverIsRead })

func send(_ letters: LetterDataSource, to server: LetterServer) async throws {
    for letter in try await letters.fetch(
        as: Letter.self, ObjectRequest(where: unsent))
    {
        if letter.isRemoved {
            try await server.delete(letter.uid)
            try await letters.update(
                LetterEntity.self, where: \.uid == letter.uid,
                set: [.set(\.isOnServer, false)])
        } else {
            try await server.put(letter)
            try await letters.update(
                LetterEntity.self, where: \.uid == letter.uid,
                set: [
                    .set(\.serverIsRead, letter.isRead),
                    .set(\.isOnServer, true),
                ])
        }
    }
}

/// A server with letters, which a test can switch off.
actor LetterServer {
    struct Offline: Error {}

    private(set) var letters: [String: Letter] = [:]
    private(set) var sent: [String] = []
    private var version = 0
    private var isOffline = false
    private var beforePut: (@Sendable () async throws -> Void)?

    init(_ uids: [String]) {
        for uid in uids { letters[uid] = Letter(uid: uid) }
    }

    func goOffline(_ value: Bool) { isOffline = value }

    /// Runs the body when the next letter arrives, before the server answers.
    func beforeNextPut(_ body: @escaping @Sendable () async throws -> Void) { beforePut = body }

    func put(_ letter: Letter) async throws {
        if isOffline { throw Offline() }
        letters[letter.uid] = letter
        sent.append("put \(letter.uid)")
        version += 1
        let body = beforePut.take()
        try await body?()
    }

    func delete(_ uid: String) throws {
        if isOffline { throw Offline() }
        letters[uid] = nil
        sent.append("delete \(uid)")
        version += 1
    }

    func answer(unless tag: String?) throws -> ServerAnswer<Letter> {
        if isOffline { throw Offline() }
        if tag == "\(version)" { return .notModified }
        return .list(letters.values.sorted { $0.uid < $1.uid }, entityTag: "\(version)")
    }
}

/// The section about edits that the server does not have yet.
@MainActor
struct UnsentEditSnippets {
    private let server = LetterServer(["1", "2", "3"])

    private func withLetters<Source: LetterDataSource>(
        _ type: Source.Type, _ body: @MainActor (PersistentContainer, Source) async throws -> Void
    ) async throws {
        var configuration = PersistentContainer.Configuration()
        configuration.history = .kept(for: .seconds(86_400), upTo: 1 << 20)
        let model = ManagedObjectModel("Letters") { LetterEntity.self }
        let layout = ModelLayout(model)
        let container = PersistentContainer(
            layout, InMemoryStore(layout, history: configuration.history), startup: StoreStartup(reason: .firstLaunch),
            configuration: configuration, scheduling: .patient)
        try await body(container, container.dataSource(type))
        try await container.close()
    }

    /// Loads the letters without sending the edits of the user.
    private func loadOnly(_ container: PersistentContainer, _ letters: LetterDataSource) async throws {
        let scope = SyncScope("letters", LetterEntity.self, where: \.isOnServer == true)
        let server = server
        try await container.withAuthor("server") {
            try await letters.load(scope, maxAge: .zero) { try await server.answer(unless: $0.entityTag) }
        }
    }

    private func load(_ container: PersistentContainer, _ letters: LetterDataSource) async throws {
        let server = server
        let scope = SyncScope(
            "letters", LetterEntity.self, where: \.isOnServer == true)
        try await container.withAuthor("server") {
            try await letters.load(scope, maxAge: .zero) { request in
                try await send(letters, to: server)
                return try await server.answer(unless: request.entityTag)
            }
        }
    }

    /// Reads letter 1, deletes letter 2, and writes letter 4.
    private func edit(_ container: PersistentContainer, _ letters: LetterDataSource) async throws {
        try await container.withAuthor("user") {
            try await letters.update(
                LetterEntity.self, where: \.uid == "1",
                set: [.set(\.isRead, true)])
            try await letters.update(
                LetterEntity.self, where: \.uid == "2",
                set: [.set(\.isRemoved, true)])
            try await letters.perform { context in
                try context.insert(LetterEntity.self).uid = "4"
            }
        }
    }

    private func shown(_ letters: LetterDataSource) throws -> [String] {
        try letters.fetch(LetterEntity.self, where: \.isRemoved == false, order: [.ascending(\.uid)])
            .map { $0.isRead ? $0.uid + " read" : $0.uid }
    }

    @Test func withoutPrecautionsALoadLosesEdits() async throws {
        try await withLetters(PlainLetterDataSource.self) { container, letters in
            let (server, scope) = (server, SyncScope("letters", LetterEntity.self))
            func load() async throws {
                try await letters.load(scope, maxAge: .zero) { try await server.answer(unless: $0.entityTag) }
            }

            try await load()
            try await letters.update(LetterEntity.self, where: \.uid == "1", set: [.set(\.isRead, true)])
            try await letters.delete(LetterEntity.self, where: \.uid == "2")
            try await letters.perform { try $0.insert(LetterEntity.self).uid = "4" }
            #expect(try shown(letters) == ["1 read", "3", "4"])
            try await load()
            #expect(try shown(letters) == ["1", "2", "3"])
        }
    }

    @Test func aLoadKeepsEditsThatTheServerDoesNotHave() async throws {
        try await withLetters(LetterDataSource.self) { container, letters in
            try await loadOnly(container, letters)
            try await edit(container, letters)
            try await server.put(Letter(uid: "5"))
            try await loadOnly(container, letters)
            #expect(try shown(letters) == ["1 read", "3", "4", "5"])
            await server.goOffline(true)
            await expectThrows(LetterServer.Offline.self) { try await load(container, letters) }
            #expect(try shown(letters) == ["1 read", "3", "4", "5"])
        }
    }

    @Test func editsAreSentBeforeTheListIsRequested() async throws {
        try await withLetters(LetterDataSource.self) { container, letters in
            try await load(container, letters)
            try await edit(container, letters)
            try await load(container, letters)
            #expect(try shown(letters) == ["1 read", "3", "4"])
            #expect(await server.sent.sorted() == ["delete 2", "put 1", "put 4"])
            #expect(await server.letters["1"]?.isRead == true)
            try await load(container, letters)
            #expect(await server.sent.count == 3)
            #expect(try letters.count(LetterEntity.self, where: unsent) == 0)
            // The letters that the user has deleted are no longer needed.
            try await letters.delete(
                LetterEntity.self, where: \.isRemoved == true && \.isOnServer == false)
            #expect(try letters.count(LetterEntity.self) == 3)
        }
    }

    @Test func anEditWhileALetterIsSentIsSentNext() async throws {
        try await withLetters(LetterDataSource.self) { container, letters in
            try await load(container, letters)
            @Sendable func read(_ value: Bool) async throws {
                try await letters.update(LetterEntity.self, where: \.uid == "1", set: [.set(\.isRead, value)])
            }
            try await read(true)
            await server.beforeNextPut { try await read(false) }
            try await load(container, letters)
            #expect(try shown(letters) == ["1", "2", "3"])
            #expect(try letters.count(LetterEntity.self, where: unsent) == 1)
            try await load(container, letters)
            #expect(await server.letters["1"]?.isRead == false)
            #expect(try letters.count(LetterEntity.self, where: unsent) == 0)
        }
    }

    @Test func anEvictionKeepsUnsentLetters() async throws {
        try await withLetters(LetterDataSource.self) { container, letters in
            try await loadOnly(container, letters)
            try await edit(container, letters)
            let eviction = ScopeEviction(maxCount: 0, order: [.ascending(\LetterEntity.uid)], keeping: unsent)
            let scope = SyncScope("new", LetterEntity.self, where: \.isOnServer == true, evicting: eviction)
            let server = server
            try await letters.load(scope, maxAge: .zero) { try await server.answer(unless: $0.entityTag) }
            #expect(try shown(letters) == ["1 read", "4"])
        }
    }

    @Test func anUndoIsSentLikeAnEdit() async throws {
        try await withLetters(LetterDataSource.self) { container, letters in
            try await load(container, letters)
            try await edit(container, letters)
            // The new letter is not sent yet, so its undo deletes it.
            try await container.undo(author: "user")
            try await load(container, letters)
            #expect(try shown(letters) == ["1 read", "3"])
            try await container.undo(author: "user")
            try await container.undo(author: "user")
            #expect(try shown(letters) == ["1", "2", "3"])
            try await loadOnly(container, letters)
            #expect(try shown(letters) == ["1", "2", "3"])
            try await load(container, letters)
            #expect(try shown(letters) == ["1", "2", "3"])
            #expect(await server.letters.values.sorted { $0.uid < $1.uid } == ["1", "2", "3"].map(Letter.init(uid:)))
        }
    }

    @Test func anUndoneInsertionThatWasSentIsAConflict() async throws {
        try await withLetters(LetterDataSource.self) { container, letters in
            try await edit(container, letters)
            try await load(container, letters)
            await expectError(.draftConflict) { try await container.undo(author: "user") }
            #expect(try letters.count(LetterEntity.self, where: \.uid == "4") == 1)
        }
    }
}

extension WorkScheduling {
    /// Timers that end no request on a slow machine.
    fileprivate static var patient: WorkScheduling {
        var scheduling = system
        scheduling.after = { delay, work in system.after(delay * 1_000, work) }
        return scheduling
    }
}
