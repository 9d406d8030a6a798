internal import ManagedModel
internal import ModelReader
internal import ModelSource

/// Makes the descriptions of a model from its declarations in Swift files.
struct SourceMapping {
    private let declarations: SourceDeclarations
    private(set) var diagnostics: [ModelDiagnostic] = []
    /// The attributes whose initial values are evaluated for each new object. Each element names an entity or composite
    /// and its attribute, as in `Note.createdAt`.
    private var evaluatedAttributes: Set<String> = []
    /// The paths of the composite structs that attributes use.
    private var used: Set<String> = []
    /// The paths of the classes that the model lists.
    private var listed: Set<String> = []
    /// The paths of classes and structs, by the name in the model.
    private let paths: [String: String]

    init(_ declarations: SourceDeclarations) {
        self.declarations = declarations
        let composites = declarations.composites.map { ($0.value.value.name, $0.key) }
        paths = Dictionary(declarations.entities.map { ($0.value.value.name, $0.key) } + composites) { min($0, $1) }
    }

    private typealias File = SourceFolder.File

    /// Looks up a type by its name in a scope, and returns its path; nil if these files have no such type.
    ///
    /// - Throws: An error at the offset if the name is a typealias, because only the compiler knows its type for certain.
    func path(
        of name: String, in scope: String, _ file: SourceFolder.File, at offset: Int
    ) throws(ModelReaderError) -> String? {
        switch declarations.scopes.lookup(name, in: scope) {
        case .type(let path): return path
        case .missing: return nil
        case .alias(let other, let position):
            throw file.error(
                .unknownReference, at: offset,
                "\(name) is a typealias in \(other.path):\(other.source.line(of: position)). Write the name of the type itself, because the model is read before the program runs."
            )
        }
    }

    mutating func entities(
        _ found: [SourceDeclarations.Found<EntitySource>]
    ) throws(ModelReaderError) -> [EntityDescription] {
        listed = Set(found.map(\.path))
        var entities: [EntityDescription] = []
        for one in found { entities.append(try entity(one)) }
        return entities
    }

    /// Checks that the model lists a class that another class of the model needs.
    private func checkIsListed(
        _ found: SourceDeclarations.Found<EntitySource>, _ name: String, _ file: File, at offset: Int
    ) throws(ModelReaderError) {
        if listed.contains(found.path) { return }
        throw file.error(
            .unknownReference, at: offset,
            "The model does not list \(name), which is declared in \(found.file.path):\(found.file.source.line(of: found.offset)). Add \(name).self to the list of the model."
        )
    }

    private mutating func entity(_ found: SourceDeclarations.Found<EntitySource>) throws(ModelReaderError)
        -> EntityDescription
    {
        let (source, file) = (found.value, found.file)
        var entity = EntityDescription(
            name: source.name, className: source.className, isAbstract: source.isAbstract,
            uniquenessConstraints: source.uniquenessConstraints, userInfo: source.userInfo,
            versionHashModifier: source.versionHashModifier, renamingIdentifier: source.renamingIdentifier,
            codeGeneration: .class)
        if !source.isRoot {
            let path = try self.path(
                of: source.superclass, in: SourceScopes.scope(of: found.path), file, at: source.superclassOffset)
            guard let parent = path.flatMap({ declarations.entities[$0] }) else {
                throw file.error(
                    .unknownReference, at: source.superclassOffset,
                    "\(source.className) inherits from \(source.superclass), but these files have no such class with @StoredEntity. Add the class, or inherit from ManagedObject."
                )
            }
            try checkIsListed(parent, source.superclass, file, at: source.superclassOffset)
            entity.parentName = parent.value.name
        }
        for attribute in source.attributes {
            entity.attributes.append(try self.attribute(attribute, of: source.name, file, in: found.path))
        }
        for relationship in source.relationships {
            entity.relationships.append(try self.relationship(relationship, file, in: found.path))
        }
        entity.attributes += try literals(source.otherAttributes, file, LiteralDescription.attribute)
        entity.relationships += try literals(source.otherRelationships, file, LiteralDescription.relationship)
        entity.fetchedProperties = try literals(source.fetchedProperties, file, LiteralDescription.fetchedProperty)
        entity.indexes = try literals(source.indexes, file, LiteralDescription.index)
        return entity
    }

    private func literals<Value>(
        _ list: LiteralList?, _ file: File, _ read: (SourceExpression) -> Value?
    ) throws(ModelReaderError) -> [Value] {
        guard let list else { return [] }
        let values = list.elements.compactMap(read)
        guard values.count == list.elements.count else {
            throw file.error(
                .malformedSwift, at: list.offset,
                "Each element must be a call of \(Value.self) with literals, because the model is read before the program runs."
            )
        }
        return values
    }

