import CoreDataSource
import Foundation
import ManagedModel
import Testing

/// A class that is written by hand and names a wrong column or relationship traps with a message that says which,
/// and neither reads nor stores anything.
struct WrongColumnTests {
    @Test func aColumnOfAnotherTypeTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await editPlant { $0.heightAsText = "1" }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "A property of PlantEntity of the type String uses column 1 of Plant, height (Integer 32), which stores other values. Use the index of the attribute in ManagedObjectModel.columns(of:)."
            ))
    }

    @Test func readingAColumnOfAnotherTypeTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await editPlant { _ = $0.nameAsNumber }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "A property of PlantEntity of the type Int32 uses column 0 of Plant, name (String)"))
    }

    @Test func aMissingColumnTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await editPlant { _ = $0.missing }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "PlantEntity uses column 9 of Plant, but the number of columns is 3."))
    }

    @Test func aMissingRelationshipTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await editPlant { _ = $0.nobody }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "PlantEntity uses relationship 2 of Plant, but the number of relationships is 2."))
    }

    @Test func aRelationshipToManyObjectsReadAsOneTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await editPlant { _ = $0.seedsAsOne }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "PlantEntity uses relationship 1 of Plant, seeds, which leads to many objects: use relatedObjects(at:) or relatedList(at:)."
            ))
    }

    @Test func theRightOnesWork() async throws {
        try await editPlant { plant in
            (plant.name, plant.height) = ("Fern", 3)
            #expect((plant.name, plant.height) == ("Fern", 3))
            #expect(plant.parent == nil && plant.seeds.isEmpty)
        }
    }
}

private func editPlant(_ body: @Sendable (PlantEntity) -> Void) async throws {
    let model = ManagedObjectModel(
        name: "Garden",
        entities: [
            EntityDescription(
                name: "Plant",
                attributes: [
                    AttributeDescription(name: "name", type: .string, isOptional: true),
                    AttributeDescription(name: "height", type: .integer32, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "parent", destinationName: "Plant", inverseName: "seeds", isOptional: true),
                    RelationshipDescription(
                        name: "seeds", destinationName: "Plant", inverseName: "parent", isToMany: true, isOptional: true
                    ),
                ])
        ])
    let container = try await PersistentContainer(model: model, store: .inMemory)
    try await container.dataSource(PlainDataSource<PlantEntity>.self).perform { context in
        body(try context.insert(PlantEntity.self))
    }
}

private final class PlantEntity: ManagedObject {
    override class var entityName: String { "Plant" }

    var name: String? {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
    var height: Int32 {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }
    var parent: PlantEntity? { relatedObject(at: 0) }
    var seeds: RelatedObjects<PlantEntity> { relatedObjects(at: 1) }

    var nameAsNumber: Int32 { attribute(at: 0) }
    var heightAsText: String {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }
    var missing: Int64? { attribute(at: 9) }
    var nobody: PlantEntity? { relatedObject(at: 2) }
    var seedsAsOne: PlantEntity? { relatedObject(at: 1) }
}
