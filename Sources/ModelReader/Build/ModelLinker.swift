internal import ManagedModel

/// Resolves the references in an unlinked model. An optional reference to an unknown name is removed with a diagnostic.
/// Any other reference to an unknown name is an error.
struct ModelLinker {
    private var unlinkedModel: UnlinkedModel

    init(_ unlinkedModel: UnlinkedModel) {
        self.unlinkedModel = unlinkedModel
    }

    mutating func link() throws(ModelReaderError) -> ModelDocument {
        do throws(ModelError) {
            // These checks come first, because they limit the cost of the later checks.
            try unlinkedModel.model.validateStructure()
            resolveInverseEntities()
            dropFaultyInverses()
            dropFaultyIndexElements()
            dropFetchesOfUnknownEntities()
            try unlinkedModel.model.validate()
        } catch {
            throw ModelReaderError(error, file: unlinkedModel.log.file, lines: unlinkedModel.lines)
        }
        recordMandatoryInverses()
        for part in unlinkedModel.model.unsupportedParts { unlinkedModel.warn(part) }
        return ModelDocument(model: unlinkedModel.model, diagnostics: unlinkedModel.log.all)
    }

    /// Removes an inverse if its `inverseEntity` in the file is not related to the destination, because the inverse is
    /// looked up in the destination.
    private mutating func resolveInverseEntities() {
        let lookup = ModelLookup(unlinkedModel.model)
        editRelationships { relationship, entity, unlinkedModel in
            let path = PropertyPath(owner: entity.name, property: relationship.name)
            guard let name = unlinkedModel.inverseEntities[path], name != relationship.destinationName else { return }
            let warning = "The inverse of \(entity.name).\(relationship.name) belongs to \(name), "
            if let inverseEntity = lookup.entities[name],
                let destination = lookup.entities[relationship.destinationName],
                lookup.isRelated(inverseEntity, to: destination)
            {
                unlinkedModel.warn(path, warning + "but the destination is \(destination.name).")
            } else {
                unlinkedModel.warn(
                    path, warning + "which is not the destination. The relationship is loaded without an inverse.")
                relationship.inverseName = nil
            }
        }
    }

    /// Removes invalid inverses. Repeats this until all pairs of inverses agree, because removing one inverse can make
    /// another inverse invalid.
    private mutating func dropFaultyInverses() {
        var isSettled = false
        while !isSettled {
            isSettled = true
            let lookup = ModelLookup(unlinkedModel.model)
            editRelationships { relationship, entity, unlinkedModel in
                guard let fault = lookup.inverseError(of: relationship, in: entity) else { return }
                let path = PropertyPath(owner: entity.name, property: relationship.name)
                unlinkedModel.warn(path, "\(fault.sentence) The relationship is loaded without an inverse.")
                relationship.inverseName = nil
                isSettled = false
            }
        }
    }

    private mutating func editRelationships(
        _ edit: (inout RelationshipDescription, EntityDescription, inout UnlinkedModel) -> Void
    ) {
        for (index, entity) in unlinkedModel.model.entities.enumerated() {
            for (position, relationship) in entity.relationships.enumerated() where relationship.inverseName != nil {
                var edited = relationship
                edit(&edited, entity, &unlinkedModel)
                if edited != relationship { unlinkedModel.model.entities[index].relationships[position] = edited }
            }
        }
    }