    private mutating func attribute(
        _ source: AttributeSource, of owner: String, _ file: File, in scope: String
    ) throws(ModelReaderError) -> AttributeDescription {
        guard let type = AttributeType(rawValue: source.type.rawValue) else {
            throw file.error(.unknownType, at: source.offset, "The type \(source.type.rawValue) is unknown.")
        }
        var attribute = AttributeDescription(
            name: source.name, type: type, isOptional: source.isOptional, isTransient: source.isTransient,
            usesScalarValueType: source.usesScalarValueType, minimum: source.minimum.map { AttributeValue($0) },
            maximum: source.maximum.map { AttributeValue($0) }, pattern: source.pattern,
            valueTransformerName: source.valueTransformerName, customClassName: source.customClassName,
            allowsExternalBinaryDataStorage: source.allowsExternalStorage,
            derivationExpression: source.derivationExpression,
            isIndexed: source.isIndexed, preservesValueInHistoryOnDeletion: source.preservesValueInHistoryOnDeletion,
            allowsCloudEncryption: source.allowsCloudEncryption, isIndexedBySpotlight: source.isIndexedBySpotlight,
            versionHashModifier: source.versionHashModifier, renamingIdentifier: source.renamingIdentifier,
            userInfo: source.userInfo)
        attribute.defaultValue = defaultValue(source, file, in: scope)
        if source.initialValue != nil { evaluatedAttributes.insert("\(owner).\(source.name)") }
        if source.form == .composite {
            let path = try self.path(of: source.typeName, in: scope, file, at: source.typeOffset)
            guard let path, let composite = declarations.composites[path] else {
                throw file.error(
                    .unknownReference, at: source.typeOffset,
                    "These files have no struct \(source.typeName) with @StoredComposite. Add the struct.")
            }
            used.insert(path)
            attribute.compositeName = composite.value.name
        }
        return attribute
    }

    private mutating func defaultValue(_ source: AttributeSource, _ file: File, in scope: String) -> AttributeValue? {
        switch source.defaultValue {
        case nil: return nil
        case .value(let value): return AttributeValue(value)
        case .enumCase(let type, let name):
            if case .type(let path) = declarations.scopes.lookup(type, in: scope),
                let value = declarations.enums[path]?[name]
            {
                return AttributeValue(value)
            }
            diagnostics.append(
                ModelDiagnostic(
                    file: file.path, line: file.source.line(of: source.offset),
                    message:
                        "The raw value of \(type).\(name) is not in these files, depends on an #if, or differs in several enums of that name, so the default value of \(source.name) is not known. The hash does not contain default values."
                ))
            return nil
        }
    }

    private func relationship(
        _ source: RelationshipSource, _ file: File, in scope: String
    ) throws(ModelReaderError) -> RelationshipDescription {
        let path = try self.path(of: source.destination, in: scope, file, at: source.typeOffset)
        guard let destination = path.flatMap({ declarations.entities[$0] }) else {
            throw file.error(
                .unknownReference, at: source.typeOffset,
                "These files have no class \(source.destination) with @StoredEntity. Add the class, or correct the type of \(source.propertyName)."
            )
        }
        try checkIsListed(destination, source.destination, file, at: source.typeOffset)
        var inverseName: String?
        if let inverse = source.inverse {
            inverseName = inverseModelName(inverse, of: destination)
            guard inverseName != nil else {
                throw file.error(
                    .unknownReference, at: source.inverseOffset,
                    "\(source.destination) has no relationship \(inverse). Name the property of \(source.destination) that points back to \(source.propertyName)."
                )
            }
        }
        return RelationshipDescription(
            name: source.name, destinationName: destination.value.name, inverseName: inverseName,
            isToMany: source.isToMany,
            isOrdered: source.isOrdered, isOptional: source.isOptional, isTransient: source.isTransient,
            minimumCount: source.minimumCount, maximumCount: source.maximumCount,
            deleteRule: DeleteRule.byName[source.deleteRule] ?? .nullify,
            versionHashModifier: source.versionHashModifier,
            renamingIdentifier: source.renamingIdentifier, userInfo: source.userInfo)
    }

    /// Returns the name of a relationship in the model. The class or one of its ancestors declares the relationship as
    /// a property.
    private func inverseModelName(
        _ property: String, of entity: SourceDeclarations.Found<EntitySource>
    ) -> String? {
        var entity = entity
        for _ in 0...ModelLimits.nestingLimit {
            if let found = entity.value.relationships.first(where: { $0.propertyName == property }) {
                return found.name
            }
            let scope = SourceScopes.scope(of: entity.path)
            guard case .type(let path) = declarations.scopes.lookup(entity.value.superclass, in: scope),
                let parent = declarations.entities[path]
            else { return nil }
            entity = parent
        }
        return nil
    }

