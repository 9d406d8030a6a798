/// The known elements of the file format, with their attributes and child elements. An unknown element or attribute gets a
/// diagnostic. Some known elements and attributes have no effect.
enum Vocabulary {
    static func attributes(of element: String) -> Set<String> { attributes[element] ?? [] }

    static func children(of element: String) -> Set<String> { children[element] ?? [] }

    /// The element with the positions of entities in Xcode's diagram. The reader skips this element.
    static let layout = "elements"

    private static let children: [String: Set<String>] = [
        "model": ["entity", "fetchRequest", "configuration", "composite", layout],
        "entity": [
            "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints",
            "userInfo",
        ],
        "composite": ["attribute", "userInfo"],
        "attribute": ["userInfo"],
        "relationship": ["userInfo"],
        "fetchedProperty": ["fetchRequest", "userInfo"],
        "fetchIndex": ["fetchIndexElement"],
        "compoundIndexes": ["compoundIndex"],
        "compoundIndex": ["index"],
        "uniquenessConstraints": ["uniquenessConstraint"],
        "uniquenessConstraint": ["constraint"],
        "configuration": ["memberEntity"],
        "userInfo": ["entry"],
    ]

    private static let attributes: [String: Set<String>] = [
        "model": [
            "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
            "sourceLanguage", "userDefinedModelVersionIdentifier", "macOSVersion", "iOSVersion", "name",
            "usedWithCloudKit", "usedWithSwiftData",
        ],
        "entity": [
            "name", "representedClassName", "parentEntity", "isAbstract", "syncable", "codeGenerationType",
            "versionHashModifier", "elementID", "coreSpotlightDisplayNameExpression",
        ],
        "composite": ["name", "elementID", "versionHashModifier"],
        "attribute": [
            "name", "attributeType", "optional", "transient", "defaultValueString", "defaultDateTimeInterval",
            "usesScalarValueType", "minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval",
            "regularExpressionString", "valueTransformerName", "customClassName", "allowsExternalBinaryDataStorage",
            "preserveAfterDeletion", "allowsCloudEncryption", "spotlightIndexingEnabled", "storedInTruthFile",
            "indexed", "derived", "derivationExpression", "composite", "elementID", "versionHashModifier", "syncable",
        ],
        "relationship": [
            "name", "destinationEntity", "toMany", "optional", "minCount", "maxCount", "deletionRule", "ordered",
            "inverseName", "inverseEntity", "transient", "elementID", "versionHashModifier", "indexed", "syncable",
            "spotlightIndexingEnabled", "storedInTruthFile",
        ],
        "fetchedProperty": ["name", "optional", "transient", "elementID", "versionHashModifier", "syncable"],
        "fetchRequest": [
            "name", "entity", "predicateString", "resultType", "fetchLimit", "fetchBatchSize", "includeSubentities",
            "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
        ],
        "fetchIndex": ["name"],
        "fetchIndexElement": ["property", "type", "order"],
        "index": ["value"],
        "constraint": ["value"],
        "configuration": ["name", "usedWithCloudKit"],
        "memberEntity": ["name"],
        "entry": ["key", "value"],
    ]
}
