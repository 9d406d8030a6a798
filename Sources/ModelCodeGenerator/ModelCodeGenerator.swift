public import ManagedModel

/// Writes the Swift of a model: its classes, its composites, and the model itself as a value.
///
///     let source = ModelCodeGenerator(access: .internal).source(for: model)
///
/// The text depends on the model and the options and on nothing else: the same input gives the same bytes on every
/// machine.
///
/// What an entity gets is said by ``EntityDescription/codeGeneration``: a class, an extension of a class that the author
/// writes, or nothing.
public struct ModelCodeGenerator: Sendable {
    /// Who sees the generated declarations.
    public var access: AccessLevel
    /// What every entity gets, whatever the model says; nil to follow the model.
    public var codeGeneration: CodeGeneration?

    public init(access: AccessLevel = .public, codeGeneration: CodeGeneration? = nil) {
        self.access = access
        self.codeGeneration = codeGeneration
    }

    /// One source file, which imports `CoreDataSource` and can stand in a target of its own.
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

    /// What is odd about the classes of a model, each a whole sentence: entities that ask for the same class, or for one
    /// that cannot be. The code for them compiles, but is not what the model says.
    public func warnings(for model: ManagedObjectModel) -> [String] {
        ModelPlan(for: adjusted(model)).warnings
    }

    /// The model with the code generation that the option asks for.
    private func adjusted(_ model: ManagedObjectModel) -> ManagedObjectModel {
        guard let codeGeneration else { return model }
        var model = model
        for index in model.entities.indices { model.entities[index].codeGeneration = codeGeneration }
        return model
    }
}
