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
    public func source(for model: ManagedObjectModel) -> String {
        let plan = ModelPlan(for: adjusted(model))
        var text = SourceText()
        let name = SourceText.comment(model.name)
        text.line("// Made by model-codegen from the model \(name). Change the model, not this file.")
        text.line("// swift-format-ignore-file")
        text.line()
        ImportText(plan: plan, access: access).write(to: &text)
        for entity in plan.entities {
            text.line()
            EntityText(plan: entity, access: access).write(to: &text)
        }
        for entity in plan.entities {
            guard let name = entity.className, entity.generation != .manual,
                let requests = plan.fetchRequests[entity.entity.name]
            else { continue }
            text.line()
            FetchRequestText(className: name, plans: requests, access: access).write(to: &text)
        }
        for composite in plan.composites {
            text.line()
            CompositeText(plan: composite, access: access).write(to: &text)
        }
        text.line()
        ModelLiteral(model: model, plan: plan, access: access).write(to: &text)
        return text.text
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
