import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// What makes a store forget its scopes, and stores without scopes.
@MainActor
struct ScopeLossTests {
    private func store(_ contacts: ContactDataSource) async throws {
        try await contacts.apply(
            .list(contactList(0..<3), entityTag: "1"), to: .contacts,
            requestedAt: Date(timeIntervalSinceReferenceDate: 0))
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aResetForgetsAllScopes(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            try await store(contacts)
            try await contacts.main.container?.reset()
            let found = try contacts.freshness(of: .contacts)
            #expect(found.requestedAt == nil && found.entityTag == nil)
            try await store(contacts)
            #expect(try contacts.freshness(of: .contacts).entityTag == "1")
        }
    }

    @Test(arguments: HistoryPlace.lasting, ["1", "2"])
    func anotherKeyOfTheDataSourceForgetsAllScopes(_ place: HistoryPlace, _ key: String) async throws {
        let directory = try TemporaryDirectory()
        let url = directory.store
        // By default, a store on a server is never reset.
        let open = { (key: String) in
            try await place.open(
                url,
                .init(synchronous: .normal, resetPolicy: .discard, databaseKeys: [ContactDataSource.self: key]),
                databaseKey: "1")
        }
        let first = try await open("1")
        try await store(try first.dataSource(ContactDataSource.self))
        try await first.close()
        let second = try await open(key)
        let contacts = try second.dataSource(ContactDataSource.self)
        #expect(try contacts.count(ContactEntity.self) == (key == "1" ? 3 : 0))
        #expect(try contacts.freshness(of: .contacts).entityTag == (key == "1" ? "1" : nil))
        #expect(try (contacts.freshness(of: .contacts).requestedAt == nil) == (key == "2"))
        try await store(contacts)
        try await second.close()
    }

