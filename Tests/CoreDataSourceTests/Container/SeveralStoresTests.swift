import CoreDataSource
import CoreDataSourceActiveRecord
import ErrorExpectations
import Foundation
import Testing

/// Several stores of one app, each with a part of the model.
@MainActor
struct SeveralStoresTests {
    private static let model = {
        var model = ManagedObjectModel.chat
        model.configurations = [
            EntityConfiguration(name: "People", entityNames: ["Sender"]),
            EntityConfiguration(name: "Talk", entityNames: ["Room", "Message"]),
        ]
        return model
    }()

    private func descriptions(_ folder: URL) -> [StoreDescription] {
        [
            StoreDescription(
                name: "people", location: .sqlite(folder.appending(component: "people.sqlite")),
                modelConfiguration: "People", databaseKey: "1"),
            StoreDescription(
                name: "talk", location: .sqlite(folder.appending(component: "talk.sqlite")),
                modelConfiguration: "Talk"),
        ]
    }

    @Test func eachStoreHasTheEntitiesOfItsConfiguration() async throws {
        let directory = try TemporaryDirectory()
        let stores = await PersistentContainer.open(descriptions(directory.url), model: Self.model)
        #expect(stores.errors.isEmpty)
        let (people, talk) = (try stores.container(named: "people"), try stores.container(named: "talk"))
        let senders = try people.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "s", number: 1))
        try await talk.dataSource(RoomDataSource.self).add(ItemData(key: "r", number: 1))
        #expect(try Item.all(in: people.main).map(\.key) == ["s"] && Item.all(in: talk.main).map(\.key) == ["r"])
        expectError(.unknownEntity) { _ = try people.dataSource(RoomDataSource.self) }
        try await stores.close()
    }

    @Test func aStoreThatCannotBeOpenedKeepsNoOtherFromIt() async throws {
        let directory = try TemporaryDirectory()
        var descriptions = descriptions(directory.url)
        try Data("no database".utf8).write(to: directory.url.appending(component: "people.sqlite"))
        descriptions.append(StoreDescription(name: "none", location: .inMemory, modelConfiguration: "None"))
        descriptions.append(StoreDescription(name: "again", location: descriptions[1].location))
        let stores = await PersistentContainer.open(descriptions, model: Self.model)
        #expect(Array(stores.containers.keys) == ["talk"])
        let codes = stores.errors.mapValues { ($0 as? DataSourceError)?.code }
        #expect(codes == ["people": .notADatabase, "none": .unreadableModel, "again": .storeInUse])
        expectError(.notADatabase) { _ = try stores.container(named: "people") }
        try await stores.close()
    }

    @Test func aStoreIsResetForItsOwnEntitiesAndKeyOnly() async throws {
        let directory = try TemporaryDirectory()
        let first = await PersistentContainer.open(descriptions(directory.url), model: Self.model)
        try await first.close()
        var (changed, model) = (descriptions(directory.url), Self.model)
        changed[0].databaseKey = "2"
        let second = await PersistentContainer.open(changed, model: model)
        #expect(second.containers.mapValues(\.startup.isReset) == ["people": true, "talk": false])
        try await second.close()
        for index in model.entities.indices where model.entities[index].name == "Room" {
            model.entities[index].attributes.append(
                AttributeDescription(name: "topic", type: .string, isOptional: true))
        }
        let third = await PersistentContainer.open(changed, model: model)
        #expect(third.containers.mapValues(\.startup.isReset) == ["people": false, "talk": true])
        try await third.close()
    }

    @Test func twoDescriptionsOfOneNameTrap() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let description = StoreDescription(name: "one", location: .inMemory)
            _ = await PersistentContainer.open([description, description], model: .chat)
        }
        #expect(
            String(decoding: try #require(result).standardErrorContent, as: UTF8.self).contains(
                "Two store descriptions are named one. Give each store a different name."))
    }
}
