internal import Foundation
package import ManagedModel
internal import ModelCodeGenerator

/// Writes a model as the files of a `.xcdatamodeld` bundle, in the format of Xcode.
package struct ModelMarkup {
    private let model: ManagedObjectModel

    package init(_ model: ManagedObjectModel) {
        self.model = model
    }

    /// The contents of each file of the bundle, by the path inside the bundle.
    package var files: [(path: String, text: String)] {
        [("\(model.version).xcdatamodel/contents", contents), (".xccurrentversion", currentVersion)]
    }

    /// The first part of the model with a character that XML cannot contain, and the character; nil if the files can be
    /// written.
    var forbiddenCharacter: (owner: String?, property: String?, character: Unicode.Scalar)? {
        for owner in model.entities {
            for part in owner.attributes {
                if let found = attribute(part).forbiddenCharacter { return (owner.name, part.name, found) }
            }
            for part in owner.relationships {
                if let found = relationship(part).forbiddenCharacter { return (owner.name, part.name, found) }
            }
            if let found = entity(owner).forbiddenCharacter { return (owner.name, nil, found) }
        }
        for owner in model.composites {
            for part in owner.attributes {
                if let found = attribute(part).forbiddenCharacter { return (owner.name, part.name, found) }
            }
        }
        return (root.forbiddenCharacter ?? Element.forbiddenCharacter(in: model.version)).map { (nil, nil, $0) }
    }

    private var currentVersion: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>_XCCurrentVersionName</key>
        \t<string>\(Element.escaped(model.version)).xcdatamodel</string>
        </dict>
        </plist>

        """
    }

    private var contents: String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + root.text(indentation: 0)
    }

    private var root: Element {
        var root = Element(
            "model",
            [
                ("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0"),
                ("lastSavedToolsVersion", "24299"), ("systemVersion", "24G231"), ("minimumToolsVersion", "Automatic"),
                ("sourceLanguage", "Swift"), ("userDefinedModelVersionIdentifier", model.versionIdentifier),
            ])
        root.children += model.entities.map(entity)
        root.children += model.fetchRequests.map(fetchRequest)
        root.children += model.configurations.map { configuration in
            Element(
                "configuration", [("name", configuration.name)],
                configuration.entityNames.map { Element("memberEntity", [("name", $0)]) })
        }
        root.children += model.composites.map { composite in
            Element("composite", [("name", composite.name)], composite.attributes.map(attribute))
        }
        return root
    }

    // MARK: Elements

    private func entity(_ entity: EntityDescription) -> Element {
        var element = Element(
            "entity",
            [
                ("name", entity.name), ("representedClassName", entity.className),
                ("isAbstract", flag(entity.isAbstract)),
                ("parentEntity", entity.parentName), ("elementID", entity.renamingIdentifier),
                ("versionHashModifier", entity.versionHashModifier), ("syncable", "YES"),
                ("codeGenerationType", entity.codeGeneration == .manual ? nil : entity.codeGeneration.rawValue),
            ])
        element.children += entity.attributes.map(attribute) + entity.relationships.map(relationship)
        element.children += entity.fetchedProperties.map { property in
            Element(
                "fetchedProperty", [("name", property.name), ("optional", flag(property.isOptional))],
                [fetchRequest(property.fetchRequest)] + userInfo(property.userInfo))
        }
        element.children += entity.indexes.filter { !$0.isCompound }.map { index in
            Element(
                "fetchIndex", [("name", index.name)],
                index.elements.map { part in
                    Element(
                        "fetchIndexElement",
                        [
                            ("property", part.property), ("type", "Binary"),
                            ("order", part.isAscending ? "ascending" : "descending"),
                        ])
                })
        }
        let compound = entity.indexes.filter(\.isCompound).map { index in
            Element("compoundIndex", [], index.elements.map { Element("index", [("value", $0.property)]) })
        }
        if !compound.isEmpty { element.children.append(Element("compoundIndexes", [], compound)) }
        let constraints = entity.uniquenessConstraints.map { names in
            Element("uniquenessConstraint", [], names.map { Element("constraint", [("value", $0)]) })
        }
        if !constraints.isEmpty { element.children.append(Element("uniquenessConstraints", [], constraints)) }
        element.children += userInfo(entity.userInfo)
        return element
    }

    private func attribute(_ attribute: AttributeDescription) -> Element {
        let isDate = attribute.type == .date
        return Element(
            "attribute",
            [
                ("name", attribute.name), ("optional", flag(attribute.isOptional)),
                ("transient", flag(attribute.isTransient)),
                ("attributeType", attribute.type == .undefined ? nil : attribute.type.rawValue),
                ("composite", attribute.compositeName),
                (isDate ? "defaultDateTimeInterval" : "defaultValueString", text(attribute.defaultValue)),
                (isDate ? "minDateTimeInterval" : "minValueString", text(attribute.minimum)),
                (isDate ? "maxDateTimeInterval" : "maxValueString", text(attribute.maximum)),
                ("regularExpressionString", attribute.pattern),
                ("usesScalarValueType", attribute.usesScalarValueType ? "YES" : "NO"),
                ("valueTransformerName", attribute.valueTransformerName),
                ("customClassName", attribute.customClassName),
                ("allowsExternalBinaryDataStorage", flag(attribute.allowsExternalBinaryDataStorage)),
                ("preserveAfterDeletion", flag(attribute.preservesValueInHistoryOnDeletion)),
                ("allowsCloudEncryption", flag(attribute.allowsCloudEncryption)),
                ("spotlightIndexingEnabled", flag(attribute.isIndexedBySpotlight)),
                ("indexed", flag(attribute.isIndexed)),
                ("derived", flag(attribute.derivationExpression != nil)),
                ("derivationExpression", attribute.derivationExpression),
                ("elementID", attribute.renamingIdentifier), ("versionHashModifier", attribute.versionHashModifier),
            ], userInfo(attribute.userInfo))
    }

    private func relationship(_ relationship: RelationshipDescription) -> Element {
        let maximumCount = relationship.isToMany ? relationship.maximumCount : 1
        return Element(
            "relationship",
            [
                ("name", relationship.name), ("optional", flag(relationship.isOptional)),
                ("transient", flag(relationship.isTransient)), ("toMany", flag(relationship.isToMany)),
                ("minCount", relationship.minimumCount > 0 ? "\(relationship.minimumCount)" : nil),
                ("maxCount", maximumCount > 0 ? "\(maximumCount)" : nil),
                ("deletionRule", relationship.deleteRule.rawValue),
                ("ordered", flag(relationship.isOrdered)), ("destinationEntity", relationship.destinationName),
                ("inverseName", relationship.inverseName),
                ("inverseEntity", relationship.inverseName.map { _ in relationship.destinationName }),
                ("elementID", relationship.renamingIdentifier),
                ("versionHashModifier", relationship.versionHashModifier),
            ], userInfo(relationship.userInfo))
    }

    private func fetchRequest(_ request: FetchRequestTemplate) -> Element {
        Element(
            "fetchRequest",
            [
                ("name", request.name), ("entity", request.entityName), ("predicateString", request.predicateFormat),
                ("resultType", request.resultType == .objects ? nil : "\(request.resultType.rawValue)"),
                ("fetchLimit", request.fetchLimit > 0 ? "\(request.fetchLimit)" : nil),
                ("includeSubentities", request.includesSubentities ? nil : "NO"),
            ])
    }

    // MARK: Values

    private func flag(_ flag: Bool) -> String? { flag ? "YES" : nil }

    private func text(_ value: AttributeValue?) -> String? {
        switch value {
        case nil: nil
        case .boolean(let flag): flag ? "YES" : "NO"
        case .integer(let number): "\(number)"
        case .double(let number), .date(let number): "\(number)"
        case .decimal(let number): number.shortDigits
        case .string(let text): text
        case .uuid(let uuid): uuid.uuidString
        }
    }

    private func userInfo(_ userInfo: [String: String]) -> [Element] {
        guard !userInfo.isEmpty else { return [] }
        let entries = userInfo.sorted { $0.key < $1.key }.map {
            Element("entry", [("key", $0.key), ("value", $0.value)])
        }
        return [Element("userInfo", [], entries)]
    }
}

/// An XML element.
private struct Element {
    private let name: String
    private let attributes: [(name: String, value: String?)]
    var children: [Element]

    init(_ name: String, _ attributes: [(name: String, value: String?)], _ children: [Element] = []) {
        self.name = name
        self.attributes = attributes
        self.children = children
    }

    func text(indentation: Int) -> String {
        let space = String(repeating: "    ", count: indentation)
        let words = attributes.compactMap { attribute in
            attribute.value.map { " \(attribute.name)=\"\(Self.escaped($0))\"" }
        }
        let start = "\(space)<\(name)\(words.joined())"
        if children.isEmpty { return start + "/>\n" }
        return start + ">\n" + children.map { $0.text(indentation: indentation + 1) }.joined() + "\(space)</\(name)>\n"
    }

    /// The first character in the element and its children that XML cannot contain, not even escaped.
    var forbiddenCharacter: Unicode.Scalar? {
        attributes.lazy.compactMap { $0.value.flatMap(Self.forbiddenCharacter) }.first
            ?? children.lazy.compactMap(\.forbiddenCharacter).first
    }

    static func forbiddenCharacter(in text: String) -> Unicode.Scalar? {
        text.unicodeScalars.first { scalar in
            scalar.value < 0x20 && !"\n\r\t".unicodeScalars.contains(scalar) || [0xFFFE, 0xFFFF].contains(scalar.value)
        }
    }

    /// Escapes the value of an attribute. Line breaks are escaped, too, because XML parsers read them as spaces.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\r", "\t": escaped += "&#\(scalar.value);"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
