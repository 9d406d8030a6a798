import ManagedModel
@testable import ModelMigration
import Testing

/// Which constraints a migration checks: those that the old model did not keep.
@Suite struct ConstraintPlanTests {
    private static func toOne(
        _ name: String, _ destination: String, _ inverse: String? = nil, renamedFrom: String? = nil
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name, destinationName: destination, inverseName: inverse, isOptional: true,
            renamingIdentifier: renamedFrom)
    }

    private static func toMany(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
        RelationshipDescription(
            name: name, destinationName: destination, inverseName: inverse, isToMany: true, isOptional: true)
    }

    /// An order has lines, and a line has a product. A gift line is a line.
    private static func model(_ edit: (inout [EntityDescription]) -> Void = { _ in }) -> ManagedObjectModel {
        var entities = [
            EntityDescription(name: "Order", relationships: [toMany("lines", "Line", "order")]),
            EntityDescription(
                name: "Line",
                attributes: [AttributeDescription(name: "number", type: .integer32, isOptional: true)],
                relationships: [toOne("order", "Order", "lines"), toOne("product", "Product")],
                uniquenessConstraints: [["order", "product"], ["product", "number"]]),
            EntityDescription(name: "Gift", parentName: "Line"),
            EntityDescription(name: "Product"),
        ]
        edit(&entities)
        return ManagedObjectModel(name: "Shop", entities: entities)
    }

    private func problems(_ edit: (inout [EntityDescription]) -> Void) throws -> [String] {
        let new = Self.model(edit)
        try new.validate()
        let plan = MigrationPlan(from: Self.model(), to: new)
        #expect(plan.obstacles == [] && plan.changes != [])
        return plan.conditions.map { String($0.problem.prefix { $0 != "," }) }
    }

    private static let note = AttributeDescription(name: "note", type: .string, isOptional: true)

    @Test func aConstraintWithARelationshipIsNotNew() throws {
        #expect(try problems { $0[3].attributes.append(Self.note) } == [])
        #expect(try problems { $0[1].attributes.append(Self.note) } == [])
        #expect(try problems { $0[1].uniquenessConstraints = [["number", "product", "order"]] } == [])
    }

    @Test func aRenamedRelationshipIsStillUnique() throws {
        let problems = try problems {
            $0[1].relationships[1] = Self.toOne("item", "Product", renamedFrom: "product")
            $0[1].uniquenessConstraints = [["order", "item"], ["item", "number"]]
        }
        #expect(problems == [])
    }

    @Test func aConstraintThatTheOldModelDidNotHaveIsChecked() throws {
        #expect(
            try problems { $0[1].uniquenessConstraints = [["order"]] } == ["Line: objects have the same order"])
        let renamed = try problems {
            $0[1].relationships[1] = Self.toOne("item", "Product", renamedFrom: "product")
            $0[1].uniquenessConstraints = [["item"]]
        }
        #expect(renamed == ["Line: objects have the same item"])
    }

    /// Rows with nil in a constraint are never equal.
    @Test func aPropertyWithoutValuesCannotBreakAConstraint() throws {
        let attribute = try problems {
            $0[3].attributes.append(Self.note)
            $0[3].uniquenessConstraints = [["note"]]
        }
        #expect(attribute == [])
        let relationship = try problems {
            $0[1].relationships.append(Self.toOne("voucher", "Product"))
            $0[1].uniquenessConstraints.append(["voucher"])
            $0[1].uniquenessConstraints.append(["voucher", "number"])
        }
        #expect(relationship == [])
    }

    /// After the obstacle is mended, the property can have values.
    @Test func aConstraintIsCheckedAfterAnObstacleIsMended() {
        let new = Self.model {
            $0[1].attributes[0].type = .string
            $0[1].uniquenessConstraints.append(["number"])
        }
        let plan = MigrationPlan(from: Self.model(), to: new)
        #expect(!plan.isPossible)
        #expect(plan.conditions.contains { $0.problem.hasPrefix("Line: objects have the same number,") })
    }
}