    /// The next load brings the values of the server back.
    @Test(arguments: HistoryPlace.all)
    func aRevertedAnswerDropsTheTag(_ place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await store(contacts)
            try await contacts.apply(
                .list(contactList(0..<3) { "new \($0)" }, entityTag: "2"), to: .contacts,
                requestedAt: Date(timeIntervalSinceReferenceDate: 1))
            let answer = try #require(try await container.records().last)
            #expect(try contacts.freshness(of: .contacts).entityTag == "2")
            try await container.revert(answer, includingIncoming: true)
            #expect(try contacts.freshness(of: .contacts).entityTag == nil)
            #expect(try contacts.fetch(ContactEntity.self).allSatisfy { $0.name.hasPrefix("name") })
        }
    }

    /// The answer has changed only links, which have no entity.
    @Test(arguments: HistoryPlace.all)
    func aRevertedAnswerOfLinksDropsTheTag(_ place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(FriendlyPeers.self)
            let scope = SyncScope<Peer>("peers")
            for (second, list) in [[["a"], ["b"]], [["a", "b"], ["b"]]].enumerated() {
                try await peers.apply(
                    .list(list, entityTag: "\(second)"), to: scope,
                    requestedAt: Date(timeIntervalSinceReferenceDate: Double(second)))
            }
            let answer = try #require(try await container.records().last)
            #expect(answer.entityNames == ["Peer.friends"])
            try await container.revert(answer, includingIncoming: true)
            #expect(try container.main.peer("a").friends.isEmpty)
            #expect(try peers.freshness(of: scope).entityTag == nil)
        }
    }

    /// The answer has changed only children of the objects in its list.
    @Test(arguments: HistoryPlace.all, [true, false])
    func aRevertedAnswerOfChildrenDropsTheTag(_ place: HistoryPlace, isUndo: Bool) async throws {
        try await place.withContainer(model: .graph) { container, _ in
            let board = try container.dataSource(BoardDataSource.self)
            let topics = SyncScope<Topic>("topics")
            for (second, subject) in ["old", "new"].enumerated() {
                let topic = TopicValue(key: "1", letters: [LetterValue(key: "a", subject: subject)])
                try await container.withAuthor("me") {
                    try await board.apply(
                        .list([topic], entityTag: subject), to: topics,
                        requestedAt: Date(timeIntervalSinceReferenceDate: Double(second)))
                }
            }
            let answer = try #require(try await container.records().last)
            #expect(answer.entityNames == ["Letter"])
            if isUndo {
                try await container.undo(author: "me")
            } else {
                try await container.revert(answer, includingIncoming: true)
            }
            #expect(try container.main.fetch(Letter.self).map(\.subject) == ["old"])
            #expect(try board.freshness(of: topics).entityTag == nil)
        }
    }

    /// The revert of an answer is reverted, after the server has sent its list again.
    @Test(arguments: HistoryPlace.all, [true, false])
    func anAnswerThatComesBackDropsTheTag(_ place: HistoryPlace, isUndo: Bool) async throws {
        try await place.withContainer(model: .graph) { container, _ in
            let board = try container.dataSource(BoardDataSource.self)
            let topics = SyncScope<Topic>("topics")
            func store(_ subject: String, tag: String, second: Double) async throws {
                let topic = TopicValue(key: "1", letters: [LetterValue(key: "a", subject: subject)])
                try await board.apply(
                    .list([topic], entityTag: tag), to: topics,
                    requestedAt: Date(timeIntervalSinceReferenceDate: second))
            }
            try await store("old", tag: "1", second: 0)
            try await store("new", tag: "2", second: 1)
            let answer = try #require(try await container.records().last)
            try await container.withAuthor("me") {
                _ = try await container.revert(answer, includingIncoming: true)
            }
            let revert = try #require(try await container.records().last)
            #expect(revert.kind == .local && revert.entityNames == ["Letter"])
            try await store("old", tag: "3", second: 2)
            #expect(try board.freshness(of: topics).entityTag == "3")
            if isUndo {
                try await container.undo(author: "me")
            } else {
                try await container.revert(revert)
            }
            #expect(try container.main.fetch(Letter.self).map(\.subject) == ["new"])
            #expect(try board.freshness(of: topics).entityTag == nil)
        }
    }

    /// The old answer had values that the new model would have stored.
    @Test(arguments: HistoryPlace.migrated)
    func aMigrationForgetsAllScopes(_ place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, .init(synchronous: .normal))
        try await store(try first.dataSource(ContactDataSource.self))
        try await first.close()
        var model = ManagedObjectModel.contacts
        let contact = try #require(model.entities.firstIndex { $0.name == "ContactEntity" })
        model.entities[contact].attributes.append(
            AttributeDescription(name: "country", type: .string, isOptional: true))
        let second = try await place.open(
            directory.store, .init(synchronous: .normal, resetPolicy: .migrate), model: model)
        let contacts = try second.dataSource(ContactDataSource.self)
        #expect(try contacts.count(ContactEntity.self) == 3)
        #expect(try contacts.freshness(of: .contacts).requestedAt == nil)
        try await contacts.delete(ContactData(uid: "uid-1", name: ""))
        try await store(contacts)
        #expect(try contacts.freshness(of: .contacts).entityTag == "1")
        try await second.close()
    }

    @Test(arguments: [ScopeStoreKind.file] + ScopeStoreKind.shared, [true, false])
    func writesOfOtherProgramsDropTheTag(_ kind: ScopeStoreKind, _ areNoticedBefore: Bool) async throws {
        try await withScopes(kind) { contacts, place in
            try await store(contacts)
            let before = try contacts.freshness(of: .contacts)
            try place.run("DELETE FROM \"ContactEntity\" WHERE uid = 'uid-1'")
            if areNoticedBefore { contacts.tier.noticeOutsideWrites() }
            await expectError(.scopeChanged) {
                try await contacts.apply(.notModified, to: .contacts, requestedAt: Date(), since: before)
            }
            #expect(try contacts.freshness(of: .contacts).entityTag == nil)
            // Only once.
            try await store(contacts)
            try await contacts.add(ContactData(uid: "4", name: ""))
            contacts.tier.forgetScopes()
            #expect(try contacts.freshness(of: .contacts).entityTag == "1")
        }
    }

    @Test(arguments: [ScopeStoreKind.file, .sharedFile])
    func aStoreWithoutScopesHasNoTable(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let raw = try RawConnection(place.url)
            let tables = "SELECT name FROM sqlite_schema WHERE name = '_scopes'"
            try await contacts.sync(contactList(0..<3), entity: ContactEntity.self)
            try await contacts.delete(ContactEntity.self, where: nil)
            #expect(try contacts.freshness(of: .contacts).requestedAt == nil)
            #expect(try raw.column(tables).isEmpty)
            try await store(contacts)
            #expect(try raw.column(tables) == ["_scopes"])
        }
    }

    /// The rows and what is known of them are one save.
    @Test(arguments: [ScopeStoreKind.file, .sharedFile])
    func aScopeThatCannotBeWrittenTakesItsRowsWithIt(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            try await store(contacts)
            let raw = try RawConnection(place.url)
            try raw.execute("CREATE TRIGGER t BEFORE INSERT ON _scopes BEGIN SELECT RAISE(ABORT, 'no'); END")
            await expectThrows(DataSourceError.self) {
                try await contacts.apply(
                    .list(contactList(2..<9), entityTag: "2"), to: .contacts, requestedAt: Date())
            }
            #expect(try raw.column("SELECT uid FROM ContactEntity ORDER BY 1") == ["uid-0", "uid-1", "uid-2"])
            try raw.execute("DROP TRIGGER t")
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            try await contacts.apply(.list(contactList(2..<9), entityTag: "2"), to: .contacts, requestedAt: Date())
            #expect(try contacts.freshness(of: .contacts).entityTag == "2")
        }
    }

    /// The pauses after failures grow even if the disk is full.
    @Test func aFailureThatCannotBeStoredIsRemembered() async throws {
        try await withScopes(.file) { contacts, place in
            try await store(contacts)
            let raw = try RawConnection(place.url)
            try raw.execute("CREATE TRIGGER t BEFORE INSERT ON _scopes BEGIN SELECT RAISE(ABORT, 'no'); END")
            for count in 1...2 {
                await expectThrows(Poison.self) {
                    try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
                }
                let found = try contacts.freshness(of: .contacts)
                #expect(found.failureCount == count && found.isComplete)
            }
            await expectError(.loadPostponed) {
                try await contacts.load(.contacts, maxAge: .seconds(1)) { _ in throw Poison() }
            }
            try raw.execute("DROP TRIGGER t")
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3)) }
            #expect(try contacts.freshness(of: .contacts).failureCount == 0)
        }
    }

    /// Two processes.
    @Test(arguments: ScopeStoreKind.shared)
    func membersOfASharedStoreSeeTheScopesOfOthers(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let (mine, theirs) = (
            try one.dataSource(ContactDataSource.self), try other.dataSource(ContactDataSource.self)
        )
        // The other one has looked, and has found no table.
        #expect(try theirs.freshness(of: .contacts).requestedAt == nil)
        try await store(mine)
        let seen = try theirs.freshness(of: .contacts)
        #expect(seen.entityTag == "1")
        try await theirs.delete(ContactData(uid: "uid-1", name: ""))
        #expect(try mine.freshness(of: .contacts).entityTag == nil)
        await expectError(.scopeChanged) {
            try await mine.apply(.notModified, to: .contacts, requestedAt: Date(), since: seen)
        }
        try await store(theirs)
        #expect(try mine.freshness(of: .contacts).entityTag == "1")
        try await one.close()
        try await other.close()
    }

    /// The load reads nothing, but what it knows of the scope is not older than the own saves.
    @Test(arguments: ScopeStoreKind.allCases)
    func aLoadOfAFreshScopeKnowsTheDeletionsSince(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let load = {
                try await contacts.load(.contacts, maxAge: .seconds(1000)) { _ in
                    .list(contactList(0..<3), entityTag: "1")
                }
            }
            #expect(try await load().entityTag == "1")
            try await contacts.delete(ContactData(uid: "uid-1", name: ""))
            #expect(try await load().entityTag == nil)
            try await contacts.apply(
                .list(contactList(0..<3), entityTag: "2"), to: .contacts, requestedAt: place.clock.value)
            #expect(try await load().entityTag == "2")
            try await contacts.delete(ContactEntity.self, where: nil)
            #expect(try await load().entityTag == nil)
            #expect(try contacts.uids().isEmpty)
        }
    }

    enum Deleter: Sendable { case app, otherMember, otherProgram }

    /// The answer has only the changes since the cursor, so it lacks the deleted object, which the server still has.
    @Test(
        arguments: ScopeStoreKind.allCases.map { ($0, Deleter.app) } + ScopeStoreKind.shared.map { ($0, .otherMember) }
            + ([.file] + ScopeStoreKind.shared).map { ($0, .otherProgram) })
    func aDeletionDuringARequestForChangesDropsTheCursor(_ kind: ScopeStoreKind, by deleter: Deleter) async throws {
        try await withScopes(kind) { contacts, place in
            let other = deleter == .otherMember ? try place.open() : nil
            let theirs = try other?.dataSource(ContactDataSource.self) ?? contacts
            let cursors = Shared<[String?]>([])
            func load(deleting uid: String?) async throws {
                try await contacts.load(.contacts, maxAge: .zero, deleting: .none) { request in
                    cursors.update { $0.append(request.cursor) }
                    if let uid, deleter == .otherProgram {
                        // A store in a file notices this only in the save of the answer.
                        try place.run("DELETE FROM \"ContactEntity\" WHERE uid = '\(uid)'")
                    } else if let uid {
                        try await theirs.delete(ContactData(uid: uid, name: ""))
                    }
                    return .list(request.cursor == nil ? contactList(0..<3) : [], cursor: "1")
                }
            }
            try await load(deleting: nil)
            try await load(deleting: "uid-1")
            #expect(try contacts.uids() == ["uid-0", "uid-2"])
            #expect(try contacts.freshness(of: .contacts).cursor == nil)
            try await load(deleting: nil)
            #expect(cursors.value == [nil, "1", nil])
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            // Nothing was deleted during the last request, so the changes keep their cursor.
            try await load(deleting: nil)
            #expect(try contacts.freshness(of: .contacts).cursor == "1")
            try await other?.close()
        }
    }

    @Test(arguments: ScopeStoreKind.shared)
    func aListThatAnotherMemberHasBegunToStoreIsNotFresh(_ kind: ScopeStoreKind) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        let (mine, theirs) = (
            try one.dataSource(ContactDataSource.self), try other.dataSource(ContactDataSource.self)
        )
        try await mine.load(.contacts, maxAge: .seconds(1000)) { _ in .list(contactList(0..<3)) }
        try await theirs.apply(
            .page(contactList(3..<5), next: "2"), to: .contacts, requestedAt: place.clock.value)
        // This read has the rows of the page.
        #expect(try mine.count(ContactEntity.self) == 5)
        let found = try await mine.load(.contacts, maxAge: .seconds(1000)) { _ in
            .list(contactList(0..<5), entityTag: "2")
        }
        #expect(found.entityTag == "2")
        try await one.close()
        try await other.close()
    }

    @Test func aReadOnlyStoreShowsItsScopesAndRefusesAnswers() async throws {
        let place = try ScopePlace(.file)
        let container = try place.open()
        try await store(try container.dataSource(ContactDataSource.self))
        try await container.close()
        let reading = try await PersistentContainer(
            model: .contacts, store: .sqlite(place.url), configuration: .init(isReadOnly: true))
        let contacts = try reading.dataSource(ContactDataSource.self)
        let found = try contacts.freshness(of: .contacts)
        #expect(found.entityTag == "1")
        await expectError(.storeReadOnly) {
            try await contacts.apply(.notModified, to: .contacts, requestedAt: Date(), since: found)
        }
        try await reading.close()
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aForgottenScopeIsLoadedAgain(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let other = SyncScope<ContactEntity>("contacts", where: \.age >= 0)
            // Nothing is there to forget.
            try await contacts.forget(.contacts)
            try await contacts.load(.contacts, maxAge: .seconds(1000)) { _ in
                .list(contactList(0..<3), entityTag: "1")
            }
            try await contacts.forget(other)
            #expect(try contacts.freshness(of: .contacts).entityTag == "1")
            try await contacts.forget(.contacts)
            #expect(try contacts.freshness(of: .contacts) == ScopeFreshness())
            #expect(try contacts.count(ContactEntity.self) == 3)
            try await contacts.load(.contacts, maxAge: .seconds(1000)) { request in
                #expect(request == ScopeRequest())
                return .list(contactList(0..<2), entityTag: "2")
            }
            #expect(try contacts.freshness(of: .contacts).entityTag == "2")
            // A pause after a failure is forgotten, too.
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
            }
            try await contacts.forget(.contacts)
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<1)) }
            #expect(try contacts.uids() == ["uid-0"])
        }
    }
}

/// Peers of a server. Each value is a peer, followed by its friends.
private final class FriendlyPeers: DataSource<[String]> {
    nonisolated override class var entities: [ManagedObject.Type] { [Peer.self, Team.self] }

    nonisolated override func onAdd(_ keys: [String], in context: PrivateContext) throws -> ManagedObject? {
        let peers = try keys.map { try context.findOrInsert(Peer.self, where: \.key, equals: $0) }
        if peers.count > 1 { peers[0].friends.set(peers.dropFirst()) }
        return peers.first
    }
}
