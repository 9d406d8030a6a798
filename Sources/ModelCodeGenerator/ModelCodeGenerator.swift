public import ManagedModel

/// Writes the Swift of a model: its classes, its composites, and the model itself as a value.
///
///     let source = ModelCodeGenerator(access: .internal).source(for: model)
///
/// The source depends only on the model and the options: the same input gives the same bytes on every machine.
///
/// ``EntityDescription/codeGeneration`` determines what an entity gets: a class, an extension of a class that the author
/// writes, or nothing.
public struct ModelCodeGenerator: Sendable {
    /// The access level of the generated declarations.
    public var access: AccessLevel
    /// What every entity gets, regardless of the model; nil to follow the model.
    public var codeGeneration: CodeGeneration?

    public init(access: AccessLevel = .public, codeGeneration: CodeGeneration? = nil) {
        self.access = access
        self.codeGeneration = codeGeneration
    }

    /// A source file that imports `CoreDataSource` and can be the only file of a target.
    ///
    /// - Complexity: O(*n*²) in the attributes of the largest entity.
    public func source(for model: ManagedObjectModel) -> String { sources(for: model, parts: 1)[0] }

    /// Source files, together in a target, of which a change of the model changes few, so that the others are not compiled again.
    ///
    /// The first has the model, the composites, and the entities with composites. The other entities are divided by their names, so
    /// that none of them moves when another is added.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - parts: How many files, at least one.
    /// - Returns: The sources; some may have no entity.
    public func sources(for model: ManagedObjectModel, parts: Int) -> [String] {
        let plan = ModelPlan(for: adjusted(model))
        return (0..<max(1, parts)).map { part in
            FileText(model: model, plan: plan, access: access, division: Division(parts: parts), part: part).text
        }
    }

    /// Warnings about the classes of a model, each a sentence: entities that use the same class, or a class that is not
    /// allowed. The code for them compiles, but differs from the model.
    public func warnings(for model: ManagedObjectModel) -> [String] {
        ModelPlan(for: adjusted(model)).warnings
    }

    /// The model with the code generation that the option sets.
    private func adjusted(_ model: ManagedObjectModel) -> ManagedObjectModel {
        guard let codeGeneration else { return model }
        var model = model
        for index in model.entities.indices { model.entities[index].codeGeneration = codeGeneration }
        return model
    }
}
