import CoreDataSource
import Foundation
import ManagedModel
import TestSupport
import Testing

/// A class that a context learns of when a relationship is followed, because no data source lists it.
@MainActor
struct LateClassTests {
    @Test func anObjectThatWasReadWithoutAClassIsReadAgainWithIt() async throws {
        let directory = try TemporaryDirectory()
        let store = StoreLocation.sqlite(directory.url.appending(path: "garden.sqlite"))
        let first = try await PersistentContainer(model: garden, store: store)
        try await first.dataSource(GardenSource.self).perform { context in
            let bed = try context.insert(BedEntity.self)
            bed.soil = try context.insert(SoilEntity.self)
            bed.soil?.name = "clay"
        }
        try await first.close()

        let container = try await PersistentContainer(model: garden, store: store)
        let beds = try container.dataSource(BedSource.self)
        let bed = try #require(try beds.fetch(BedEntity.self).first)
        let plain: ManagedObject? = bed.relatedObject(at: 0)
        #expect(plain != nil)
        #expect(bed.soil?.name == "clay")
        #expect(bed.soil?.name == "clay")
        try await container.close()
    }

    private var garden: ManagedObjectModel {
        ManagedObjectModel(
            name: "Garden",
            entities: [
                EntityDescription(
                    name: "Bed",
                    relationships: [
                        RelationshipDescription(
                            name: "soil", destinationName: "Soil", inverseName: "beds", isOptional: true)
                    ]),
                EntityDescription(
                    name: "Soil",
                    attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)],
                    relationships: [
                        RelationshipDescription(
                            name: "beds", destinationName: "Bed", inverseName: "soil", isToMany: true, isOptional: true)
                    ]),
            ])
    }
}

private final class GardenSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [BedEntity.self, SoilEntity.self] }
}

private final class BedSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [BedEntity.self] }
}

private final class BedEntity: ManagedObject {
    override class var entityName: String { "Bed" }

    var soil: SoilEntity? {
        get { relatedObject(at: 0) }
        set { setRelatedObject(newValue, at: 0) }
    }
}

private final class SoilEntity: ManagedObject {
    override class var entityName: String { "Soil" }

    var name: String? {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}
