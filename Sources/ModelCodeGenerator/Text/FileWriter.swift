internal import ManagedModel

/// Divides the entities of a model among files.
struct Division {
    /// The number of files, at least one.
    let parts: Int

    /// Returns the index of an entity's file. Entities with composites are in the first file, which also has the code that
    /// reads and writes composites.
    func part(of plan: EntityPlan) -> Int {
        if parts < 2 || plan.list.properties.contains(where: { $0.type.accessor == .composite }) { return 0 }
        // FNV-1a gives the same hash on every machine.
        let hash = plan.entity.name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return 1 + Int(hash % UInt32(parts - 1))
    }
}

/// Writes one file of a model.
struct FileWriter {
    let model: ManagedObjectModel
    let plan: ModelPlan
    let access: AccessLevel
    let division: Division
    let part: Int

    var text: String {
        var text = SourceWriter()
        let name = SourceWriter.comment(model.name)
        text.line("// Made by model-codegen from the model \(name). Change the model, not this file.")
        text.line("// swift-format-ignore-file")
        if part > 0, entities.isEmpty { return text.text }
        text.line()
        ImportWriter(plan: plan, entities: entities, isWhole: part == 0, access: access).write(to: &text)
        for entity in entities {
            text.line()
            EntityWriter(plan: entity, access: access).write(to: &text)
        }
        for entity in entities {
            guard let name = entity.className, entity.generation != .manual,
                let requests = plan.fetchRequests[entity.entity.name]
            else { continue }
            text.line()
            let types = TypeReferences(members: entity.members)
            FetchRequestText(className: name, plans: requests, access: access, types: types).write(to: &text)
        }
        let literal = ModelLiteral(model: model, plan: plan, access: access)
        let names = Set(entities.map(\.entity.name))
        if part == 0 {
            for composite in plan.composites {
                text.line()
                CompositeWriter(plan: composite, access: access).write(to: &text)
            }
            text.line()
            literal.write(to: &text)
        }
        text.line()
        literal.writeEntities(named: names, isDivided: division.parts > 1, isFirst: part == 0, to: &text)
        return text.text
    }

    private var entities: [EntityPlan] { plan.entities.filter { division.part(of: $0) == part } }
}

/// Writes the imports of a file, each with the lowest possible access level. The compiler warns if an import is more visible
/// than the declarations that use it.
struct ImportWriter {
    let plan: ModelPlan
    /// The entities of the file.
    let entities: [EntityPlan]
    /// Whether the file also has the model and the composites.
    let isWhole: Bool
    let access: AccessLevel

    func write(to text: inout SourceWriter) {
        // If no visible declaration uses the module, the import has no access level. Such an import is compatible with
        // every other import of the module, in every mode of the app's target.
        text.line("\(isVisible ? access.prefix : "")import CoreDataSource")
        if isFoundationInDeclarations {
            text.line("\(access.prefix)import Foundation")
        } else if isFoundationInLiteral {
            text.line("import Foundation")
        }
    }

    /// Whether a visible declaration in the file uses the module.
    private var isVisible: Bool { isWhole || entities.contains(where: usesLibraryVisibly) }

    /// Whether a visible declaration for the entity names a type of the library. Other declarations, such as those of an entity whose
    /// superclass is in the model, use only the model's classes and types of Swift and Foundation.
    private func usesLibraryVisibly(_ entity: EntityPlan) -> Bool {
        guard entity.className != nil, entity.generation != .manual else { return false }
        let requests = plan.fetchRequests[entity.entity.name] ?? []
        return entity.generation == .class && entity.superclassName == EntityPlan.rootClassName
            || requests.contains { $0.omissionReason == nil }
            || entity.relationships.relationships.contains {
                $0.kind == .toMany || $0.destination == EntityPlan.rootClassName
            }
    }

    private var isFoundationInDeclarations: Bool {
        (entities.map(\.list) + (isWhole ? plan.composites.map(\.list) : [])).contains { list in
            list.properties.contains(where: \.type.needsFoundation)
        }
    }

    private var isFoundationInLiteral: Bool {
        let composites = isWhole ? plan.model.composites.flatMap(\.attributes) : []
        let attributes = entities.flatMap(\.entity.attributes) + composites
        return attributes.contains { attribute in
            [attribute.defaultValue, attribute.minimum, attribute.maximum].contains { $0?.needsFoundation == true }
        }
    }
}

/// Writes an extension of an entity's class with a function for each fetch request.
struct FetchRequestText {
    let className: String
    let plans: [FetchRequestPlan]
    let access: AccessLevel
    let types: TypeReferences

    func write(to text: inout SourceWriter) {
        if plans.allSatisfy({ $0.omissionReason != nil }) { return plans.forEach { writeOmission($0, to: &text) } }
        text.block("nonisolated extension \(Identifier.escaped(className)) {") { text in
            for (index, plan) in plans.enumerated() {
                if index > 0 { text.line() }
                if plan.omissionReason != nil { writeOmission(plan, to: &text) } else { writeFunction(plan, to: &text) }
            }
        }
    }

    private func writeOmission(_ plan: FetchRequestPlan, to text: inout SourceWriter) {
        let name = SourceWriter.comment(plan.template.name)
        text.line("// The fetch request \(name) has no function: \(plan.omissionReason ?? "").")
    }

    private func writeFunction(_ plan: FetchRequestPlan, to text: inout SourceWriter) {
        let template = plan.template
        let what = template.predicateFormat.map { "`\($0)`" } ?? "all objects of `\(template.entityName)`"
        text.documentation(["The fetch request `\(template.name)`: \(what)."])
        let parameters = plan.parameters.map { "\(Identifier.escaped($0.name)): (any Sendable)?" }
        let result = "ObjectRequest<\(Identifier.escaped(className))>"
        let throwing = template.predicateFormat == nil ? "" : " throws"
        let name = "\(access.prefix)static func \(Identifier.escaped(plan.name))"
        text.block("\(name)(\(parameters.joined(separator: ", ")))\(throwing) -> \(result) {") { text in
            if template.includesSubentities { return text.line(request(plan)) }
            text.line("var request = \(request(plan))")
            text.line("request.includesSubentities = false")
            text.line("return request")
        }
    }

    private func request(_ plan: FetchRequestPlan) -> String {
        var arguments = ["\(Identifier.escaped(className)).self"]
        if let format = plan.template.predicateFormat {
            arguments.append("where: \(predicate(format, plan.parameters))")
        }
        if plan.template.fetchLimit > 0 { arguments.append("limit: \(plan.template.fetchLimit)") }
        let call = "\(types.library("ObjectRequest"))(\(arguments.joined(separator: ", ")))"
        return plan.template.predicateFormat == nil ? call : "try " + call
    }

    private func predicate(_ format: String, _ parameters: [FetchRequestPlan.Parameter]) -> String {
        let predicate = "\(types.library("FetchPredicate"))(format: \(StringLiteral.of(format)))"
        if parameters.isEmpty { return predicate }
        let values = parameters.map { "\(StringLiteral.of($0.variable)): \(Identifier.escaped($0.name))" }
        return "\(predicate).substituting([\(values.joined(separator: ", "))])"
    }
}
