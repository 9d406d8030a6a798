import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// `container.saves` says who has made a save: the author, the data source, and the named container.
@MainActor
struct SaveAuthorTests {
    private func saves(_ count: Int, of saves: CommittedSaves) async -> [CommittedSave] {
        var (found, iterator) = ([CommittedSave](), saves.makeAsyncIterator())
        while found.count < count, let event = await iterator.next() {
            if case .save(let save) = event { found.append(save) }
        }
        return found
    }

    @Test(arguments: CommittedSavesTests.Place.all)
    func aSaveHasItsAuthorAndItsDataSource(place: CommittedSavesTests.Place) async throws {
        try await place.withContainer { container in
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            let all = container.saves
            try await container.withAuthor("Zoë") { try await contacts.add(contactList(0..<1)) }
            try await contacts.perform { try $0.insert(ContactEntity.self).uid = "new" }
            try await container.withAuthor("import") { try await groups.add(GroupData(gid: "1", name: "a")) }
            let found = await saves(3, of: all)
            #expect(found.map(\.author) == ["Zoë", nil, "import"])
            #expect(found.map(\.dataSourceName) == ["ContactDataSource", "ContactDataSource", "GroupDataSource"])
            #expect(found.map(\.kind) == [.incoming, .local, .incoming])
            #expect("\(found[0])" == "1 inserted, 0 updated, 0 deleted, author Zoë")
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func theSaveOfAnotherProcessHasItsAuthorAndTheNameOfItsContainer(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        var configuration = PersistentContainer.Configuration(synchronous: .normal, author: "sync")
        configuration.name = "widget"
        let (writer, reader) = (try place.open(configuration: configuration), try place.open())
        #expect(writer.name == "widget" && reader.name == nil)
        let all = reader.saves
        _ = try reader.dataSource(GroupDataSource.self)
        try await writer.dataSource(ContactDataSource.self).add(contactList(0..<2))
        let save = try #require(await saves(1, of: all).first)
        #expect(save.author == "sync" && save.dataSourceName == "ContactDataSource" && save.kind == .incoming)
        #expect(save.member?.name.prefix { $0 != "@" } == "widget")
        #expect(save.member?.description.contains("(widget") == true)
        try await writer.close()
        try await reader.close()
    }

    @Test(arguments: [CommittedSavesTests.Place.memory, .sqlite])
    func theHistoryHasTheNameOfTheContainer(place: CommittedSavesTests.Place) async throws {
        let directory = try TemporaryDirectory()
        let configuration = PersistentContainer.Configuration(
            history: .kept(for: .seconds(600), upTo: 1 << 20), name: "importer")
        let container = try await PersistentContainer(
            model: .contacts, store: place == .memory ? .inMemory : .sqlite(directory.store),
            configuration: configuration)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
        var names: [String] = []
        for try await record in container.history() { names.append(record.member.name) }
        #expect(names.last == "importer")
        try await container.close()
    }
}
