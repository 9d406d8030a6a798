import CoreDataSource

/// An object with a title, from which other strings are derived.
final class CanonicalEntry: ManagedObject {
    override class var entityName: String { "Entry" }
}

extension ManagedObjectModel {
    static func canonical(_ derived: [AttributeDescription], unique: [[String]] = []) -> ManagedObjectModel {
        let title = AttributeDescription(name: "title", type: .string, isOptional: true)
        let entry = EntityDescription(name: "Entry", attributes: [title] + derived, uniquenessConstraints: unique)
        return ManagedObjectModel(name: "Canonical", entities: [entry])
    }
}
