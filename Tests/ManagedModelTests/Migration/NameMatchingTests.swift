import ManagedModel
@testable import ModelMigration
import Testing

/// Which entities of a new model are which of an old one.
@Suite struct NameMatchingTests {
    /// `Automobile<Car` is an entity Automobile with the renaming identifier Car.
    private static func model(_ spelling: String) -> ManagedObjectModel {
        let entities = spelling.split(separator: " ").map { word in
            let parts = word.split(separator: "<").map(String.init)
            return EntityDescription(name: parts[0], renamingIdentifier: parts.count > 1 ? parts[1] : nil)
        }
        return ManagedObjectModel(name: "", entities: entities)
    }

    @Test(arguments: [
        ("Car", "Car", "Car=Car"),
        ("Car", "Car<Vehicle", "Car=Car"),
        ("Car", "Automobile<Car", "Automobile=Car"),
        ("Car", "Automobile", ""),
        // One identifier along a chain, and jumps over its versions.
        ("Automobile<Car", "Vehicle<Car", "Vehicle=Automobile"),
        ("Automobile<Car", "Vehicle<Automobile", "Vehicle=Automobile"),
        ("Automobile<Car", "Car", "Car=Automobile"),
        ("Automobile<Car", "Automobile", "Automobile=Automobile"),
        ("Automobile<Car", "Automobile<Car", "Automobile=Automobile"),
        // A new entity takes the name that an old one had.
        ("Automobile<Car", "Automobile<Car Car", "Automobile=Automobile"),
        // Also for those who have skipped the version in which it was renamed.
        ("Car", "Automobile<Car Car", "Automobile=Car"),
        ("Automobile<Car Car", "Vehicle<Car Car", "Car=Car Vehicle=Automobile"),
        ("Automobile<Car Car", "Automobile<Automobile Wagon<Car", "Automobile=Automobile Wagon=Car"),
        ("Automobile<Car Car", "Vehicle<Automobile Wagon<Car", "Vehicle=Automobile Wagon=Car"),
        ("Automobile<Car Car", "Automobile Car", "Automobile=Automobile Car=Car"),
        ("Automobile<Car", "Automobile Car", "Automobile=Automobile"),
        ("Automobile<Car Car", "Automobile<Car Car", "Automobile=Automobile Car=Car"),
        // It says itself that it is what has its name, whoever was called so first.
        ("A<B B", "B<B", "B=B"),
        // They exchange their names.
        ("A B", "A<B B<A", "A=B B=A"),
        ("A B C", "B<A C<B A<C", "A=C B=A C=B"),
    ])
    func entitiesAreMatchedByNameAndIdentifier(_ old: String, _ new: String, _ pairs: String) {
        let plan = MigrationPlan(from: NameMatchingTests.model(old), to: NameMatchingTests.model(new))
        #expect(plan.entities.map { "\($0.newName)=\($0.oldName)" }.joined(separator: " ") == pairs)
        #expect(plan.obstacles == [])
    }

    /// Whatever was carried over could be the wrong rows.
    @Test(arguments: [
        // Automobile is Car, and the other Automobile is gone; or both stayed, and the identifier is left over.
        ("Car Automobile", "Automobile<Car Car", "Automobile"),
        ("Automobile<Car Car", "Automobile Wagon<Car", "Wagon"),
        ("Automobile<Car Car", "Automobile Car Wagon<Car", "Wagon"),
        // Wagon is what was called Car first, or what is called Car now.
        ("Automobile<Car Car", "Wagon<Car", "Wagon"),
    ])
    func anAmbiguousRenamingIsNotCarriedOver(_ old: String, _ new: String, _ name: String) {
        let plan = MigrationPlan(from: NameMatchingTests.model(old), to: NameMatchingTests.model(new))
        #expect(plan.obstacles.count == 1)
        #expect(plan.obstacles.first?.hasPrefix("\(name): its renaming identifier is Car, ") == true)
    }

    @Test func twoEntitiesCannotBeTheSameOldOne() {
        let plan = MigrationPlan(from: NameMatchingTests.model("Car"), to: NameMatchingTests.model("A<Car B<Car"))
        #expect(
            plan.obstacles == [
                "A and B have the same renaming identifier. Remove the identifier from one of the two."
            ])
    }
}
