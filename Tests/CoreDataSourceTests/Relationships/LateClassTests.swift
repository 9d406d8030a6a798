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
        try await first.dataSource(PlainDataSource<BedEntity, SoilEntity>.self).perform { context in
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

    /// A cascade deletes an object of an entity that nobody owns. When its class is met, the object must not be read as another one.
    @Test(arguments: [true, false]) func aCascadedDeletionSurvivesTheFirstUseOfItsClass(isDraft: Bool) async throws {
        let directory = try TemporaryDirectory()
        let first = try await PersistentContainer(model: garden(.cascade), store: .sqlite(directory.store))
        try await first.dataSource(PlainDataSource<BedEntity, SoilEntity>.self).perform { context in
            let bed = try context.insert(BedEntity.self)
            bed.soil = try context.insert(SoilEntity.self)
        }
        try await first.close()

        let container = try await PersistentContainer(model: garden(.cascade), store: .sqlite(directory.store))
        let beds = try container.dataSource(BedSource.self)
        if isDraft {
            let draft = try beds.draft(of: try #require(try beds.fetch(BedEntity.self).first))
            try draft.context.delete(draft.object)
            #expect(try draft.context.fetch(SoilEntity.self).isEmpty)
            draft.undo()
            #expect(try draft.context.count(SoilEntity.self) == 1)
            draft.redo()
            #expect(try await draft.save().save == SaveReport(deleted: 2))
        } else {
            #expect(try await beds.delete("all") == SaveReport(deleted: 2))
        }
        #expect(try container.main.count(BedEntity.self) == 0 && container.main.count(SoilEntity.self) == 0)
        try await container.close()
        try expectIntact(directory.store)
    }

    private var garden: ManagedObjectModel { garden(.nullify) }

    /// - Parameter rule: What deleting a bed does to its soil.
    private func garden(_ rule: DeleteRule) -> ManagedObjectModel {
        ManagedObjectModel(
            name: "Garden",
            entities: [
                EntityDescription(
                    name: "Bed",
                    relationships: [
                        RelationshipDescription(
                            name: "soil", destinationName: "Soil", inverseName: "beds", isOptional: true,
                            deleteRule: rule)
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

private final class BedSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [BedEntity.self] }

    /// Deletes all beds, and looks at what that has reached.
    override func onDelete(_ value: any Sendable, in context: PrivateContext) throws {
        for bed in try context.fetch(BedEntity.self) { context.delete(bed) }
        #expect(try context.count(BedEntity.self) == 0)
        #expect(try context.fetch(SoilEntity.self).isEmpty)
    }
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
