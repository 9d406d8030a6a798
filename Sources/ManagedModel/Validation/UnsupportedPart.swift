// A target that imports `ManagedModel` also imports `DeclarationRules`. The macros import only `DeclarationRules`, because
// they must not link the library that the hash needs.
@_exported public import DeclarationRules

/// A declaration in a model that this library does not support.
package struct UnsupportedPart: Sendable, Hashable {
    package let declaration: UnsupportedDeclaration
    /// The entity or composite; nil for a fetch request.
    package let owner: String?
    /// The name of the owner's property, or of the fetch request.
    package let name: String
    /// The warning: the location, the problem and the effect.
    package let message: String

    fileprivate init(_ declaration: UnsupportedDeclaration, in owner: String?, _ name: String, _ words: String) {
        self.declaration = declaration
        self.owner = owner
        self.name = name
        message = declaration.warning(words, at: owner.map { "\($0).\(name)" } ?? "The fetch request \(name)")
    }
}

extension ManagedObjectModel {
    /// The unsupported declarations of the model. A model does not keep some declarations of its file, such as
    /// `usedWithCloudKit`. Such declarations are not included, because the model reader reports them when it reads the
    /// file.
    ///
    /// - Complexity: linear in the properties and fetch requests of the model, times the depth of inheritance.
    package var unsupportedParts: [UnsupportedPart] {
        let ofEntities = entities.flatMap { entity in
            entity.attributes.flatMap { $0.unsupportedParts(in: entity.name) }
                + entity.fetchedProperties.map {
                    UnsupportedPart(.fetchedProperty, in: entity.name, $0.name, "a fetched property is ignored")
                }
        }
        let ofComposites = composites.flatMap { composite in
            composite.attributes.flatMap { $0.unsupportedParts(in: composite.name) }
        }
        return ofEntities + ofComposites + unsupportedFetchRequests
    }

    private var unsupportedFetchRequests: [UnsupportedPart] {
        var names: [String: Set<String>] = [:]
        return fetchRequests.flatMap { request in
            let known = names[request.entityName] ?? propertyNames(ofEntityNamed: request.entityName)
            names[request.entityName] = known
            return request.unsupportedParts(known)
        }
    }

    /// The possible first names of a predicate's key paths: the property names of the entity, its ancestors and its
    /// sub-entities. Sub-entities count, because a fetch can return their objects.
    private func propertyNames(ofEntityNamed name: String) -> Set<String> {
        guard let entity = entity(named: name) else { return [] }
        var names: Set<String> = []
        for entity in lineage(of: entity) + family(ofEntityNamed: name) {
            names.formUnion(entity.attributes.map(\.name))
            names.formUnion(entity.relationships.map(\.name))
            names.formUnion(entity.fetchedProperties.map(\.name))
        }
        return names
    }
}

extension AttributeDescription {
    fileprivate func unsupportedParts(in owner: String) -> [UnsupportedPart] {
        let hasIgnoredPattern = pattern != nil && type != .string && type != .uri
        let found: [(UnsupportedDeclaration, String?)] = [
            (.pattern, hasIgnoredPattern ? "the pattern of a \(type.rawValue)" : nil),
            (.valueTransformer, valueTransformerName.map { "the transformer \($0)" }),
            (.preservedValue, preservesValueInHistoryOnDeletion ? "preserveAfterDeletion" : nil),
            (.cloudEncryption, allowsCloudEncryption ? "allowsCloudEncryption" : nil),
            (.spotlight, isIndexedBySpotlight ? "spotlightIndexingEnabled" : nil),
        ]
        return found.compactMap { declaration, words in
            words.map { UnsupportedPart(declaration, in: owner, name, "\($0) is ignored") }
        }
    }
}

extension FetchRequestTemplate {
    /// - Parameter known: The valid first names of the predicate's key paths.
    fileprivate func unsupportedParts(_ known: Set<String>) -> [UnsupportedPart] {
        let format = FormatOutline(predicateFormat ?? "")
        var parts: [UnsupportedPart] = []
        if let error = format.syntaxError {
            parts.append(UnsupportedPart(.predicate, in: nil, name, error))
        } else {
            for unknown in format.names where !known.contains(unknown) {
                let words = "its predicate names \(unknown), which is not a property of \(entityName)"
                parts.append(UnsupportedPart(.predicate, in: nil, name, words))
            }
            if let error = format.likelyError { parts.append(UnsupportedPart(.predicate, in: nil, name, error)) }
            parts += format.objectVariables.map {
                UnsupportedPart(.objectOfVariable, in: nil, name, "its predicate uses $\($0) as an object")
            }
        }
        if resultType != .objects {
            parts.append(
                UnsupportedPart(.resultType, in: nil, name, "its resultType \(resultType.rawValue) is ignored"))
        }
        return parts
    }
}
