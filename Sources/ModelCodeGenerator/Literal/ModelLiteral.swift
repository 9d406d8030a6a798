internal import ManagedModel

/// Writes the model as a static member of `ManagedObjectModel`, with one function per entity.
///
/// Separate functions keep the expressions short. The time to compile an expression grows faster than the expression.
struct ModelLiteral {
    /// The model as the file declares it. The generator's options do not change this value.
    let model: ManagedObjectModel
    let plan: ModelPlan
    let access: AccessLevel

    func write(to text: inout SourceWriter) {
        let functions = functionNames
        let namespace = namespaceName
        let member = memberName
        text.block("nonisolated extension ManagedObjectModel {") { text in
            let start = "\(access.prefix)static let \(member) = "
            text.documentation(["The model `\(model.name)` in its version `\(model.version)`."])
            text.line(start + call(functions: functions.map { "\(namespace).\($0)()" }).rendered(depth: 0, used: 1000))
        }
        text.line()
        text.line("/// Lets the library find the model `\(SourceWriter.comment(model.name))` by its name.")
        text.block("nonisolated final class \(generatedClassName): GeneratedModel {") { text in
            text.line("static var model: ManagedObjectModel { .\(member) }")
        }
        if let classes {
            text.line()
            // This is a global function, because a member of a type could hide a class of the same name.
            text.line("/// The class of each entity of `\(SourceWriter.comment(model.name))`.")
            text.block("nonisolated private func \(classesName)() -> [String: any AnyObject.Type] {") { text in
                text.line(classes.rendered(depth: 0, used: 4))
            }
        }
    }

    /// Writes the functions of the named entities.
    ///
    /// - Parameters:
    ///   - isDivided: Whether the entities are divided among several files.
    ///   - isFirst: Whether this is the first file.
    func writeEntities(named names: Set<String>, isDivided: Bool, isFirst: Bool, to text: inout SourceWriter) {
        if isFirst { text.line("/// The entities of `\(SourceWriter.comment(model.name))`, a function for each.") }
        let kind = isDivided ? isFirst ? "enum" : "extension" : "private enum"
        text.block("nonisolated \(kind) \(namespaceName) {") { text in
            let own = zip(functionNames, model.entities).filter { names.contains($0.1.name) }
            for (name, entity) in own {
                text.block("static func \(name)() -> EntityDescription {") { text in
                    text.line(Literal.entity(entity).rendered(depth: 0, used: 8))
                }
            }
        }
    }

    private func call(functions: [String]) -> Literal {
        .call(
            "ManagedObjectModel",
            [
                ("name", .string(model.name)),
                ("version", model.version == model.name ? nil : .string(model.version)),
                ("entities", .list(functions.map { .text($0) })),
                ("composites", .list(model.composites, of: Literal.composite)),
                ("fetchRequests", .list(model.fetchRequests, of: Literal.fetchRequest)),
                ("configurations", .list(model.configurations, of: Literal.configuration)),
                ("versionIdentifier", model.versionIdentifier.isEmpty ? nil : .string(model.versionIdentifier)),
                ("earlierVersions", .list(model.earlierVersions, of: Literal.earlierVersion)),
                ("classes", classes.map { _ in .text("\(classesName)()") }),
            ])
    }

    private var classes: Literal? {
        let classes = plan.entities.filter { $0.generation != .manual }.compactMap { entity in
            plan.names.classes[entity.entity.name].map { name in
                (key: Literal.string(entity.entity.name), value: Literal.text("\(Identifier.escaped(name)).self"))
            }
        }
        return classes.isEmpty ? nil : .dictionary(classes)
    }

    private var functionNames: [String] {
        let wanted = model.entities.map { ReservedNames.member(Identifier.lowerCamelCase($0.name)) }
        var scope = NameScope()
        return wanted.map { Identifier.escaped(scope.claim($0)) }
    }

    private var memberName: String {
        var scope = NameScope(taken: plan.names.all)
        return Identifier.escaped(scope.claim(ReservedNames.member(Identifier.lowerCamelCase(model.name))))
    }

    private var generatedClassName: String {
        claimed(ManagedObjectModel.generatedClassName(forModelNamed: model.name))
    }

    private var namespaceName: String { claimed(Identifier.upperCamelCase(model.name) + "Entities") }

    private var classesName: String {
        let name = Identifier.lowerCamelCase(model.name)
        return claimed((name.last == "_" ? String(name.dropLast()) : name) + "Classes")
    }

