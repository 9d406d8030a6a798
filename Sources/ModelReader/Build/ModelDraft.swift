internal import ManagedModel

/// A model whose names have not been resolved yet, and the positions for its errors.
struct ModelDraft {
    var model: ManagedObjectModel
    var log: DiagnosticLog
    var lines = SourceLines()
    /// The entity that the file gives for a relationship's inverse, by the relationship.
    var inverseEntities: [PropertyPath: String] = [:]
}

/// A property of an entity, or of a composite.
struct PropertyPath: Hashable {
    var owner: String
    var property: String
}

/// The lines on which entities, composites and properties are declared.
struct SourceLines {
    private var owners: [String: Int] = [:]
    private var properties: [PropertyPath: Int] = [:]

    mutating func note(_ line: Int, of owner: String) {
        owners[owner] = line
    }

    mutating func note(_ line: Int, of property: String, in owner: String) {
        properties[PropertyPath(owner: owner, property: property)] = line
    }

    /// The line of the property, or of its owner.
    func line(of property: String?, in owner: String?) -> Int? {
        guard let owner else { return nil }
        return property.flatMap { properties[PropertyPath(owner: owner, property: $0)] } ?? owners[owner]
    }
}
