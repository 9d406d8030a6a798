import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import Testing

/// What the classes of a model cannot say together is an error with a sentence.
struct ModelFaultTests {
    private func fault(_ model: ManagedObjectModel) -> String? {
        do { try model.validate() } catch { return error.message }
        return nil
    }

    @Test func theModelOfTheFixtureIsValid() {
        #expect(fault(.inCode) == nil)
        #expect(ManagedObjectModel.inCode.composites.map(\.name) == ["Address", "Position"])
        #expect(ManagedObjectModel.inCode.entity(named: "PersonEntity")?.parentName == "ContactEntity")
        #expect(ManagedObjectModel.inCode.entity(named: "Note")?.relationships.first?.inverseName == "notes")
    }

    @Test func aClassWithoutTheMacroIsRefused() {
        let model = ManagedObjectModel("M") { Handwritten.self }
        #expect(fault(model)?.hasPrefix("Handwritten is listed in a model, but has no @StoredEntity.") == true)
        let inherited = ManagedObjectModel("M") { BelowHandwritten.self }
        #expect(
            fault(inherited)?.hasPrefix("BelowHandwritten inherits from Handwritten, which has no @StoredEntity.")
                == true)
    }

    @Test func aParentThatIsNotListedIsRefused() {
        let model = ManagedObjectModel("M") { SpecialItemEntity.self }
        #expect(fault(model)?.contains("has the parent ItemEntity, which does not exist") == true)
    }

    @Test func aDestinationThatIsNotListedIsRefused() {
        let model = ManagedObjectModel("M") { OwnerEntity.self }
        #expect(
            fault(model)?.contains("The destination of OwnerEntity.next is ItemEntity, which does not exist.") == true)
    }

    @Test func twoRelationshipsWithOneInverseAreRefused() {
        let model = ManagedObjectModel("M") {
            HubEntity.self
            SpokeEntity.self
        }
        #expect(fault(model)?.contains("name SpokeEntity.hub as their inverse") == true)
    }

    @MainActor
    @Test func anEntityThatIsNotListedIsNamed() async throws {
        let container = try await PersistentContainer(model: .mail, store: .inMemory)
        let error = expectError(.unknownEntity) { try container.main.fetch(OwnerEntity.self) }
        #expect(error?.message.contains("List OwnerEntity.self in the ManagedObjectModel") == true)
        try await container.close()
    }

    @Test func aClassOfAnotherModelIsRefusedWhenAContainerOpens() async {
        var model = ManagedObjectModel("M") {
            OwnerEntity.self
            ItemEntity.self
        }
        model.entities[0].attributes.append(AttributeDescription(name: "other", type: .string, isOptional: true))
        let error = await expectError(.unreadableModel) {
            _ = try await PersistentContainer(model: model, store: .inMemory)
        }
        #expect(error?.message.contains("does not match the entity") == true)
    }
}

class Handwritten: ManagedObject {
    override class var entityName: String { "Handwritten" }
}

@StoredEntity final class BelowHandwritten: Handwritten {
    var x: Int?
}

@StoredEntity final class HubEntity: ManagedObject {
    @Related(inverse: "hub") var one: RelatedObjects<SpokeEntity>
    @Related(inverse: "hub") var other: RelatedObjects<SpokeEntity>
}

@StoredEntity final class SpokeEntity: ManagedObject {
    @Related var hub: HubEntity?
}
