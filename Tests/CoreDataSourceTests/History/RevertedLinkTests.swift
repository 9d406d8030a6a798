import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// The links to the objects that a revert deletes, and the links that it makes again.
@MainActor
struct RevertedLinkTests {
    // MARK: Links of others

    /// The save of the author `me` adds a group. The author `other` puts a contact into it.
    private func withLinkedGroup(
        _ place: HistoryPlace, mine: @escaping @Sendable (ContactEntity) -> Void = { _ in },
        _ body: @MainActor (PersistentContainer) async throws -> Void
    ) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<2))
            try await container.withAuthor("me") {
                try await container.perform(in: contacts, groups) { contacts, groups in
                    let group = try groups.insert(GroupEntity.self)
                    (group.gid, group.name) = ("1", "one")
                    mine(try #require(try contacts.first(ContactEntity.self, where: \.uid, equals: "uid-0")))
                }
            }
            try await container.withAuthor("other") {
                try await container.perform(in: contacts, groups) { contacts, groups in
                    let contact = try contacts.first(ContactEntity.self, where: \.uid, equals: "uid-0")
                    contact?.group = try groups.first(GroupEntity.self, where: \.gid, equals: "1")
                }
            }
            try await body(container)
        }
    }

    private func group(_ container: PersistentContainer) throws -> String? {
        try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.group?.gid
    }

    @Test(arguments: HistoryPlace.all)
    func anInsertedObjectThatWasLinkedSinceIsAConflict(place: HistoryPlace) async throws {
        try await withLinkedGroup(place) { container in
            let error = try #require(await expectError(.draftConflict) { try await container.undo(author: "me") })
            #expect(error.entityName == "GroupEntity" && error.message.contains("has edited or linked this object"))
            #expect(try group(container) == "1")
            let record = try #require(try await container.nextUndo(author: "me"))
            #expect(try await container.revert(record, resolving: .takeTheirs).save == SaveReport())
            #expect(try group(container) == "1")
            let report = try #require(try await container.undo(author: "me", resolving: .keepMine))
            #expect(report.conflicts.map(\.kind) == [.deletedHere])
            #expect(try group(container) == nil)
            #expect(try container.main.count(GroupEntity.self) == 0)
            // The record of the undo has the link, so a redo brings it back.
            try await container.redo(author: "me")
            #expect(try group(container) == "1")
        }
    }

    /// One of them has more links than are read at once.
    @Test(arguments: HistoryPlace.all)
    func eachObjectWithLinksOfOthersIsOneConflict(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<1_200))
            try await container.withAuthor("me") {
                try await groups.perform { context in
                    for gid in ["1", "2", "3"] {
                        let group = try context.insert(GroupEntity.self)
                        (group.gid, group.name) = (gid, "")
                    }
                }
            }
            try await container.perform(in: contacts, groups) { contacts, groups in
                let all = try groups.fetch(GroupEntity.self)
                for contact in try contacts.fetch(ContactEntity.self) {
                    let gid = contact.uid == "uid-1199" ? "2" : "1"
                    contact.group = all.first { $0.gid == gid }
                }
            }
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.conflicts.map(\.kind) == [.deletedHere, .deletedHere])
            #expect(report.save == SaveReport(deleted: 1))
            #expect(try Set(container.main.fetch(GroupEntity.self).map(\.gid)) == ["1", "2"])
        }
    }

    /// The record has changed the contact, too, but not its group.
    @Test(arguments: HistoryPlace.all)
    func aLinkFromAnObjectOfTheSameRecordIsALinkOfOthers(place: HistoryPlace) async throws {
        try await withLinkedGroup(place, mine: { $0.note = "mine" }) { container in
            await expectError(.draftConflict) { try await container.undo(author: "me") }
            try await container.undo(author: "me", resolving: .takeTheirs)
            let contact = try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-0")
            #expect(contact?.note == nil && contact?.group?.gid == "1")
        }
    }

    /// The group was added together with the contact, which another save has edited.
    @Test(arguments: HistoryPlace.all)
    func anObjectThatIsKeptKeepsItsLinksToNewObjects(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await container.withAuthor("me") {
                try await container.perform(in: contacts, groups) { contacts, groups in
                    for gid in ["1", "2"] {
                        let group = try groups.insert(GroupEntity.self)
                        (group.gid, group.name) = (gid, "")
                    }
                    let contact = try contacts.insert(ContactEntity.self)
                    contact.uid = "uid-0"
                    contact.group = try groups.first(GroupEntity.self, where: \.gid, equals: "1")
                }
            }
            try await contacts.perform { try $0.fetch(ContactEntity.self).first?.note = "theirs" }
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.save == SaveReport(deleted: 1) && report.conflicts.map(\.entityName) == ["ContactEntity"])
            #expect(try group(container) == "1")
            #expect(try container.main.fetch(GroupEntity.self).map(\.gid) == ["1"])
        }
    }

    /// A club must have members. Without them, a rule would refuse each undo of the step.
    @Test(arguments: HistoryPlace.all)
    func anObjectThatIsKeptKeepsTheNewObjectsThatItRequires(place: HistoryPlace) async throws {
        try await place.withContainer(model: .lodge) { container, _ in
            let lodge = try container.dataSource(LodgeSource.self)
            try await lodge.edit(container) { context in
                let (lodger, club) = (try context.insert(Lodger.self), try context.insert(LodgeClub.self))
                (lodger.name, club.name) = ("a", "old")
                club.lodgers.insert(lodger)
            }
            try await lodge.perform { try $0.fetch(LodgeClub.self).first?.name = "new" }
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.save == SaveReport() && report.conflicts.map(\.entityName) == ["LodgeClub"])
            #expect(try container.main.fetch(LodgeClub.self).first?.lodgers.map(\.name) == ["a"])
        }
    }

    /// Another save has moved the contact into another group. Whoever keeps the new group can still take the contact out.
    @Test(arguments: HistoryPlace.all)
    func aLinkInConflictIsDecidedWithoutTheObjectThatIsKept(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await groups.add(GroupData(gid: "old", name: ""))
            try await container.withAuthor("me") {
                try await container.perform(in: contacts, groups) { contacts, groups in
                    let group = try groups.insert(GroupEntity.self)
                    (group.gid, group.name) = ("new", "")
                    try contacts.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.group = group
                }
            }
            try await container.perform(in: contacts, groups) { contacts, groups in
                try groups.first(GroupEntity.self, where: \.gid, equals: "new")?.name = "edited"
                try contacts.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.group =
                    try groups.first(GroupEntity.self, where: \.gid, equals: "old")
            }
            let report = try #require(
                try await container.undo(
                    author: "me", resolving: .each { $0.kind == .deletedHere ? .theirs : .mine }))
            let link = try #require(report.conflicts.first { $0.kind == .relationship })
            #expect(link.propertyName == "group" && link.choice == .mine)
            #expect(try group(container) == nil)
            #expect(try container.main.count(GroupEntity.self) == 2)
        }
    }

    /// The links of a record go with its objects.
    @Test(arguments: HistoryPlace.all)
    func theLinksOfTheRecordAreNoConflict(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            try await peers.add(["a", "b"])
            try await container.withAuthor("me") {
                try await peers.perform { context in
                    for key in ["x", "y"] { try context.insert(Peer.self).key = key }
                    let (x, y) = (try context.peer("x"), try context.peer("y"))
                    x.friends.set([try context.peer("a"), y])
                    y.boss = x
                    try context.peer("b").boss = x
                }
            }
            for _ in 0..<2 {
                #expect(try await container.undo(author: "me")?.conflicts.isEmpty == true)
                #expect(try container.main.fetch(Peer.self, order: [.ascending(\.key)]).map(\.key) == ["a", "b"])
                #expect(try await container.redo(author: "me")?.conflicts.isEmpty == true)
                #expect(try container.main.peer("x").reports.map(\.key) == ["y", "b"])
                #expect(try container.main.peer("x").friends.map(\.key) == ["a", "y"])
            }
        }
    }

    /// A link in a join table, and links between two objects of the record.
    @Test(arguments: HistoryPlace.all)
    func whoeverTakesTheirsKeepsTheLinksOfOthers(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            try await peers.add(["a"])
            try await container.withAuthor("me") {
                try await peers.perform { context in
                    for key in ["u", "v", "w", "x", "y", "z"] { try context.insert(Peer.self).key = key }
                }
            }
            try await peers.perform { context in
                try context.peer("a").friends.set([try context.peer("u")])
                try context.peer("v").friends.set([try context.peer("w")])
                try context.peer("x").boss = try context.peer("y")
            }
            await expectError(.draftConflict) { try await container.undo(author: "me") }
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.save == SaveReport(deleted: 1) && report.conflicts.count == 5)
            #expect(try container.main.peer("a").friends.map(\.key) == ["u"])
            #expect(try container.main.peer("v").friends.map(\.key) == ["w"])
            #expect(try container.main.peer("x").boss?.key == "y")
        }
    }

    /// An object that a cascade would delete is the conflict, not the object that it is linked to.
    @Test(arguments: HistoryPlace.all)
    func anObjectThatACascadeWouldDeleteIsOneConflict(place: HistoryPlace) async throws {
        try await place.withContainer(model: .library) { container, _ in
            let shelves = try container.dataSource(ShelfSource.self)
            try await shelves.perform { try $0.insert(Volume.self).key = "a" }
            try await container.withAuthor("me") { try await shelves.perform { try $0.insert(Rack.self).key = "s" } }
            try await shelves.perform { context in
                try context.fetch(Volume.self).first?.shelf = try context.fetch(Rack.self).first
            }
            await expectError(.draftConflict) { try await container.undo(author: "me") }
            let record = try #require(try await container.nextUndo(author: "me"))
            #expect(try await container.revert(record, resolving: .takeTheirs).save == SaveReport())
            #expect(try container.main.fetch(Volume.self).first?.shelf?.key == "s")
            let report = try #require(try await container.undo(author: "me", resolving: .keepMine))
            #expect(report.conflicts.map(\.entityName) == ["Volume"])
            #expect(try container.main.count(Volume.self) == 0)
        }
    }

    /// The relationships have no inverse, so the objects have no property for these links.
    @Test(arguments: HistoryPlace.all)
    func aLinkWithoutAnInverseIsALinkOfOthers(place: HistoryPlace) async throws {
        try await place.withContainer(model: .graph) { container, _ in
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { _ = (try $0.letter("old"), try $0.folder("f")) }
            try await container.withAuthor("me") {
                try await source.perform { _ = (try $0.letter("new"), try $0.person("p")) }
            }
            try await source.perform { context in
                try context.folder("f").letters.insert(try context.letter("new"))
                try context.letter("old").readBy = try context.person("p")
            }
            let error = try #require(await expectError(.draftConflict) { try await container.undo(author: "me") })
            #expect(error.failures.compactMap(\.entityName).sorted() == ["Letter", "Person"])
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.save == SaveReport() && report.conflicts.count == 2)
            #expect(try container.main.knownLetter("old").readBy?.key == "p")
            #expect(try container.main.fetch(Folder.self).first?.letters.map(\.key) == ["new"])
        }
    }

    /// The person can have one passport. The record has changed the key of the passport that another save has given the person.
    @Test(arguments: HistoryPlace.all)
    func aLinkThatWouldTakeTheLinkOfOthersIsAConflict(place: HistoryPlace) async throws {
        var model = ManagedObjectModel.graph
        model.change("Person", "passport") { $0.deleteRule = .nullify }
        model.change("Passport", "holder") { $0.isOptional = true }
        try await place.withContainer(model: model) { container, _ in
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { context in
                try context.passport("1").holder = try context.person("p")
                _ = try context.passport("2")
            }
            try await container.withAuthor("me") {
                try await source.perform { context in
                    try context.passport("1").holder = nil
                    try context.passport("2").key = "3"
                }
            }
            try await source.perform { try $0.passport("3").holder = try $0.person("p") }
            let error = try #require(await expectError(.draftConflict) { try await container.undo(author: "me") })
            #expect(error.entityName == "Person" && error.attributeName == "passport")
            try await container.undo(author: "me", resolving: .takeTheirs)
            #expect(try container.main.knownPerson("p").passport?.key == "2")
        }
    }

    // MARK: Cost

    /// Opens a store of 200 books and two tags, as often as there are bodies, so that nothing is registered. Counts the reads of
    /// the links while a body runs.
    private func withLinks(
        _ bodies: [@MainActor (PersistentContainer, Guarded<Int>) async throws -> Void]
    ) async throws {
        let directory = try TemporaryDirectory()
        let reads = Guarded(0)
        var configuration = PersistentContainer.Configuration.keeping()
        configuration.trace = { statement in
            if !statement.isWriting, statement.sql.contains("Tag_books") { reads.withLock { $0 += 1 } }
        }
        for (turn, body) in bodies.enumerated() {
            let container = try await HistoryPlace.sqlite.open(directory.store, configuration, model: .library)
            let shelves = try container.dataSource(ShelfSource.self)
            let tags = try container.dataSource(TagSource.self)
            if turn == 0 {
                try await shelves.add(ShelfValue(key: "s", books: (0..<200).map { "\($0)" }))
                try await tags.add(["x", "y"])
            }
            try await body(container, reads)
            try await container.close()
        }
    }

    private func setBooks(of tag: String, isLinked: Bool, _ container: PersistentContainer) async throws {
        let shelves = try container.dataSource(ShelfSource.self)
        try await container.perform(in: shelves, try container.dataSource(TagSource.self)) { shelves, tags in
            let tag = try #require(try tags.first(Tag.self, where: \.key, equals: tag))
            tag.books.set(isLinked ? try shelves.fetch(Volume.self) : [])
        }
    }

    private func bookCount(_ tag: String, _ container: PersistentContainer) throws -> Int? {
        try container.main.first(Tag.self, where: \.key, equals: tag)?.books.count
    }

    /// The record has removed the links, so it has no rows of them that could be read by their keys.
    @Test func aRevertOfManyLinksRunsFewStatements() async throws {
        func revertLast(_ container: PersistentContainer, _ reads: Guarded<Int>) async throws {
            let record = try #require(try await container.records().last)
            reads.withLock { $0 = 0 }
            try await container.revert(record)
            let count = reads.withLock { $0 }
            #expect((1..<50).contains(count), "\(count)")
        }
        try await withLinks([
            { container, _ in
                for (key, isLinked) in [("y", true), ("x", true), ("x", false)] {
                    try await setBooks(of: key, isLinked: isLinked, container)
                }
            },
            { container, reads in
                try await revertLast(container, reads)
                #expect(try bookCount("x", container) == 200)
            },
            { container, reads in
                try await revertLast(container, reads)
                #expect(try bookCount("x", container) == 0)
                #expect(try bookCount("y", container) == 200)
            },
        ])
    }

    @Test func aDraftThatSavesManyLinksRunsFewStatements() async throws {
        func save(_ isLinked: Bool, _ container: PersistentContainer, _ reads: Guarded<Int>) async throws {
            let tags = try container.dataSource(TagSource.self)
            let tag = try #require(try container.main.first(Tag.self, where: \.key, equals: "x"))
            let draft = try tags.draft(of: tag)
            draft.object.books.set(isLinked ? try draft.context.fetch(Volume.self) : [])
            reads.withLock { $0 = 0 }
            try await draft.save()
            let count = reads.withLock { $0 }
            #expect((1..<50).contains(count), "\(count)")
            #expect(try bookCount("x", container) == (isLinked ? 200 : 0))
        }
        try await withLinks([
            { container, reads in try await save(true, container, reads) },
            { container, reads in try await save(false, container, reads) },
        ])
    }
}
