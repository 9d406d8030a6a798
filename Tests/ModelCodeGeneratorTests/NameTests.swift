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
        #expect(source(of: entity).contains("    public final var \(property): String { get {"))
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
        #expect(source.contains("\\Child.a_b: \"a b\", \\Child.a_b2: \"a_b\","))
    }

    @Test(arguments: [
        (nil, "Thing"), ("", "Thing"), ("NSManagedObject", "Thing"), ("Other", "Other"), (".Other", "Other"),
        ("App.Other", "Other"), ("A.B.Other", "Other"), ("Date", "Date_"), ("ManagedObject", "ManagedObject_"),
        ("My Class", "My_Class"), ("class", "`class`"), ("self", "self_"), ("Type", "Type_"), ("Any", "Any_"),
        ("SaveReport", "SaveReport_"), ("StoreStartup", "StoreStartup_"),
    ])
    func aClassHasTheLastComponentOfItsName(className: String?, generated: String) {
        let source = source(of: EntityDescription(name: "Thing", className: className, codeGeneration: .class))
        #expect(source.contains("\nnonisolated public class \(generated): ManagedObject {\n"))
        #expect(source.contains("    [\"Thing\": \(generated).self]\n"))
    }

    @Test func modelsOfDifferentNamesHaveDifferentClasses() {
        let names = ["Contacts", "contacts", "My Model", "My_Model", "MyModel", "2nd", "", "ä", "ö", "a20b", "a b"]
        let classes = names.map(ManagedObjectModel.generatedClassName(forModelNamed:))
        #expect(Set(classes).count == names.count)
        #expect(
            classes.prefix(3) == ["GeneratedModel_Contacts", "GeneratedModel_contacts", "GeneratedModel_My_20_Model"])
    }

    @Test func anEntityKeepsItsClassWhenTheModelWantsTheSame() {
        let entity = EntityDescription(name: "GeneratedModel_Model", codeGeneration: .class)
        let source = source(of: entity)
        #expect(source.contains("class GeneratedModel_Model: ManagedObject {"))
        #expect(source.contains("class GeneratedModel_Model2: GeneratedModel {"))
    }

    private static func entity(_ name: String, _ className: String, _ kind: CodeGeneration = .class)
        -> EntityDescription
    {
        EntityDescription(name: name, className: className, codeGeneration: kind)
    }

    @Test func entitiesOfOneClassGetClassesOfTheirOwnAndAWarning() {
        let entities = [Self.entity("B", "Thing"), Self.entity("A", "Thing")]
        let source = source(of: entities)
        #expect(source.contains("class Thing_A: ManagedObject"))
        #expect(source.contains("class Thing_B: ManagedObject"))
        #expect(!source.contains("class Thing: ManagedObject"))
        #expect(
            warnings(for: entities) == [
                "More than one entity has the class Thing: A, B. Generated classes must differ: A gets Thing_A, "
                    + "B gets Thing_B. Give each entity a class of its own."
            ])
    }

    @Test func theEntityThatIsCalledLikeTheClassKeepsIt() {
        let entities = [Self.entity("A", "Thing"), Self.entity("Thing", "Thing"), Self.entity("Z", ".Thing")]
        let source = source(of: entities)
        #expect(source.contains("/// The entity `Thing`.\nnonisolated public class Thing: ManagedObject"))
        #expect(source.contains("class Thing_A: ManagedObject") && source.contains("class Thing_Z: ManagedObject"))
        #expect(warnings(for: entities).count == 1)
    }

    @Test func theAncestorOfAllKeepsTheClass() {
        var entities = [Self.entity("B", "Thing"), Self.entity("A", "Thing")]
        entities[1].parentName = "B"
        #expect(source(of: entities).contains("class Thing_A: Thing {"))
        #expect(warnings(for: entities).count == 1)
    }

    /// Whatever comes into the model, no entity's class becomes another entity's, unless that is called like the class.
    @Test(arguments: ["A", "M", "Zoo", "Thing_B", "B_Thing"], ["Thing", "Other", "Thing_B", "B"])
    func aNewEntityNeverTakesTheClassOfAnother(_ name: String, _ className: String) throws {
        let old = [Self.entity("B", "Thing"), Self.entity("Other", "Other")]
        let before = classes(of: old)
        let after = classes(of: old + [Self.entity(name, className)])
        let taken = try #require(after[name])
        #expect(!before.contains { $0.key != name && $0.value == taken })
        #expect(Set(after.values).count == after.count)
    }

    @Test func aClassOfTheAuthorKeepsItsName() {
        let entities = [Self.entity("A", "Thing"), Self.entity("B", "Thing", .category)]
        let source = source(of: entities)
        #expect(source.contains("extension Thing {") && source.contains("class Thing_A: ManagedObject"))
        #expect(warnings(for: entities).first?.hasPrefix("More than one entity has the class Thing: A, B.") == true)
    }

    @Test func aClassIsExtendedForOneEntityWhoeverComesFirst() {
        let named = [Self.entity("A", "Thing", .category), Self.entity("Thing", "Thing", .category)]
        #expect(source(of: named).contains("// The entity A: its class Thing is extended for the entity Thing."))
        var parent = [Self.entity("B", "Thing", .category), Self.entity("A", "Thing", .category)]
        parent[1].parentName = "B"
        #expect(source(of: parent).contains("// The entity A: its class Thing is extended for the entity B."))
        let strangers = [Self.entity("B", "Thing", .category), Self.entity("A", "Thing", .category)]
        #expect(!source(of: strangers).contains("extension Thing {"))
        for entities in [named, parent, strangers] { #expect(warnings(for: entities).count == 1) }
    }

    @Test(arguments: ["self", "Self", "Type", "Protocol", "Any", "init"], [CodeGeneration.category, .manual])
    func aClassThatNobodyCanWriteIsAWarning(_ word: String, _ kind: CodeGeneration) {
        let entities = [Self.entity("A", word, kind)]
        #expect(!source(of: entities).contains("extension \(word)"))
        #expect(
            warnings(for: entities).first?.contains("has the class \(word), but Swift does not allow a class") == true)
    }

    @Test func aModelWithoutOddClassesHasNoWarnings() {
        #expect(
            warnings(for: [Self.entity("A", "Thing"), Self.entity("B", "Date"), Self.entity("C", "Other", .category)])
                == [])
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

    /// In an expression, the name of a property means the property, also in a subclass.
    @Test func aTypeWithTheNameOfAPropertyIsWrittenWithItsModule() {
        func attribute(_ name: String, _ type: AttributeType = .string, isMood: Bool = false) -> AttributeDescription {
            var found = AttributeDescription(name: name, type: type, isOptional: true)
            if isMood { found.userInfo["swiftType"] = "Mood" }
            if type == .date { (found.minimum, found.defaultValue) = (.date(1), .date(2)) }
            return found
        }
        let parent = EntityDescription(
            name: "Parent", attributes: [attribute("first", isMood: true), attribute("Date", .date)],
            codeGeneration: .class)
        let child = EntityDescription(
            name: "Child", parentName: "Parent",
            attributes: [
                attribute("mood", isMood: true), attribute("String"), attribute("day", .date), attribute("Swift"),
            ], codeGeneration: .class)
        let files = ModelSourceWriter(ManagedObjectModel(name: "M", entities: [parent, child])).files
        let text = files.map(\.text).joined()
        let (seconds, other) = ("timeIntervalSinceReferenceDate: 1.0", "timeIntervalSinceReferenceDate: 2.0")
        for line in [
            "@Stored(raw: String.self) var first: Mood?",
            "@Stored(in: Foundation.Date(\(seconds))...) var Date: Date? = Foundation.Date(\(other))",
            "@Stored(raw: Swift.String.self) var mood: Mood?", "var String: String?",
            "@Stored(in: Foundation.Date(\(seconds))...) var day: Date? = Foundation.Date(\(other))",
            "@Stored(name: \"Swift\") var Swift_: String?",
        ] {
            #expect(text.contains("    \(line)\n"), "\(line)\n\(text)")
        }
    }

    private func source(of entities: EntityDescription...) -> String { source(of: entities) }

    private func source(of entities: [EntityDescription]) -> String {
        ModelCodeGenerator().source(for: ManagedObjectModel(name: "Model", entities: entities))
    }

    private func warnings(for entities: [EntityDescription]) -> [String] {
        ModelCodeGenerator().warnings(for: ManagedObjectModel(name: "Model", entities: entities))
    }

    /// The generated class of each entity.
    private func classes(of entities: [EntityDescription]) -> [String: String] {
        let pairs = source(of: entities).matches(of: /\/\/\/ The entity `(.*)`\.\nnonisolated public class (\w+):/)
        return Dictionary(uniqueKeysWithValues: pairs.map { (String($0.1), String($0.2)) })
    }
}
