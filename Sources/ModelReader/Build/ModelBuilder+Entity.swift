internal import ManagedModel

extension ModelBuilder {
    mutating func entity(_ element: MarkupElement) throws(ModelReaderError) -> EntityDescription {
        let name = try required("name", of: element)
        lines.record(element.line, of: name)
        var entity = EntityDescription(
            name: name,
            className: element.nonEmptyValue("representedClassName").flatMap { $0 == "NSManagedObject" ? nil : $0 },
            parentName: element.nonEmptyValue("parentEntity"),
            isAbstract: flag("isAbstract", of: element),
            uniquenessConstraints: try constraints(of: element),
            userInfo: userInfo(of: element),
            versionHashModifier: element.nonEmptyValue("versionHashModifier"),
            renamingIdentifier: element.nonEmptyValue("elementID"),
            codeGeneration: choice(
                "codeGenerationType", of: element, defaultValue: .manual, "No code is generated."))
        if element.nonEmptyValue("coreSpotlightDisplayNameExpression") != nil {
            record(.spotlightName, "coreSpotlightDisplayNameExpression", at: name, element)
        }
        for child in element.children(named: "attribute") {
            entity.attributes.append(try attribute(child, in: name))
        }
        for child in element.children(named: "relationship") {
            entity.relationships.append(try relationship(child, in: name))
        }
        for child in element.children(named: "fetchedProperty") {
            entity.fetchedProperties.append(try fetchedProperty(child, in: name))
        }
        entity.indexes = try indexes(of: element)
        return entity
    }

    private mutating func constraints(of element: MarkupElement) throws(ModelReaderError) -> [[String]] {
        var constraints: [[String]] = []
        for list in element.children(named: "uniquenessConstraints") {
            for constraint in list.children(named: "uniquenessConstraint") {
                var names: [String] = []
                for part in constraint.children(named: "constraint") { names.append(try required("value", of: part)) }
                guard !names.isEmpty else {
                    log.warn(constraint.line, "A uniqueness constraint without an attribute is ignored.")
                    continue
                }
                constraints.append(names)
            }
        }
        return constraints
    }
}

extension ModelBuilder {
    mutating func attribute(
        _ element: MarkupElement, in owner: String
    ) throws(ModelReaderError) -> AttributeDescription {
        let name = try required("name", of: element)
        lines.record(element.line, of: name, in: owner)
        let type = try attributeType(of: element)
        var attribute = AttributeDescription(
            name: name,
            type: type,
            isOptional: flag("optional", of: element),
            isTransient: isTransient(element, type: type),
            defaultValue: value("defaultValueString", orDate: "defaultDateTimeInterval", of: element, type) {
                .defaultValue($0, of: type)
            },
            usesScalarValueType: flag("usesScalarValueType", of: element),
            minimum: value("minValueString", orDate: "minDateTimeInterval", of: element, type) { .bound($0, of: type) },
            maximum: value("maxValueString", orDate: "maxDateTimeInterval", of: element, type) { .bound($0, of: type) },
            pattern: element.nonEmptyValue("regularExpressionString"),
            valueTransformerName: element.nonEmptyValue("valueTransformerName"),
            customClassName: element.nonEmptyValue("customClassName"),
            allowsExternalBinaryDataStorage: flag("allowsExternalBinaryDataStorage", of: element),
            derivationExpression: derivationExpression(of: element),
            isIndexed: flag("indexed", of: element),
            preservesValueInHistoryOnDeletion: flag("preserveAfterDeletion", of: element),
            allowsCloudEncryption: flag("allowsCloudEncryption", of: element),
            isIndexedBySpotlight: flag("spotlightIndexingEnabled", of: element),
            versionHashModifier: element.nonEmptyValue("versionHashModifier"),
            renamingIdentifier: element.nonEmptyValue("elementID"),
            userInfo: userInfo(of: element))
        recordExternalRecord(of: element, at: "\(owner).\(name)")
        if type == .composite { attribute.compositeName = try required("composite", of: element) }
        return attribute
    }

    fileprivate mutating func recordExternalRecord(of element: MarkupElement, at location: String) {
        if flag("storedInTruthFile", of: element) {
            record(.externalRecord, "storedInTruthFile", at: location, element)
        }
    }

