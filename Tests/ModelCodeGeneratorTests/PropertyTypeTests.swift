import Foundation
import ManagedModel
import ModelCodeGenerator
import Testing

/// The Swift types of attributes, and what a file imports for them.
@Suite struct PropertyTypeTests {
    @Test(arguments: [
        (AttributeType.integer16, "Int16"), (.integer32, "Int32"), (.integer64, "Int64"), (.double, "Double"),
        (.float, "Float"), (.boolean, "Bool"), (.decimal, "Decimal"), (.string, "String"), (.date, "Date"),
        (.binary, "Data"), (.uuid, "UUID"), (.uri, "URL"),
    ])
    func onlyOptionalNumbersCanBeScalar(type: AttributeType, spelling: String) {
        let isNumber = [.integer16, .integer32, .integer64, .double, .float, .boolean].contains(type)
        let optional = AttributeDescription(name: "x", type: type, isOptional: true)
        let scalar = AttributeDescription(name: "x", type: type, isOptional: true, usesScalarValueType: true)
        #expect(line(for: AttributeDescription(name: "x", type: type)) == "x: \(spelling)")
        #expect(line(for: optional) == "x: \(spelling)?")
        #expect(line(for: scalar) == (isNumber ? "x: \(spelling)" : "x: \(spelling)?"))
    }

    @Test(arguments: [
        ("[String]", "[String]"), ("Color", "Color"), ("Palette.Color", "Palette.Color"), ("[ Int64 ]", "[Int64]"),
        ("[String:[Int]]", "[String: [Int]]"), ("Set<String>", "Set<String>"), ("[String?]", "[String?]"),
        ("[String]?", "[String]"), ("UID", "UID"), ("Pair<A,B>", "Pair<A, B>"),
    ])
    func aTransformableHasItsDeclaredType(declared: String, type: String) {
        #expect(line(for: transformable(declared)) == "x: \(type)?")
        #expect(source(of: transformable(declared)).contains("get { transformable(at: 0) }"))
    }

    @Test(arguments: [
        nil, "", "NSArray", "NSDictionary", "NSObject", "UIColor", "Any", "[Any]", "[NSString]", "[String", "String]",
        "String; import Evil", "A B", "(Int, Int)", "Set<", "class", "[String:]", "A..B", "\"", "1X",
    ])
    func aTransformableThatSwiftCannotNameIsBytes(declared: String?) {
        #expect(line(for: transformable(declared)) == "x: Data?")
        #expect(source(of: transformable(declared)).contains("get { attribute(at: 0) }"))
    }

    @Test(arguments: [true, false], [true, false])
    func anIntegerOf64BitsCanBeAnInt(isOptional: Bool, isScalar: Bool) {
        let attribute = AttributeDescription(
            name: "x", type: .integer64, isOptional: isOptional, usesScalarValueType: isScalar,
            userInfo: ["swiftType": "Int"])
        #expect(line(for: attribute) == (isOptional && !isScalar ? "x: Int?" : "x: Int"))
        #expect(source(of: attribute).contains("set { setAttribute(newValue, at: 0) }"))
    }

    /// Whether it is a scalar does not count: there is no zero of an enum.
    @Test(arguments: [
        (AttributeType.string, "newValue.rawValue as String", "newValue.map { $0.rawValue as String }"),
        (.integer16, "newValue.rawValue as Int16", "newValue.map { $0.rawValue as Int16 }"),
        (.integer32, "newValue.rawValue as Int32", "newValue.map { $0.rawValue as Int32 }"),
        (
            .integer64, ".init(truncatingIfNeeded: newValue.rawValue) as Int64",
            "newValue.map { .init(truncatingIfNeeded: $0.rawValue) as Int64 }"
        ),
    ])
    func anAttributeCanHaveATypeWithRawValues(type: AttributeType, required: String, optional: String) {
        for isOptional in [true, false] {
            let attribute = AttributeDescription(
                name: "x", type: type, isOptional: isOptional, defaultValue: .integer(0), usesScalarValueType: true,
                userInfo: ["swiftType": "Contact.Kind"])
            #expect(line(for: attribute) == (isOptional ? "x: Contact.Kind?" : "x: Contact.Kind"))
            let source = source(of: attribute)
            #expect(source.contains("set { setAttribute(\(isOptional ? optional : required), at: 0) }"))
        }
    }

