import CoreDataSource
import ErrorExpectations
import Testing

/// A class for which the model generates only an extension needs overrides. The errors name a missing `entityName`, and the line
/// that the class needs.
@MainActor
struct MissingOverrideTests {
    private class Animal: ManagedObject {
        override class var entityName: String { "Animal" }
    }

    private class Puppy: Animal {}

    private final class Keeper: ManagedObject {}

    private final class Animals: DataSource<Never> {
        override class var entities: [ManagedObject.Type] { [Animal.self] }
    }

    private final class Keepers: DataSource<Never> {
        override class var entities: [ManagedObject.Type] { [Keeper.self] }
    }

    private final class AnimalsFirst: DataSource<Never> {
        override class var entities: [ManagedObject.Type] { [Animal.self, Puppy.self] }
    }

    private final class PuppiesFirst: DataSource<Never> {
        override class var entities: [ManagedObject.Type] { [Puppy.self, Animal.self] }
    }

    private static let puppy =
        "Puppy does not override entityName, so it has the entity Animal of its superclass. If the model generates an extension of Puppy, add to the class: override class var entityName: String { Puppy.Generated.entityName }"

    private static let keeper =
        "Keeper does not override entityName, so it has no entity. If the model generates an extension of Keeper, add to the class: override class var entityName: String { Keeper.Generated.entityName }"

    private func container(isAbstract: Bool) async throws -> PersistentContainer {
        let name = AttributeDescription(name: "name", type: .string, isOptional: true)
        let animal = EntityDescription(name: "Animal", isAbstract: isAbstract, attributes: [name])
        let puppy = EntityDescription(name: "Puppy", parentName: "Animal")
        let model = ManagedObjectModel(name: "Zoo", entities: [animal, puppy, EntityDescription(name: "Keeper")])
        return try await PersistentContainer(model: model, store: .inMemory)
    }

    @Test(arguments: [false, true])
    func theErrorOfAnInsertedObjectNamesTheOverride(isAbstract: Bool) async throws {
        let container = try await container(isAbstract: isAbstract)
        let animals = try container.dataSource(Animals.self)
        let error = await expectError(isAbstract ? .abstractEntity : .unknownEntity) {
            try await animals.perform { context in _ = try context.insert(Puppy.self) }
        }
        #expect(error?.message.contains(Self.puppy) == true)
        try await container.close()
    }

    @Test func theErrorOfAFetchNamesTheOverride() async throws {
        let container = try await container(isAbstract: false)
        let animals = try container.dataSource(Animals.self)
        let message = try await animals.perform { context in
            _ = try context.insert(Animal.self)
            return expectError(.unknownEntity) { try context.fetch(Puppy.self) }?.message
        }
        #expect(message?.contains(Self.puppy) == true)
        try await container.close()
    }

    @Test func theErrorOfAClassWithoutASuperclassNamesTheOverride() async throws {
        let container = try await container(isAbstract: false)
        let listed = expectError(.unknownEntity) { try container.dataSource(Keepers.self) }
        #expect(listed?.message.contains(Self.keeper) == true)
        let fetched = expectError(.unknownEntity) { try container.main.fetch(Keeper.self) }
        #expect(fetched?.message.contains(Self.keeper) == true)
        try await container.close()
    }

    /// With the classes in the second order, an inserted Puppy would be an Animal in the store, without an error.
    @Test func aDataSourceThatListsBothClassesIsRefused() async throws {
        let container = try await container(isAbstract: false)
        for source in [AnimalsFirst.self, PuppiesFirst.self] as [EntityDataSource.Type] {
            let error = expectError(.unknownEntity) { try container.dataSource(source) }
            #expect(error?.message.contains(Self.puppy) == true)
        }
        try await container.close()
    }

    /// The class itself is right: the messages stay as they are.
    @Test func aClassWithTheOverrideIsNotBlamed() async throws {
        let container = try await container(isAbstract: true)
        let animals = try container.dataSource(Animals.self)
        let error = await expectError(.abstractEntity) {
            try await animals.perform { context in _ = try context.insert(Animal.self) }
        }
        #expect(error?.message.contains("Insert an object of a sub-entity.") == true)
        try await container.close()
    }
}
