import Foundation
import ModelSource
import Testing

struct EntityReaderTests {
    private func read(_ text: String) throws -> (entity: EntitySource?, diagnostics: [SourceDiagnostic]) {
        let source = SwiftSource(text)
        var parser = DeclarationParser(source)
        let declaration = try #require(parser.declarations().first)
        var reader = EntityReader(source)
        return (reader.entity(declaration), reader.diagnostics)
    }

    @Test func theTextOfAClassHasWhatAModelHas() throws {
        let (entity, diagnostics) = try read(
            """
            @StoredEntity("Person", unique: [["name", "age"]], renamedFrom: "Human", userInfo: ["a": "b"])
            public final class PersonEntity: CoreDataSource.ManagedObject {
                var name: String = "Ann", // a comment
                    unused: Int { 1 }
            }
            """)
        #expect(
            diagnostics.map(\.message) == ["Declare one property at a time, each with a var and a type of its own."])
        #expect(entity?.name == "Person" && entity?.superclass == "ManagedObject" && entity?.isRoot == true)
        #expect(entity?.accessLevel == "public" && entity?.uniquenessConstraints == [["name", "age"]])
        #expect(entity?.renamingIdentifier == "Human" && entity?.userInfo == ["a": "b"])
    }

    @Test(arguments: [
        ("var a: Bool = true", ValueSource.boolean(true)), ("var a: Int16 = -0x10", .integer(-16)),
        ("var a: Int = 1_000", .integer(1000)),
        ("var a: Double = 5", .double(5)), ("var a: Float = 0.5", .double(0.5)),
        ("var a: String? = \"x\"", .string("x")),
        ("var a: Decimal = 1.10", .decimal(Decimal(string: "1.1") ?? 0)),
        ("var a: Date = Date(timeIntervalSinceReferenceDate: 1.5)", .date(1.5)),
        ("var a: Date = Foundation.Date(timeIntervalSinceReferenceDate: 1.5)", .date(1.5)),
        ("var a: Foundation.Date = Foundation.Date.init(timeIntervalSinceReferenceDate: 1.5)", .date(1.5)),
        ("@Stored(default: \"https://a.b\") var a: URL", .string("https://a.b")),
        ("@Stored(raw: Int16.self, default: 3) var a: Kind", .integer(3)),
        ("@Stored /* with a space */ (raw: Int16.self, default: 3) var a: Kind", .integer(3)),
    ])
    func literalsAreDefaultValues(_ property: String, _ expected: ValueSource) throws {
        let (entity, diagnostics) = try read("@StoredEntity class A: ManagedObject { \(property) }")
        #expect(diagnostics.isEmpty)
        #expect(entity?.attributes.first?.defaultValue == .value(expected))
    }

    @Test func otherInitialValuesAreNoPartOfTheModel() throws {
        let (entity, diagnostics) = try read(
            "@StoredEntity class A: ManagedObject { var id: UUID = UUID()\nvar at: Date = .now }")
        #expect(diagnostics.isEmpty)
        #expect(entity?.attributes.map(\.defaultValue) == [nil, nil])
        #expect(entity?.attributes.map(\.initialValue) == ["UUID()", ".now"])
    }

    @Test func propertiesThatAreNotStoredAreIgnored() throws {
        let (entity, diagnostics) = try read(
            """
            @StoredEntity class A: ManagedObject {
                static let shared = 1
                class var other: Int { 2 }
                @Unstored lazy var cache: [Int] = { [1] }()
                @Unstored let constant = 5
                var computed: Foo { get { Foo() } set {} }
                func f() { var local: Foo }
                struct Nested { var x: Foo }
                var stored: Int?
            }
            """)
        #expect(diagnostics.isEmpty)
        #expect(entity?.attributes.map(\.name) == ["stored"])
    }

    /// A getter can have names that are words for observers elsewhere.
    @Test func aGetterWithWordsOfObserversIsAGetter() throws {
        let (entity, diagnostics) = try read(
            "@StoredEntity class A: ManagedObject { var x: Int { let didSet = 1; return didSet }; var y: Int { willSet() } }"
        )
        #expect(diagnostics.isEmpty && entity?.attributes.isEmpty == true)
    }

    /// A property with an attribute that changes nothing has its accessors, too.
    @Test(arguments: [
        "available(*, deprecated)", "nonobjc", "usableFromInline", "_documentation(visibility: internal)",
    ])
    func plainAttributesStay(_ attribute: String) throws {
        let property = "@\(attribute) var x: Int"
        let (entity, diagnostics) = try read("@StoredEntity class A: ManagedObject { \(property) }")
        #expect(diagnostics.isEmpty && entity?.attributes.map(\.name) == ["x"])
        let claim = MacroExpansion(
            macro: "StoredEntity", role: .memberAttribute, attribute: "@StoredEntity", declaration: property)
        #expect(claim.text == "@Stored")
    }

    /// The module can be spelled before the name of a macro.
    @Test(arguments: ["CoreDataSource.", "CoreDataSource::", "`CoreDataSource`."])
    func anAttributeCanNameItsModule(_ module: String) throws {
        let (entity, diagnostics) = try read(
            """
            @\(module)StoredEntity("E") class A: ManagedObject {
                @\(module)Stored(name: "b", in: 1...2) var a: Int
                @\(module)Related(onDelete: CoreDataSource.DeleteRule.deny) var r: B?
                @\(module)Unstored var u: [Foo] = []
            }
            """)
        #expect(diagnostics.isEmpty && entity?.name == "E")
        #expect(entity?.attributes.map(\.name) == ["b"] && entity?.relationships.map(\.deleteRule) == ["deny"])
    }

    @Test func aCompositeHasItsPropertiesAsAttributes() throws {
        let source = SwiftSource(
            "@StoredComposite struct A { var x: Double = 1\n@StoredPart(.composite, renamedFrom: \"b\") var y: B?\nlet z: Int }"
        )
        var parser = DeclarationParser(source)
        var reader = EntityReader(source)
        let composite = reader.composite(try #require(parser.declarations().first))
        #expect(reader.diagnostics.isEmpty)
        #expect(composite?.attributes.map(\.name) == ["x", "y", "z"])
        #expect(composite?.attributes[1].renamingIdentifier == "b")
    }
}