    @Test(arguments: [
        (AttributeType.integer16, "Int", "is Int, which needs the type Integer 64, but its type is Integer 16"),
        (.transformable, "Kind", "needs a string or an integer, but its type is Transformable"),
        (.date, "Kind", "needs a string or an integer, but its type is Date"),
        (.string, "Int16", "is not the name of a type of the app"), (.string, "[Kind]", "is not the name"),
        (.string, "Kind?; import Evil", "is not the name"), (.string, "", "is not the name"),
        (.integer64, "Set<Kind>", "is not the name"),
    ])
    func aTypeThatDoesNotGoWithTheAttributeGivesNoProperty(type: AttributeType, name: String, reason: String) {
        let attribute = AttributeDescription(
            name: "x", type: type, isOptional: true, userInfo: ["swiftType": name])
        #expect(line(for: attribute) == nil)
        #expect(source(of: attribute).contains("// `x` has no property: its swiftType "))
        #expect(source(of: attribute).contains(reason))
        let warnings = warnings(of: attribute)
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix("Thing.x has no property: its swiftType ") == true)
        #expect(warnings.first?.contains(reason) == true)
    }

    @Test func aTypeOfACompositeThatDoesNotGoWithItsAttributeIsAWarning() {
        let outer = AttributeDescription(name: "x", type: .composite, compositeName: "Pair")
        let first = AttributeDescription(name: "a", type: .string)
        let second = AttributeDescription(name: "b", type: .date, userInfo: ["swiftType": "Kind"])
        let model = ManagedObjectModel(
            name: "Model",
            entities: [EntityDescription(name: "Thing", attributes: [outer], codeGeneration: .class)],
            composites: [CompositeDescription(name: "Pair", attributes: [first, second])])
        #expect(
            ModelCodeGenerator().warnings(for: model) == [
                "Pair.b has no property: its swiftType needs a string or an integer, but its type is Date."
            ])
    }

    @Test func aRequiredTypeWithRawValuesNeedsADefaultValue() {
        let attribute = AttributeDescription(name: "x", type: .string, userInfo: ["swiftType": "Kind"])
        #expect(line(for: attribute) == nil)
        #expect(
            source(of: attribute).contains(
                "its swiftType is Kind, so the attribute must be optional or have a default value")
        )
    }

    @Test(arguments: [(AttributeType.string, "String"), (.integer64, "Int64"), (.date, "Date")])
    func theTypeThatAnAttributeHasAnywayCanBeNamed(type: AttributeType, name: String) {
        let attribute = AttributeDescription(name: "x", type: type, userInfo: ["swiftType": name])
        #expect(line(for: attribute) == "x: \(name)")
    }

    @Test(arguments: [AttributeType.undefined, .objectID])
    func aTypeWithoutValuesHasNoProperty(_ type: AttributeType) {
        let attribute = AttributeDescription(name: "x", type: type)
        #expect(line(for: attribute) == nil)
        let reason = "attributes of type \(type.rawValue) have no Swift type"
        #expect(source(of: attribute).contains("// `x` has no property: \(reason)."))
    }

    @Test func aDerivedAttributeCannotBeSet() {
        let attribute = AttributeDescription(name: "x", type: .date, derivationExpression: "now()")
        #expect(source(of: attribute).contains("    public final var x: Date { attribute(at: 0) }\n"))
    }

    @Test(arguments: [
        (AttributeType.string, AccessLevel.public, "public import CoreDataSource\n\n"),
        (.date, .public, "public import CoreDataSource\npublic import Foundation\n\n"),
        (.date, .package, "package import CoreDataSource\npackage import Foundation\n\n"),
        (.date, .internal, "import CoreDataSource\nimport Foundation\n\n"),
    ])
    func anImportIsAsVisibleAsItsUse(type: AttributeType, access: AccessLevel, imports: String) {
        let source = source(of: AttributeDescription(name: "x", type: type), access: access)
        #expect(source.contains("\n\n" + imports))
    }

    @Test func foundationIsImportedForALiteralAlone() {
        let bounded = AttributeDescription(name: "x", type: .string, minimum: .decimal(.pi))
        #expect(source(of: bounded).contains("public import CoreDataSource\nimport Foundation\n"))
    }

    @Test func aCompositeThatHoldsItselfHasNoProperty() {
        let outer = AttributeDescription(name: "x", type: .composite, compositeName: "Node")
        let inner = AttributeDescription(name: "next", type: .composite, compositeName: "Node")
        let model = ManagedObjectModel(
            name: "Model",
            entities: [EntityDescription(name: "Thing", attributes: [outer], codeGeneration: .class)],
            composites: [CompositeDescription(name: "Node", attributes: [inner])])
        let source = ModelCodeGenerator().source(for: model)
        #expect(source.contains("// `x` has no property: the composite Node contains itself."))
        #expect(!source.contains("struct Node"))
    }

    private func transformable(_ customClassName: String?) -> AttributeDescription {
        AttributeDescription(name: "x", type: .transformable, customClassName: customClassName)
    }

    private func warnings(of attribute: AttributeDescription) -> [String] {
        let entity = EntityDescription(name: "Thing", attributes: [attribute], codeGeneration: .class)
        return ModelCodeGenerator().warnings(for: ManagedObjectModel(name: "Model", entities: [entity]))
    }

    private func source(of attribute: AttributeDescription, access: AccessLevel = .public) -> String {
        let entity = EntityDescription(name: "Thing", attributes: [attribute], codeGeneration: .class)
        let model = ManagedObjectModel(name: "Model", entities: [entity])
        return ModelCodeGenerator(access: access).source(for: model)
    }

    /// The property's name and type, as declared.
    private func line(for attribute: AttributeDescription) -> String? {
        let start = "    public final var "
        let line = source(of: attribute).split(separator: "\n").first { $0.hasPrefix(start) }
        return line.map { String($0.dropFirst(start.count).prefix { $0 != "{" }.dropLast()) }
    }
}
