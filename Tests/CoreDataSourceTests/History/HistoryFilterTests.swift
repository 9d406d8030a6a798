import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// A filter for an entity includes every record that changes its objects, under whatever name the record was stored.
@MainActor
struct HistoryFilterTests {
    @Test(arguments: HistoryPlace.all)
    func aFilterForAParentIncludesItsSubEntities(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            let filter = HistoryFilter(entityNames: ["BaseEntity"])
            let records = try await container.records(where: filter)
            #expect(records.count == 1)
            #expect(try records.first?.changes(of: BaseEntity.self).count == 1)
            #expect(try await container.records(where: HistoryFilter(entityNames: ["GroupEntity"])).isEmpty)
            #expect(try await container.records(where: HistoryFilter(entityNames: ["Unknown", "A.b"])).isEmpty)
        }
    }

    /// The record of an undo of which nothing was left changes no entity, and this is known.
    @Test(arguments: HistoryPlace.all)
    func aFilterLeavesOutAnUndoThatHasChangedNothing(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            for (author, note) in [("me", "mine"), ("other", "theirs")] {
                try await container.withAuthor(author) {
                    try await contacts.perform { try $0.fetch(ContactEntity.self).first?.note = note }
                }
            }
            let report = try await container.undo(author: "me", resolving: .takeTheirs)
            #expect(report?.save == SaveReport())
            #expect(try await container.records().map(\.number) == [1, 2, 3, 4])
            let filter = HistoryFilter(entityNames: ["ContactEntity"])
            #expect(try await container.records(where: filter).map(\.number) == [1, 2, 3])
        }
    }

    /// Links are recorded under the name of one of the two relationships.
    @Test(arguments: HistoryPlace.all, ["Tag.books", "Volume.tags"])
    func linksAreFoundUnderBothOfTheirNames(place: HistoryPlace, name: String) async throws {
        try await place.withContainer(model: .library) { container, _ in
            let shelves = try container.dataSource(ShelfSource.self)
            let tags = try container.dataSource(TagSource.self)
            try await shelves.add(ShelfValue(key: "s", books: ["a"]))
            try await tags.add("x")
            try await container.perform(in: shelves, tags) { shelves, tags in
                try tags.first(Tag.self, where: \.key, equals: "x")?.books.set(try shelves.fetch(Volume.self))
            }
            let records = try await container.records(where: HistoryFilter(entityNames: [name]))
            #expect(records.map(\.number) == [3] && records.map(\.entityNames) == [["Tag.books"]])
        }
    }

    @Test(arguments: HistoryPlace.migrated)
    func aFilterForANewNameIncludesOldRecords(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        try await first.dataSource(ContactDataSource.self).add(contactList(0..<1))
        try await first.dataSource(GroupDataSource.self).add(GroupData(gid: "1", name: "one"))
        _ = try await first.historyConsumer("index")
        try await first.close()
        var model = ManagedObjectModel.contacts
        let group = try #require(model.entities.firstIndex { $0.name == "GroupEntity" })
        (model.entities[group].name, model.entities[group].renamingIdentifier) = ("Team", "GroupEntity")
        for entity in model.entities.indices {
            for index in model.entities[entity].relationships.indices
            where model.entities[entity].relationships[index].destinationName == "GroupEntity" {
                model.entities[entity].relationships[index].destinationName = "Team"
            }
        }
        model.classes = [:]
        let configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        let second = try await place.open(directory.store, configuration, model: model)
        let filter = HistoryFilter(entityNames: ["Team"])
        let records = try await second.records(where: filter)
        #expect(records.map(\.number) == [2, 3] && records.map(\.kind) == [.incoming, .migration])
        // A record keeps the name with which it was made.
        #expect(records.first?.entityNames == ["GroupEntity"])
        let index = try await second.historyConsumer("index")
        #expect(try await index.records(where: filter).all().map(\.number) == [2, 3])
        try await second.close()
    }
}
