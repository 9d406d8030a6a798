import ManagedModel
import ModelCodeGenerator
import Testing

/// Names of a model as the identifiers of Swift.
@Suite struct NameTests {
    @Test(arguments: [
        ("name", "name"), ("class", "`class`"), ("self", "self_"), ("Type", "Type_"), ("objectID", "objectID_"),
        ("first name", "first_name"), ("a.b", "a_b"), ("2nd", "_2nd"), ("", "unnamed"), ("_", "__"), ("$0", "_0"),
        ("größe", "größe"), ("名前", "名前"), ("a\nb", "a_b"), ("Generated", "Generated_"),
    ])
    func aPropertyHasTheNearestIdentifier(attribute: String, property: String) {
        let entity = EntityDescription(
            name: "Thing", attributes: [AttributeDescription(name: attribute, type: .string)], codeGeneration: .class)
        #expect(source(of: entity).contains("    public final var \(property): String {\n"))
    }

    @Test func aCollisionGetsANumberAndExactNamesStay() {
        let attributes = ["a b", "a.b", "a_b"].map { AttributeDescription(name: $0, type: .string) }
        let source = source(of: EntityDescription(name: "Thing", attributes: attributes, codeGeneration: .class))
        for pair in [#"\Thing.a_b2: "a b","#, #"\Thing.a_b3: "a.b","#, #"\Thing.a_b: "a_b","#] {
            #expect(source.contains(pair))
        }
    }

    @Test func aChildsPropertyDoesNotHideItsParents() {
        let parent = EntityDescription(
            name: "Parent", attributes: [AttributeDescription(name: "a b", type: .string)], codeGeneration: .class)
        let child = EntityDescription(
            name: "Child", parentName: "Parent", attributes: [AttributeDescription(name: "a_b", type: .string)],
            codeGeneration: .class)
        let source = source(of: parent, child)
        #expect(source.contains("\\Child.a_b: \"a b\",\n            \\Child.a_b2: \"a_b\","))
    }

    @Test(arguments: [
        (nil, "Thing"), ("", "Thing"), ("NSManagedObject", "Thing"), ("Other", "Other"), (".Other", "Other"),
        ("App.Other", "Other"), ("A.B.Other", "Other"), ("Date", "Date_"), ("ManagedObject", "ManagedObject_"),
        ("My Class", "My_Class"), ("class", "`class`"),
    ])
    func aClassHasTheLastComponentOfItsName(className: String?, generated: String) {
        let source = source(of: EntityDescription(name: "Thing", className: className, codeGeneration: .class))
        #expect(source.contains("\nnonisolated public class \(generated): ManagedObject {\n"))
        #expect(source.contains("classes: [\"Thing\": \(generated).self]"))
    }

    @Test func twoEntitiesDoNotShareAGeneratedClass() {
        let source = source(
            of: EntityDescription(name: "A", className: "Thing", codeGeneration: .class),
            EntityDescription(name: "B", className: "Thing", codeGeneration: .class))
        #expect(source.contains("class Thing: ManagedObject"))
        #expect(source.contains("class Thing2: ManagedObject"))
    }

    @Test(arguments: [
        ("Contacts", "contacts"), ("AllTypes", "allTypes"), ("Town Library", "townLibrary"), ("URLCache", "urlCache"),
        ("IM", "im"), ("default", "`default`"), ("2024", "_2024"), ("my-model_v2", "myModelV2"), ("", "unnamed"),
    ])
    func theModelIsAMemberInLowerCamelCase(name: String, member: String) {
        let source = ModelCodeGenerator().source(for: ManagedObjectModel(name: name, entities: []))
        #expect(source.contains("    public static let \(member) = ManagedObjectModel("))
    }

    @Test func nothingInANameEndsAStringOrAComment() {
        let name = "a\"\\(b)\u{2028}\r\nimport Evil\0"
        let attribute = AttributeDescription(name: name, type: .undefined)
        let source = source(of: EntityDescription(name: name, attributes: [attribute], codeGeneration: .class))
        #expect(!source.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("import Evil") })
        #expect(source.contains(#"{ "a\"\\(b)\u{2028}\r\nimport Evil\u{0}" }"#))
    }

    private func source(of entities: EntityDescription...) -> String {
        ModelCodeGenerator().source(for: ManagedObjectModel(name: "Model", entities: entities))
    }
}