    /// The composites that attributes use, the composites inside of these, and the listed composites.
    mutating func composites(used listed: Set<String>) throws(ModelReaderError) -> [CompositeDescription] {
        var found: [String: CompositeDescription] = [:]
        var waiting = used.union(listed).sorted()
        while let path = waiting.popLast() {
            guard found[path] == nil, let composite = declarations.composites[path] else { continue }
            used = []
            var attributes: [AttributeDescription] = []
            for source in composite.value.attributes {
                attributes.append(try attribute(source, of: composite.value.name, composite.file, in: path))
            }
            found[path] = CompositeDescription(name: composite.value.name, attributes: attributes)
            waiting += used
        }
        return found.values.sorted { $0.name < $1.name }
    }

    func model(
        _ found: SourceDeclarations.Found<SourceDeclarations.Model>, _ entities: [EntityDescription],
        _ composites: [CompositeDescription]
    ) throws(ModelReaderError) -> ManagedObjectModel {
        let arguments = found.value.arguments
        func list<Value>(_ label: String, _ read: (SourceExpression) -> Value?) throws(ModelReaderError) -> [Value] {
            guard let value = arguments[label] else { return [] }
            guard case .list(let elements) = value, case let values = elements.compactMap(read),
                values.count == elements.count
            else {
                throw found.file.error(
                    .malformedSwift, at: found.offset, "The \(label) of the model must be a list of literals.")
            }
            return values
        }
        func string(_ label: String) -> String? {
            if case .string(let text)? = arguments[label] { text } else { nil }
        }
        var model = ManagedObjectModel(
            name: found.value.name, version: string("version"), entities: entities, composites: composites,
            fetchRequests: try list("fetchRequests") { LiteralDescription.fetchRequest($0) },
            configurations: try list("configurations", LiteralDescription.configuration),
            versionIdentifier: string("versionIdentifier") ?? "",
            earlierVersions: try list("earlierVersions", LiteralDescription.earlierVersion))
        model.evaluatedAttributes = evaluatedAttributes
        return model
    }

    /// Adds the location of the faulty declaration to an error in the model.
    func error(_ error: ModelError, _ model: SourceDeclarations.Found<SourceDeclarations.Model>) -> ModelReaderError {
        let (file, offset) = location(of: error.propertyName, in: error.entityName) ?? (model.file, model.offset)
        return file.error(error.code, at: offset, error.message)
    }

    /// The warning about an unsupported part of the model, with the location of the declaration.
    func diagnostic(
        _ part: UnsupportedPart, _ model: SourceDeclarations.Found<SourceDeclarations.Model>
    ) -> ModelDiagnostic {
        let (file, offset) = location(of: part.name, in: part.owner) ?? (model.file, model.offset)
        return ModelDiagnostic(file: file.path, line: file.source.line(of: offset), message: part.message)
    }

    /// Warns of unknown names in indexes, fetch requests and configurations. Such names do not make the model invalid.
    func unknownNames(
        in model: ManagedObjectModel, _ found: SourceDeclarations.Found<SourceDeclarations.Model>
    ) -> [ModelDiagnostic] {
        let lookup = ModelLookup(model)
        let elements = model.entities.filter { !$0.indexes.isEmpty }.flatMap { entity in
            let names = model.namesWithStoredValues(of: entity, lookup)
            let source = paths[entity.name].flatMap { declarations.entities[$0] }
            return entity.indexes.flatMap { index in
                index.elements.map(\.property).filter { !names.contains($0) }.map { name in
                    ModelDiagnostic(
                        file: source?.file.path ?? found.file.path,
                        line: source.map { $0.file.source.line(of: $0.value.indexes?.offset ?? $0.offset) } ?? 1,
                        message:
                            "The index \(index.name) of \(entity.name) names \(name), which has no stored values. Correct the name, or remove it from the index."
                    )
                }
            }
        }
        let requests = model.fetchRequests.filter { lookup.entities[$0.entityName] == nil }.map {
            "The fetch request \($0.name) fetches \($0.entityName), which is not in the model. Correct the name, or list the class."
        }
        let members = model.configurations.flatMap { configuration in
            configuration.entityNames.filter { lookup.entities[$0] == nil }.map {
                "The configuration \(configuration.name) lists \($0), which is not in the model. Correct the name, or list the class."
            }
        }
        let line = found.file.source.line(of: found.offset)
        return elements
            + (requests + members).map { ModelDiagnostic(file: found.file.path, line: line, message: $0) }
    }

    /// The location of a property's declaration; the location of the owner's declaration if the property is not found; nil
    /// if the owner is not found.
    private func location(of property: String?, in owner: String?) -> (file: File, offset: Int)? {
        guard let path = owner.flatMap({ paths[$0] }) else { return nil }
        if let entity = declarations.entities[path] {
            let properties =
                entity.value.attributes.map { ($0.name, $0.offset) }
                + entity.value.relationships.map { ($0.name, $0.offset) }
            return (entity.file, properties.first { $0.0 == property }?.1 ?? entity.offset)
        }
        return declarations.composites[path].map { composite in
            let offset = composite.value.attributes.first { $0.name == property }?.offset
            return (composite.file, offset ?? composite.offset)
        }
    }
}