    /// Warns if an entity has a uniqueness constraint, and a relationship of the entity has a mandatory to-one inverse.
    /// A merge of duplicates cannot satisfy both the constraint and the mandatory inverse. A single warning, at the
    /// first relationship, names all such inverses.
    private mutating func recordMandatoryInverses() {
        let lookup = ModelLookup(unlinkedModel.model)
        var found: [(path: PropertyPath, inverse: String)] = []
        for entity in unlinkedModel.model.entities where !entity.uniquenessConstraints.isEmpty {
            for relationship in entity.relationships {
                guard let destination = lookup.entities[relationship.destinationName],
                    let inverseName = relationship.inverseName,
                    let inverse = lookup.relationship(named: inverseName, of: destination),
                    !inverse.isToMany, !inverse.isOptional
                else { continue }
                found.append(
                    (
                        PropertyPath(owner: entity.name, property: relationship.name),
                        "\(destination.name).\(inverse.name)"
                    ))
            }
        }
        guard let first = found.first else { return }
        let paths = found.map { "\($0.path.owner).\($0.path.property)" }.joined(separator: ", ")
        unlinkedModel.warn(
            first.path,
            "An entity with uniqueness constraints has a relationship whose inverse is to-one and mandatory: \(paths). "
                + "Core Data refuses this. Make the inverse optional: \(found.map(\.inverse).joined(separator: ", ")).")
    }
}

extension ModelLinker {
    /// Removes index elements that have no stored values.
    private mutating func dropFaultyIndexElements() {
        let lookup = ModelLookup(unlinkedModel.model)
        for (number, entity) in unlinkedModel.model.entities.enumerated() where !entity.indexes.isEmpty {
            let columns = unlinkedModel.model.namesWithStoredValues(of: entity, lookup)
            var indexes = entity.indexes
            for (position, index) in indexes.enumerated() {
                for element in index.elements where !columns.contains(element.property) {
                    unlinkedModel.warn(
                        PropertyPath(owner: entity.name, property: element.property),
                        "The index \(index.name) of \(entity.name) names \(element.property), which has no stored values. "
                            + "That part is skipped.")
                }
                indexes[position].elements.removeAll { !columns.contains($0.property) }
            }
            indexes.removeAll(where: \.elements.isEmpty)
            unlinkedModel.model.entities[number].indexes = indexes
        }
    }

    private mutating func dropFetchesOfUnknownEntities() {
        let names = Set(unlinkedModel.model.entities.map(\.name))
        for request in unlinkedModel.model.fetchRequests where !names.contains(request.entityName) {
            unlinkedModel.warn(
                nil,
                "The fetch request \(request.name) fetches \(request.entityName), which does not exist. The fetch request is left out."
            )
        }
        unlinkedModel.model.fetchRequests.removeAll { !names.contains($0.entityName) }
        for (number, configuration) in unlinkedModel.model.configurations.enumerated() {
            for name in configuration.entityNames where !names.contains(name) {
                unlinkedModel.warn(
                    nil,
                    "The configuration \(configuration.name) lists \(name), which does not exist. The name is left out."
                )
            }
            unlinkedModel.model.configurations[number].entityNames.removeAll { !names.contains($0) }
        }
        for (number, entity) in unlinkedModel.model.entities.enumerated() where !entity.fetchedProperties.isEmpty {
            for property in entity.fetchedProperties where !names.contains(property.fetchRequest.entityName) {
                unlinkedModel.warn(
                    PropertyPath(owner: entity.name, property: property.name),
                    "\(entity.name).\(property.name) fetches \(property.fetchRequest.entityName), which does not exist. The property is left out."
                )
            }
            unlinkedModel.model.entities[number].fetchedProperties.removeAll {
                !names.contains($0.fetchRequest.entityName)
            }
        }
    }
}

extension UnlinkedModel {
    fileprivate mutating func warn(_ part: UnsupportedPart) {
        let line = part.owner.map { lines.line(of: part.name, in: $0) } ?? lines.line(ofFetchRequest: part.name)
        log.warn(line ?? 1, part.message)
    }

    mutating func warn(_ path: PropertyPath?, _ message: String) {
        log.warn(lines.line(of: path?.property, in: path?.owner) ?? 1, message)
    }
}

extension ModelReaderError {
    /// Makes an error for an invalid model. The error has the line of the faulty declaration.
    init(_ error: ModelError, file: String, lines: SourceLines) {
        self.init(
            error.code, file: file, line: lines.line(of: error.propertyName, in: error.entityName), error.message)
    }
}
