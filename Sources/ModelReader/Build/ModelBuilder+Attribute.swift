internal import ManagedModel

extension ModelBuilder {
    mutating func attribute(
        _ element: MarkupElement, in owner: String
    ) throws(ModelReaderError) -> AttributeDescription {
        let name = try required("name", of: element)
        lines.note(element.line, of: name, in: owner)
        let type = try attributeType(of: element)
        var attribute = AttributeDescription(
            name: name,
            type: type,
            isOptional: flag("optional", of: element),
            isTransient: isTransient(element, type: type),
            defaultValue: defaultValue(of: element, type: type),
            usesScalarValueType: flag("usesScalarValueType", of: element),
            minimum: bound("minValueString", dateAttribute: "minDateTimeInterval", of: element, type: type),
            maximum: bound("maxValueString", dateAttribute: "maxDateTimeInterval", of: element, type: type),
            pattern: element.filled("regularExpressionString"),
            valueTransformerName: element.filled("valueTransformerName"),
            customClassName: element.filled("customClassName"),
            allowsExternalBinaryDataStorage: flag("allowsExternalBinaryDataStorage", of: element),
            derivationExpression: derivationExpression(of: element),
            isIndexed: flag("indexed", of: element),
            preservesValueInHistoryOnDeletion: flag("preserveAfterDeletion", of: element),
            allowsCloudEncryption: flag("allowsCloudEncryption", of: element),
            isIndexedBySpotlight: flag("spotlightIndexingEnabled", of: element),
            versionHashModifier: element.filled("versionHashModifier"),
            renamingIdentifier: element.filled("elementID"),
            userInfo: userInfo(of: element))
        if type == .composite { attribute.compositeName = try required("composite", of: element) }
        return attribute
    }

    private func attributeType(of element: MarkupElement) throws(ModelReaderError) -> AttributeType {
        guard let word = element.filled("attributeType") else { return .undefined }
        guard let type = AttributeType(rawValue: word) else {
            let known = AttributeType.allCases.filter { ![.undefined, .objectID].contains($0) }
            throw ModelReaderError(
                .unknownType, file: file, line: element.line,
                "The attribute \(element["name"] ?? "") has the unknown type \(word). Choose one of "
                    + known.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return type
    }

    /// An attribute without a type cannot be stored.
    private mutating func isTransient(_ element: MarkupElement, type: AttributeType) -> Bool {
        let isTransient = flag("transient", of: element)
        guard type == .undefined, !isTransient else { return isTransient }
        log.warn(element.line, "The attribute \(element["name"] ?? "") has no type. It is treated as transient.")
        return true
    }

    private mutating func defaultValue(of element: MarkupElement, type: AttributeType) -> AttributeValue? {
        if let text = element["defaultDateTimeInterval"] {
            if type == .date, let seconds = NumberText.double(text) { return .date(seconds) }
            log.warn(element.line, "defaultDateTimeInterval=\"\(text)\" is not a date. It is ignored.")
        }
        guard let text = element["defaultValueString"] else { return nil }
        return take(.defaultValue(text, of: type), at: element)
    }

    private mutating func bound(
        _ name: String, dateAttribute: String, of element: MarkupElement, type: AttributeType
    ) -> AttributeValue? {
        if let text = element[dateAttribute] {
            if type == .date, let seconds = NumberText.double(text) { return .date(seconds) }
            log.warn(element.line, "\(dateAttribute)=\"\(text)\" is not a date. It is ignored.")
        }
        guard let text = element[name] else { return nil }
        return take(.bound(text, of: type), at: element)
    }

    private mutating func take(_ text: ValueText, at element: MarkupElement) -> AttributeValue? {
        if let complaint = text.complaint { log.warn(element.line, "\(element["name"] ?? ""): \(complaint)") }
        return text.value
    }

    private mutating func derivationExpression(of element: MarkupElement) -> String? {
        let expression = element.filled("derivationExpression")
        let isDerived = flag("derived", of: element)
        if isDerived, expression == nil {
            log.warn(
                element.line, "A derived attribute has no derivationExpression. It is treated as an ordinary attribute."
            )
        } else if !isDerived, expression != nil {
            log.warn(element.line, "An attribute that is not derived has a derivationExpression. It is ignored.")
        }
        return isDerived ? expression : nil
    }
}