    private func attributeType(of element: MarkupElement) throws(ModelReaderError) -> AttributeType {
        guard let word = element.nonEmptyValue("attributeType") else { return .undefined }
        guard let type = AttributeType(rawValue: word) else {
            let known = AttributeType.allCases.filter { ![.undefined, .objectID].contains($0) }
            throw ModelReaderError(
                .unknownType, file: file, line: element.line,
                "The attribute \(element["name"] ?? "") has the unknown type \(word). Choose one of "
                    + known.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return type
    }

    /// Whether the attribute is transient. An attribute without a type is always transient, because its values cannot be
    /// stored.
    private mutating func isTransient(_ element: MarkupElement, type: AttributeType) -> Bool {
        let isTransient = flag("transient", of: element)
        guard type == .undefined, !isTransient else { return isTransient }
        log.warn(element.line, "The attribute \(element["name"] ?? "") has no type, and is treated as transient.")
        return true
    }

    /// - Parameter parse: Reads the value of the XML attribute `name`. Not called for the XML attribute `dateName`,
    ///   which contains a date.
    private mutating func value(
        _ name: String, orDate dateName: String, of element: MarkupElement, _ type: AttributeType,
        _ parse: (String) -> ParsedValue
    ) -> AttributeValue? {
        if let text = element[dateName] {
            if type == .date, let seconds = NumberParser.double(text) { return .date(seconds) }
            log.warn(element.line, "\(dateName)=\"\(text)\" is not a date, and is ignored.")
        }
        return element[name].flatMap { take(parse($0), at: element) }
    }

    private mutating func take(_ text: ParsedValue, at element: MarkupElement) -> AttributeValue? {
        if let problem = text.problem { log.warn(element.line, "\(element["name"] ?? ""): \(problem)") }
        return text.value
    }

    private mutating func derivationExpression(of element: MarkupElement) -> String? {
        let expression = element.nonEmptyValue("derivationExpression")
        let isDerived = flag("derived", of: element)
        if isDerived, expression == nil {
            log.warn(
                element.line, "A derived attribute without a derivationExpression is treated as an ordinary attribute."
            )
        } else if !isDerived, expression != nil {
            log.warn(element.line, "The derivationExpression of an attribute that is not derived is ignored.")
        }
        return isDerived ? expression : nil
    }
}

extension ModelBuilder {
    mutating func relationship(
        _ element: MarkupElement, in owner: String
    ) throws(ModelReaderError) -> RelationshipDescription {
        let name = try required("name", of: element)
        lines.record(element.line, of: name, in: owner)
        let isToMany = flag("toMany", of: element)
        let isOrdered = flag("ordered", of: element)
        if isOrdered, !isToMany { log.warn(element.line, "\(name) is to-one and cannot be ordered.") }
        recordExternalRecord(of: element, at: "\(owner).\(name)")
        if flag("spotlightIndexingEnabled", of: element) {
            record(.spotlight, "spotlightIndexingEnabled", at: "\(owner).\(name)", element)
        }
        return RelationshipDescription(
            name: name,
            destinationName: try required("destinationEntity", of: element),
            inverseName: inverseName(of: element, path: PropertyPath(owner: owner, property: name)),
            isToMany: isToMany,
            isOrdered: isOrdered && isToMany,
            isOptional: flag("optional", of: element),
            isTransient: flag("transient", of: element),
            minimumCount: try count("minCount", of: element) ?? 0,
            maximumCount: try maximumCount(of: element, isToMany: isToMany),
            deleteRule: choice("deletionRule", of: element, defaultValue: .nullify, "Nullify is assumed."),
            versionHashModifier: element.nonEmptyValue("versionHashModifier"),
            renamingIdentifier: element.nonEmptyValue("elementID"),
            userInfo: userInfo(of: element))
    }

    /// Some tools write -1 for no limit.
    private mutating func maximumCount(
        of element: MarkupElement, isToMany: Bool
    ) throws(ModelReaderError) -> Int {
        let count = try count("maxCount", of: element, from: -1)
        guard !isToMany else { return max(0, count ?? 0) }
        if let count, count > 1 {
            log.warn(element.line, "\(element["name"] ?? "") is to-one: maxCount=\"\(count)\" is ignored.")
        }
        return 1
    }

    private mutating func inverseName(of element: MarkupElement, path: PropertyPath) -> String? {
        let name = element.nonEmptyValue("inverseName")
        let entity = element.nonEmptyValue("inverseEntity")
        if (name == nil) != (entity == nil) {
            let known = name == nil ? "inverseEntity" : "inverseName"
            let missing = name == nil ? "inverseName" : "inverseEntity"
            log.warn(element.line, "\(path.property) has an \(known) but no \(missing).")
        }
        if name != nil { inverseEntities[path] = entity }
        return name
    }
}

extension ModelBuilder {
    mutating func fetchedProperty(
        _ element: MarkupElement, in owner: String
    ) throws(ModelReaderError) -> FetchedPropertyDescription {
        let name = try required("name", of: element)
        lines.record(element.line, of: name, in: owner)
        guard let request = element.children(named: "fetchRequest").first else {
            throw ModelReaderError(
                .missingName, file: file, line: element.line,
                "The fetched property \(owner).\(name) has no fetch request. Add a fetch request, or remove the property."
            )
        }
        return FetchedPropertyDescription(
            name: name, isOptional: flag("optional", of: element), fetchRequest: try fetchRequest(request),
            userInfo: userInfo(of: element))
    }

    /// A flag that is missing in the file has the default value that Core Data uses at run time.
    mutating func fetchRequest(_ element: MarkupElement) throws(ModelReaderError) -> FetchRequestTemplate {
        let name = try required("name", of: element)
        return FetchRequestTemplate(
            name: name,
            entityName: try required("entity", of: element),
            predicateFormat: element.nonEmptyValue("predicateString"),
            resultType: choice("resultType", of: element, defaultValue: .objects, "Objects are fetched."),
            fetchLimit: try count("fetchLimit", of: element) ?? 0,
            includesSubentities: flag("includeSubentities", of: element, defaultValue: true))
    }
}

extension ModelBuilder {
    /// The indexes that the file declares in the new form (`fetchIndex`) and in the old form (`compoundIndex`). An index in
    /// the old form has no name in the file, so the names of its properties become its name.
    mutating func indexes(of element: MarkupElement) throws(ModelReaderError) -> [FetchIndexDescription] {
        var indexes: [FetchIndexDescription] = []
        for child in element.children(named: "fetchIndex") {
            indexes.append(FetchIndexDescription(name: try required("name", of: child), elements: elements(of: child)))
        }
        var names = Set(indexes.map(\.name))
        var repetitions: [String: Int] = [:]
        for child in element.children(named: "compoundIndexes").flatMap({ $0.children(named: "compoundIndex") }) {
            var properties: [String] = []
            for part in child.children(named: "index") { properties.append(try required("value", of: part)) }
            let plainName = "by_" + properties.joined(separator: "_")
            var name = plainName
            while !names.insert(name).inserted {
                repetitions[plainName, default: 1] += 1
                name = "\(plainName)_\(repetitions[plainName, default: 1])"
            }
            indexes.append(
                FetchIndexDescription(name: name, elements: properties.map { .init(property: $0) }, isCompound: true))
        }
        return indexes
    }

    private mutating func elements(of index: MarkupElement) -> [FetchIndexDescription.Element] {
        var elements: [FetchIndexDescription.Element] = []
        for element in index.children(named: "fetchIndexElement") {
            guard let property = element.nonEmptyValue("property") else {
                log.warn(element.line, "An index element without a property is skipped.")
                continue
            }
            if let type = element.nonEmptyValue("type"), type != "Binary" {
                record(.indexType, "the type \(type)", at: "The index \(index.nonEmptyValue("name") ?? "")", element)
            }
            let order = element["order"] ?? "ascending"
            if !["ascending", "descending"].contains(order) {
                log.warn(element.line, "order=\"\(order)\" is unknown. The index is ascending.")
            }
            elements.append(.init(property: property, isAscending: order != "descending"))
        }
        return elements
    }
}
