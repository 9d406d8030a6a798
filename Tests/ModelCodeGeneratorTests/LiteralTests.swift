import Foundation
import ManagedModel
import ModelCodeGenerator
import Testing

/// The model as a value says everything that the model holds.
@Suite struct LiteralTests {
    private let attribute = AttributeDescription(
        name: "a", type: .integer16, isOptional: true, isTransient: true, defaultValue: .boolean(true),
        usesScalarValueType: true, minimum: .integer(.min), maximum: .double(.infinity), pattern: "p",
        valueTransformerName: "t", customClassName: "c", allowsExternalBinaryDataStorage: true, compositeName: "k",
        derivationExpression: "d", isIndexed: true, preservesValueInHistoryOnDeletion: true,
        allowsCloudEncryption: true,
        isIndexedBySpotlight: true, versionHashModifier: "v", renamingIdentifier: "r", userInfo: ["u": "i"])
    private let relationship = RelationshipDescription(
        name: "r", destinationName: "E", inverseName: "i", isToMany: true, isOrdered: true, isOptional: true,
        isTransient: true, minimumCount: 1, maximumCount: 2, deleteRule: .deny, versionHashModifier: "v",
        renamingIdentifier: "o", userInfo: ["u": "i"])
    private let request = FetchRequestTemplate(
        name: "q", entityName: "E", predicateFormat: "p", resultType: .objectIDs, fetchLimit: 1,
        includesSubentities: false)

    /// A field that is added to a description and forgotten here fails this test.
    @Test func everyFieldThatHasNotItsDefaultIsWritten() {
        let fetched = FetchedPropertyDescription(
            name: "f", isOptional: true, fetchRequest: request, userInfo: ["u": "i"])
        let element = FetchIndexDescription.Element(property: "a", isAscending: false)
        let index = FetchIndexDescription(name: "x", elements: [element], isCompound: true)
        let entity = EntityDescription(
            name: "E", className: "C", parentName: "P", isAbstract: true, attributes: [attribute],
            relationships: [relationship], fetchedProperties: [fetched], indexes: [index],
            uniquenessConstraints: [["a"]], userInfo: ["u": "i"], versionHashModifier: "v", renamingIdentifier: "o",
            codeGeneration: .category)
        let configuration = EntityConfiguration(name: "g", entityNames: ["E"])
        let composite = CompositeDescription(name: "k", attributes: [attribute])
        let earlier = EarlierVersion(hashes: ["h"], entityNames: ["E": "D"], propertyNames: ["E": ["a": "b"]])
        let model = ManagedObjectModel(
            name: "M", version: "M 2", entities: [entity], composites: [composite], fetchRequests: [request],
            configurations: [configuration], versionIdentifier: "1", earlierVersions: [earlier])
        let source = ModelCodeGenerator().source(for: model)
        let values: [Any] = [
            model, entity, attribute, relationship, fetched, request, index, element, configuration, composite,
            earlier,
        ]
        for value in values {
            // A whole model has no configuration. One that was read has no classes, so no error of them, and no values that they
            // evaluate.
            for label in Mirror(reflecting: value).children.compactMap(\.label)
            where !["configurationName", "classError", "evaluatedAttributes"].contains(label) {
                #expect(source.contains("\(label): "), "\(label) of \(type(of: value))")
            }
        }
    }

    @Test(arguments: [
        (AttributeValue.boolean(false), ".boolean(false)"),
        (.integer(-1), ".integer(-1)"),
        (.double(0.1), ".double(0.1)"),
        (.double(1e300), ".double(1e+300)"),
        (.double(-.infinity), ".double(-.infinity)"),
        (.double(.nan), ".double(.nan)"),
        (.decimal(Decimal(sign: .minus, exponent: -2, significand: 125)), #".decimal(Decimal(string: "-1.25") ?? 0)"#),
        (.string("a\"b\\(c)\n"), #".string("a\"b\\(c)\n")"#),
        (.string(""), #".string("")"#),
        (.date(-1.5), ".date(-1.5)"),
        (
            .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255))),
            ".uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255)))"
        ),
    ])
    func aValueIsWrittenExactly(value: AttributeValue, literal: String) {
        let attribute = AttributeDescription(name: "x", type: .string, defaultValue: value)
        #expect(source(of: [attribute]).contains("defaultValue: \(literal))"))
    }

    @Test func aDictionaryIsSortedSoThatTheBytesAreTheSame() {
        let userInfo = Dictionary(uniqueKeysWithValues: (1...9).map { ("k\($0)", "v") })
        let attribute = AttributeDescription(name: "x", type: .string, userInfo: userInfo)
        let keys = source(of: [attribute]).split(separator: "\"").filter { $0.hasPrefix("k") }
        #expect(keys == keys.sorted() && keys.count == 9)
    }

    @Test func theOptionChangesTheCodeAndNotTheModel() {
        let entity = EntityDescription(name: "E", codeGeneration: .class)
        let model = ManagedObjectModel(name: "M", entities: [entity])
        let source = ModelCodeGenerator(codeGeneration: .manual).source(for: model)
        #expect(source.contains("// The entity E: it has no class of its own."))
        #expect(source.contains("EntityDescription(name: \"E\", codeGeneration: .class)"))
        #expect(!source.contains("classes:"))
    }

    private func source(of attributes: [AttributeDescription]) -> String {
        let entity = EntityDescription(name: "E", attributes: attributes)
        return ModelCodeGenerator().source(for: ManagedObjectModel(name: "M", entities: [entity]))
    }
}
