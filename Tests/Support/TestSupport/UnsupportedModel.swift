import Foundation

/// A model that says one thing that this library does not do.
public struct UnsupportedModel: Sendable {
    /// The elements of a model file.
    public let elements: String
    /// Attributes of the file's `<model>`.
    public let attributes: String
    /// The same model in Swift; nil if only a file says it.
    public let swift: String?
    /// The argument of a macro that says it; nil if no macro sees it.
    public let macroArgument: String?

    private init(_ elements: String, attributes: String = "", swift: String? = nil, macroArgument: String? = nil) {
        self.elements = elements
        self.attributes = attributes
        self.swift = swift
        self.macroArgument = macroArgument
    }

    /// The text of a model file.
    public var contents: String {
        let type = "com.apple.IDECoreDataModeler.DataModel"
        return "<model type=\"\(type)\" \(attributes)>\n\(elements)\n</model>"
    }

    private static func entity(_ settings: String = "", _ rest: String = "", type: String = "String") -> String {
        "<entity name=\"E\">\n<attribute name=\"a\" optional=\"YES\" attributeType=\"\(type)\" \(settings)/>\(rest)</entity>"
    }

    private static func request(_ settings: String, swift: String? = nil) -> UnsupportedModel {
        UnsupportedModel(
            entity() + "\n<fetchRequest name=\"f\" entity=\"E\" \(settings)/>",
            swift: swift.map {
                "let model = ManagedObjectModel(\"M\", fetchRequests: [FetchRequestTemplate(name: \"f\", entityName: \"E\", \($0))]) { E.self }\n@StoredEntity final class E: ManagedObject { var a: String? }\n"
            })
    }

    private static func classes(_ members: String, _ arguments: String = "") -> String {
        "let model = ManagedObjectModel(\"M\") { E.self }\n@StoredEntity\(arguments) final class E: ManagedObject {\n\(members)\n}\n"
    }

    /// By the name of the case of `UnsupportedDeclaration`.
    public static let all: [String: UnsupportedModel] = [
        "fetchedProperty": UnsupportedModel(
            entity(
                "", "<fetchedProperty name=\"p\"><fetchRequest name=\"q\" entity=\"E\"/></fetchedProperty>"),
            swift: classes(
                "var a: String?",
                "(fetchedProperties: [FetchedPropertyDescription(name: \"p\", fetchRequest: FetchRequestTemplate(name: \"q\", entityName: \"E\"))])"
            ), macroArgument: "fetchedProperties"),
        "predicate": request("predicateString=\"b == 1\"", swift: "predicateFormat: \"b == 1\""),
        "objectOfVariable": request(
            "predicateString=\"a == $FOLDER.name\"", swift: "predicateFormat: \"a == $FOLDER.name\""),
        "resultType": request("resultType=\"1\"", swift: "resultType: .objectIDs"),
        "pendingChanges": request("includesPendingChanges=\"NO\""),
        "distinctResults": request("returnDistinctResults=\"YES\""),
        "pattern": UnsupportedModel(
            entity("regularExpressionString=\"[0-9]\"", type: "Integer 64"),
            swift: classes(
                "",
                "(attributes: [AttributeDescription(name: \"a\", type: .integer64, isOptional: true, pattern: \"1\")])"
            )),
        "valueTransformer": UnsupportedModel(
            entity("valueTransformerName=\"T\" customClassName=\"NSObject\"", type: "Transformable"),
            swift: classes("@Stored(.transformable, transformer: \"T\", className: \"NSObject\") var a: Data?"),
            macroArgument: "transformer"),
        "preservedValue": UnsupportedModel(
            entity("preserveAfterDeletion=\"YES\""),
            swift: classes("@Stored(isPreservedAfterDeletion: true) var a: String?"),
            macroArgument: "isPreservedAfterDeletion"),
        "externalRecord": UnsupportedModel(entity("storedInTruthFile=\"YES\"")),
        "indexType": UnsupportedModel(
            entity("", "<fetchIndex name=\"i\"><fetchIndexElement property=\"a\" type=\"RTree\"/></fetchIndex>")),
        "compositeIdentity": UnsupportedModel(entity() + "<composite name=\"C\" elementID=\"D\"/>"),
        "cloudKit": UnsupportedModel(entity(), attributes: "usedWithCloudKit=\"YES\""),
        "cloudEncryption": UnsupportedModel(
            entity("allowsCloudEncryption=\"YES\""), swift: classes("@Stored(isCloudEncrypted: true) var a: String?"),
            macroArgument: "isCloudEncrypted"),
        "spotlight": UnsupportedModel(
            entity("spotlightIndexingEnabled=\"YES\""),
            swift: classes("@Stored(isIndexedBySpotlight: true) var a: String?"),
            macroArgument: "isIndexedBySpotlight"),
        "spotlightName": UnsupportedModel(
            entity().replacing("<entity ", with: "<entity coreSpotlightDisplayNameExpression=\"a\" ")),
    ]
}
