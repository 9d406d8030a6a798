/// A declaration that a model can contain but this library does not support.
///
/// The warnings of the model reader, the macros and the container use the strings in this enum. The table in the article on
/// models has the same strings.
package enum UnsupportedDeclaration: CaseIterable, Sendable {
    case fetchedProperty
    case predicate
    case objectOfVariable
    case resultType
    case pendingChanges
    case distinctResults
    case pattern
    case valueTransformer
    case preservedValue
    case externalRecord
    case indexType
    case compositeIdentity
    case cloudKit
    case cloudEncryption
    case spotlight
    case spotlightName

    /// Attributes of a model file that are not reported, because they do not change what the model's objects are or what a
    /// fetch returns.
    package static let hints = [
        "fetchBatchSize", "includePropertyValues", "returnObjectsAsFaults", "syncable", "usedWithSwiftData",
    ]

    /// The declaration in a model file, in Markdown.
    package var modelFileDeclaration: String {
        switch self {
        case .fetchedProperty: "`<fetchedProperty>`"
        case .predicate: "A `predicateString` that is not a valid predicate for the entity"
        case .objectOfVariable: "Keys of a `$VARIABLE` in a `predicateString`, as in `$FOLDER.name`"
        case .resultType: "`resultType` of a `<fetchRequest>`, other than 0"
        case .pendingChanges: "`includesPendingChanges=\"NO\"`"
        case .distinctResults: "`returnDistinctResults=\"YES\"`"
        case .pattern: "`regularExpressionString` of an attribute that is not a string"
        case .valueTransformer: "`valueTransformerName`"
        case .preservedValue: "`preserveAfterDeletion`"
        case .externalRecord: "`storedInTruthFile`"
        case .indexType: "`type` of a `<fetchIndexElement>`, other than `Binary`"
        case .compositeIdentity: "`elementID` and `versionHashModifier` of a `<composite>`"
        case .cloudKit: "`usedWithCloudKit`"
        case .cloudEncryption: "`allowsCloudEncryption`"
        case .spotlight: "`spotlightIndexingEnabled`"
        case .spotlightName: "`coreSpotlightDisplayNameExpression`"
        }
    }

    /// The effect of the declaration in this library, in Markdown.
    package var effect: String {
        switch self {
        case .fetchedProperty: "The class has no such property. Fetch the objects with a request."
        case .predicate: "The fetch request has no function, or its function throws. Correct the predicate."
        case .objectOfVariable:
            "A variable stands for a value, which has no keys, so the fetch throws. Compare with the value itself, or start the key path at the fetched object."
        case .resultType: "The function returns objects. Read values with `context.values`."
        case .pendingChanges: "The fetch finds unsaved objects of its context, too."
        case .distinctResults:
            "The function returns each object once. To read each value once, use `context.values` and a request with `isDistinct`."
        case .pattern: "Values are not compared with the pattern. Check them in your code."
        case .valueTransformer: "The transformer is not called. The type in `customClassName` encodes the values."
        case .preservedValue: "The value is deleted with its object."
        case .externalRecord: "Values are kept only in the store."
        case .indexType: "The index is made as a plain index."
        case .compositeIdentity:
            "The value has no effect. Set it on the attributes inside the composite, or on the attributes that use the composite."
        case .cloudKit: "No object is copied to CloudKit."
        case .cloudEncryption: "No value is encrypted."
        case .spotlight, .spotlightName: "Spotlight finds no objects."
        }
    }

    /// Returns the warning for one location in a model.
    ///
    /// - Parameters:
    ///   - words: The problem at the location, as a sentence without its period: `preserveAfterDeletion is ignored`.
    ///   - location: An entity, property or fetch request, such as `Contact.photo`.
    package func warning(_ words: String, at location: String) -> String {
        "\(location): \(words). \(effect.filter { $0 != "`" })"
    }
}
