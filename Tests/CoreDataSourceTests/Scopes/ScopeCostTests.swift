import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// The rows and statements that loads, and saves with a history, write.
@MainActor
struct ScopeCostTests {
    /// The writes of a call, in the tables that the tests count.
    private struct Writes: Equatable {
        /// The changed rows of contacts.
        var contacts = 0
        /// The statements that have changed contacts.
        var contactStatements = 0
        /// The changed rows of scopes.
        var scopes = 0
        /// The statements that have changed scopes.
        var scopeStatements = 0
        /// The rows that were added to the history.
        var records = 0

        init(_ statements: [StatementTrace]) {
            for statement in statements where statement.rowCount > 0 {
                if statement.sql.contains("\"ContactEntity\"") {
                    contacts += statement.rowCount
                    contactStatements += 1
                } else if statement.sql.contains("\"_scopes\"") {
                    scopes += statement.rowCount
                    scopeStatements += 1
                } else if statement.sql.hasPrefix("INSERT"), statement.sql.contains("\"_history\" VALUES") {
                    records += statement.rowCount
                }
            }
        }
    }

    /// Counts what a call writes into a store with 50 contacts of a list that was loaded.
    private func writes(
        _ place: HistoryPlace, _ history: KeptHistory = .unchanged,
        _ call: @MainActor (ContactDataSource) async throws -> Void
    ) async throws -> Writes {
        let directory = try TemporaryDirectory()
        let found = Shared<[StatementTrace]>([])
        var configuration = PersistentContainer.Configuration(synchronous: .normal, history: history)
        configuration.trace = { statement in
            if statement.isWriting { found.update { $0.append(statement) } }
        }
        let container = try await place.open(directory.store, configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<50), entityTag: "1") }
        found.value = []
        try await call(contacts)
        let writes = Writes(found.value)
        try await container.close()
        return writes
    }

    private nonisolated static var newList: [any Sendable] { contactList(0..<50) { "new \($0)" } }

    /// A view may call a load again and again while the pause after a failure lasts.
    @Test func aPostponedLoadDoesNotMakeOtherLoadsReadTheirScopes() async throws {
        let directory = try TemporaryDirectory()
        let reads = Shared(0)
        var configuration = PersistentContainer.Configuration(synchronous: .normal)
        configuration.now = { Date(timeIntervalSinceReferenceDate: 1_000) }
        configuration.trace = { statement in
            if !statement.isWriting, statement.sql.contains("\"_scopes\"") { reads.update { $0 += 1 } }
        }
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        func loadFresh() async throws -> Int {
            reads.value = 0
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<3)) }
            return reads.value
        }
        let failing = SyncScope("failing", ContactEntity.self, where: \.uid > "uid-5")
        await expectThrows(Poison.self) {
            try await contacts.load(failing, maxAge: .zero) { _ in throw Poison() }
        }
        for _ in 0..<2 { _ = try await loadFresh() }
        await expectError(.loadPostponed) {
            try await contacts.load(failing, maxAge: .nanoseconds(1)) { _ in throw Poison() }
        }
        let count = try await loadFresh()
        #expect(count == 0)
        contacts.tier.forgetScopes()
        let forgotten = try await loadFresh()
        #expect(forgotten > 0)
        try await container.close()
    }

    /// A store on a server may answer late, and the main actor must not wait for it.
    @Test func loadsOnTheMainActorReadTheirScopesOnOtherThreads() async throws {
        let directory = try TemporaryDirectory()
        let (onMain, elsewhere) = (Shared<[String]>([]), Shared(0))
        var configuration = PersistentContainer.Configuration(synchronous: .normal)
        configuration.now = { Date(timeIntervalSinceReferenceDate: 1_000) }
        configuration.trace = { statement in
            if statement.isWriting || !statement.sql.contains("_scopes") { return }
            if MainQueue.isCurrent { onMain.update { $0.append(statement.sql) } } else { elsewhere.update { $0 += 1 } }
        }
        let container = try await PersistentContainer(
            model: .contacts, store: .sqlite(directory.store), configuration: configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        await expectThrows(Poison.self) {
            try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
        }
        await expectError(.loadPostponed) {
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in throw Poison() }
        }
        let found = try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3), entityTag: "1") }
        #expect(found.entityTag == "1")
        try await contacts.apply(
            .notModified, to: .contacts, requestedAt: Date(timeIntervalSinceReferenceDate: 1_000))
        try await contacts.load(.contacts, maxAge: .zero, whenStale: .serveStale) { _ in .notModified }
        try await contacts.apply(.list(contactList(0..<3)), to: .contacts, requestedAt: Date())
        try await contacts.forget(.contacts)
        #expect(onMain.value == [] && elsewhere.value > 0)
        try await container.close()
    }

    @Test(arguments: HistoryPlace.migrated, [KeptHistory.unchanged, .ample])
    func aLoadWritesOneRowMoreThanASync(_ place: HistoryPlace, _ history: KeptHistory) async throws {
        let sync = try await writes(place, history) { contacts in
            try await contacts.sync(Self.newList, entity: ContactEntity.self)
        }
        let load = try await writes(place, history) { contacts in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(Self.newList, entityTag: "2") }
        }
        #expect(sync.contacts >= 50 && sync.scopes == 0)
        var expected = sync
        (expected.scopes, expected.scopeStatements) = (1, 1)
        #expect(load == expected)
    }

    @Test(arguments: HistoryPlace.migrated, [KeptHistory.unchanged, .ample])
    func aListThatIsNotModifiedWritesOneRow(_ place: HistoryPlace, _ history: KeptHistory) async throws {
        let found = try await writes(place, history) { contacts in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .notModified }
        }
        var expected = Writes([])
        (expected.scopes, expected.scopeStatements) = (1, 1)
        #expect(found == expected)
    }

    @Test(arguments: HistoryPlace.migrated)
    func aFailedLoadWritesOneRow(_ place: HistoryPlace) async throws {
        let found = try await writes(place) { contacts in
            _ = try? await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
        }
        var expected = Writes([])
        (expected.scopes, expected.scopeStatements) = (1, 1)
        #expect(found == expected)
    }

    @Test(arguments: HistoryPlace.migrated)
    func aLoadOfFreshObjectsWritesNothing(_ place: HistoryPlace) async throws {
        let found = try await writes(place) { contacts in
            try await contacts.load(.contacts, maxAge: .seconds(86_400)) { _ in throw Poison() }
        }
        #expect(found == Writes([]))
    }

    @Test(arguments: HistoryPlace.migrated)
    func aSaveWithAHistoryWritesOneRecord(_ place: HistoryPlace) async throws {
        let add: @MainActor (ContactDataSource) async throws -> Void = { contacts in
            try await contacts.add(contactList(0..<50) { "new \($0)" })
        }
        let off = try await writes(place, .unchanged, add)
        let on = try await writes(place, .ample, add)
        #expect(off.contacts >= 50 && off.records == 0)
        var expected = off
        expected.records = 1
        #expect(on == expected)
    }

    /// A load compares its answer only with those that others store during its request. It does not read the other lists.
    @Test(arguments: SharedPlace.Kind.all)
    func aLoadReadsNoListsThatOthersHaveStoredBefore(_ kind: SharedPlace.Kind) async throws {
        let (place, rows) = (try SharedPlace(kind), Shared<[Int]>([]))
        var configuration = PersistentContainer.Configuration(synchronous: .normal)
        configuration.trace = { statement in
            if statement.isWriting || !statement.sql.contains("\"requested\" >= ") { return }
            rows.update { $0.append(statement.rowCount) }
        }
        let (one, other) = (try place.open(configuration: configuration), try place.open())
        let (mine, theirs) = (
            try one.dataSource(ContactDataSource.self), try other.dataSource(ContactDataSource.self)
        )
        for number in 0..<20 {
            let scope = SyncScope<ContactEntity>("\(number)")
            try await theirs.load(scope, maxAge: .zero, timeLimit: .ample) { _ in .list(contactList(0..<3)) }
        }
        let crossing = SyncScope("crossing", ContactEntity.self, where: \.uid > "v")
        try await mine.load(.contacts, maxAge: .zero, timeLimit: .ample) { _ in
            try await theirs.load(crossing, maxAge: .zero, timeLimit: .ample) { _ in
                .list([ContactData(uid: "x", name: "x")])
            }
            return .list(contactList(0..<3) { "new \($0)" })
        }
        #expect(rows.value.max() == 1, "\(rows.value)")
        #expect(try mine.count(ContactEntity.self, where: \.name == "new 1") == 1)
        for container in [one, other] { try await container.close() }
    }

    /// The cells of a view load their objects while a slow list is requested. With an age, each object is a list of its own.
    @Test(arguments: [nil, Duration.seconds(60)])
    func theWorkOfAnAnswerDoesNotGrowWithTheOtherAnswers(maxAge: Duration?) async throws {
        try await withScopes { contacts, _ in
            let requests = contacts.mainTier.stack.root.requests
            let list = SyncScope("list", ContactEntity.self, where: \.uid < "v")
            try await contacts.add(contactList(0..<500))
            let before = Shared(0)
            try await contacts.load(list, maxAge: .zero) { _ in
                for number in 0..<100 {
                    _ = try await contacts.value(
                        where: \.uid, equals: "x-\(number)", as: ContactValue.self, maxAge: maxAge
                    ) {
                        ContactData(uid: $0, name: "other")
                    }
                }
                // The list spares these objects.
                try await contacts.add(contactList(500..<600))
                before.value = requests.comparisonCount
                return .list(contactList(0..<500) { "new \($0)" })
            }
            let count = requests.comparisonCount - before.value
            #expect(count <= 1_000, "\(count) comparisons")
            #expect(try contacts.count(ContactEntity.self) == 700)
            #expect(try contacts.count(ContactEntity.self, where: \.name == "new 7") == 1)
        }
    }
}
