public import ManagedModel

/// Writes the Swift source for a model: classes, composites, and the model as a value.
///
///     let source = ModelCodeGenerator(access: .internal).source(for: model)
///
/// The source depends only on the model and the options. Equal inputs give the same bytes on every machine.
///
/// The code for an entity depends on ``EntityDescription/codeGeneration``: a class, an extension of a class that the author
/// writes, or no code.
public struct ModelCodeGenerator: Sendable {
    /// The access level of the generated declarations.
    public var access: AccessLevel
    /// The code generation for every entity; nil to use the code generation of each entity.
    public var codeGeneration: CodeGeneration?

    public init(access: AccessLevel = .public, codeGeneration: CodeGeneration? = nil) {
        self.access = access
        self.codeGeneration = codeGeneration
    }

    /// Returns the source for a model in one file. The file imports `CoreDataSource`, and can be the only file of a target.
    ///
    /// - Complexity: O(*n*²) in the attributes of the largest entity.
    public func source(for model: ManagedObjectModel) -> String { sources(for: model, parts: 1)[0] }

    /// Returns the source for a model in several files of one target. A change of the model changes only a few files, so the
    /// other files are not compiled again.
    ///
    /// The first file has the model, the composites, and the entities with composites. The file of every other entity
    /// follows from the entity's name, so a new entity never moves an old entity to another file.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - parts: The number of files, at least one.
    /// - Returns: The source of each file. A file can be without entities.
    public func sources(for model: ManagedObjectModel, parts: Int) -> [String] {
        let plan = ModelPlan(for: adjusted(model))
        return (0..<max(1, parts)).map { part in
            FileWriter(model: model, plan: plan, access: access, division: Division(parts: parts), part: part).text
        }
    }

    /// Warnings about differences between the generated code and the model, each in one or more sentences. For example, two
    /// entities have the same class, or Swift does not allow the name of a class. The code compiles nevertheless.
    public func warnings(for model: ManagedObjectModel) -> [String] {
        ModelPlan(for: adjusted(model)).warnings
    }

    private func adjusted(_ model: ManagedObjectModel) -> ManagedObjectModel {
        guard let codeGeneration else { return model }
        var model = model
        for index in model.entities.indices { model.entities[index].codeGeneration = codeGeneration }
        return model
    }
}
