import ManagedModel
@testable import ModelMigration
import Testing

/// A migration can keep links, and lose their order.
@Suite struct OrderLossTests {
    private static func changed(
        _ model: ManagedObjectModel, _ name: String, _ edit: (inout EntityDescription) -> Void
    ) -> ManagedObjectModel {
        var model = model
        for index in model.entities.indices where model.entities[index].name == name { edit(&model.entities[index]) }
        return model
    }

    /// The model of the other tests, in which `Contact.friends` and `Town.people` are ordered.
    private static let ordered = changed(
        changed(MigrationPlanTests.old, "Contact") { $0.relationships[1].isOrdered = true }, "Town"
    ) { $0.relationships[0].isOrdered = true }

    private func losses(to model: ManagedObjectModel, from old: ManagedObjectModel = Self.ordered) -> [String] {
        MigrationPlan(from: old, to: model).losses.map(\.description)
    }

    @Test func aRelationshipThatBecomesUnorderedLosesItsOrder() {
        let people = "Town.people: the order (to-many Contact, ordered, optional)"
        #expect(
            losses(to: MigrationPlanTests.old) == [
                "Contact.friends: the order (to-many Contact, ordered, optional)", people,
            ])
        let renamed = Self.changed(Self.ordered, "Town") {
            $0.relationships[0].name = "residents"
            $0.relationships[0].renamingIdentifier = "people"
        }
        let inverse = Self.changed(renamed, "Contact") { $0.relationships[0].inverseName = "residents" }
        #expect(losses(to: inverse) == [])
        #expect(losses(to: Self.changed(inverse, "Town") { $0.relationships[0].isOrdered = false }) == [people])
        #expect(losses(to: Self.ordered, from: MigrationPlanTests.old) == [])
    }

    /// The links of the other end stay. If this end is removed, too, only the links are listed.
    @Test func theRemovedEndOfARelationshipLosesItsOrder() {
        let oneEnd = Self.changed(Self.changed(Self.ordered, "Town") { $0.relationships = [] }, "Contact") {
            $0.relationships[0].inverseName = nil
        }
        #expect(losses(to: oneEnd) == ["Town.people: the order (to-many Contact, ordered, optional)"])
        let noEnd = Self.changed(oneEnd, "Contact") { $0.relationships.removeFirst() }
        #expect(losses(to: noEnd) == ["Contact.home: the links (to-one Town, optional)"])
    }
}