    private func claimed(_ name: String) -> String {
        var scope = NameScope(taken: plan.names.all.union(ReservedNames.types))
        return scope.claim(name)
    }
}

extension Literal {
    static func earlierVersion(_ version: EarlierVersion) -> Literal {
        func names(_ names: [String: String]) -> Literal {
            .dictionary(names.sorted { $0.key < $1.key }.map { (.string($0.key), .string($0.value)) })
        }
        let properties = version.propertyNames.sorted { $0.key < $1.key }.map {
            (Literal.string($0.key), names($0.value))
        }
        return .call(
            "EarlierVersion",
            [
                ("hashes", .list(version.hashes.sorted().map { .string($0) })),
                ("entityNames", names(version.entityNames)),
                ("propertyNames", properties.isEmpty ? nil : .dictionary(properties)),
            ])
    }

    static func configuration(_ configuration: EntityConfiguration) -> Literal {
        let names = list(configuration.entityNames.map { .string($0) })
        return .call("EntityConfiguration", [("name", string(configuration.name)), ("entityNames", names)])
    }

    static func fetchRequest(_ request: FetchRequestTemplate) -> Literal {
        .call(
            "FetchRequestTemplate",
            [
                ("name", string(request.name)),
                ("entityName", string(request.entityName)),
                ("predicateFormat", string(request.predicateFormat)),
                ("resultType", request.resultType == .objects ? nil : .text(".\(request.resultType)")),
                ("fetchLimit", number(request.fetchLimit)),
                ("includesSubentities", flag(request.includesSubentities, unless: true)),
            ])
    }
}

extension Literal {
    static func entity(_ entity: EntityDescription) -> Literal {
        let codeGeneration = entity.codeGeneration == .manual ? nil : Literal.text(".\(entity.codeGeneration.rawValue)")
        return .call(
            "EntityDescription",
            [
                ("name", string(entity.name)),
                ("className", string(entity.className)),
                ("parentName", string(entity.parentName)),
                ("isAbstract", flag(entity.isAbstract)),
                ("attributes", list(entity.attributes, of: attribute)),
                ("relationships", list(entity.relationships, of: relationship)),
                ("fetchedProperties", list(entity.fetchedProperties, of: fetchedProperty)),
                ("indexes", list(entity.indexes, of: index)),
                ("uniquenessConstraints", list(entity.uniquenessConstraints) { .list($0.map { string($0) }) }),
                ("userInfo", userInfo(entity.userInfo)),
                ("versionHashModifier", string(entity.versionHashModifier)),
                ("renamingIdentifier", string(entity.renamingIdentifier)),
                ("codeGeneration", codeGeneration),
            ])
    }

    static func relationship(_ relationship: RelationshipDescription) -> Literal {
        .call(
            "RelationshipDescription",
            [
                ("name", string(relationship.name)),
                ("destinationName", string(relationship.destinationName)),
                ("inverseName", string(relationship.inverseName)),
                ("isToMany", flag(relationship.isToMany)),
                ("isOrdered", flag(relationship.isOrdered)),
                ("isOptional", flag(relationship.isOptional)),
                ("isTransient", flag(relationship.isTransient)),
                ("minimumCount", number(relationship.minimumCount)),
                ("maximumCount", number(relationship.maximumCount, unless: relationship.isToMany ? 0 : 1)),
                ("deleteRule", relationship.deleteRule == .nullify ? nil : .text(".\(relationship.deleteRule)")),
                ("versionHashModifier", string(relationship.versionHashModifier)),
                ("renamingIdentifier", string(relationship.renamingIdentifier)),
                ("userInfo", userInfo(relationship.userInfo)),
            ])
    }

    static func index(_ index: FetchIndexDescription) -> Literal {
        let elements = index.elements.map { element in
            call(
                "FetchIndexDescription.Element",
                [("property", string(element.property)), ("isAscending", flag(element.isAscending, unless: true))])
        }
        return .call(
            "FetchIndexDescription",
            [
                ("name", string(index.name)), ("elements", .list(elements)),
                ("isCompound", flag(index.isCompound)),
            ])
    }

    static func fetchedProperty(_ property: FetchedPropertyDescription) -> Literal {
        .call(
            "FetchedPropertyDescription",
            [
                ("name", string(property.name)),
                ("isOptional", flag(property.isOptional)),
                ("fetchRequest", fetchRequest(property.fetchRequest)),
                ("userInfo", userInfo(property.userInfo)),
            ])
    }
}
