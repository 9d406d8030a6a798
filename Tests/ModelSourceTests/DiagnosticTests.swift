import Foundation
import ModelSource
import Testing

/// Each mistake is a diagnostic at its place. ‸ marks the place.
struct DiagnosticTests {
    static let mistakes = plainMistakes + swiftDataMistakes

    private static let plainMistakes: [(text: String, message: String)] = [
        ("@StoredEntity struct ‸A {}", "@StoredEntity belongs to a class"),
        ("@StoredEntity class ‸A {}", "A inherits from no class"),
        ("@StoredEntity class ‸A<T>: ManagedObject {}", "A generic class cannot be an entity"),
        (
            "@StoredEntity class ‸StoredLayout: ManagedObject {}",
            "@StoredEntity adds a type with the name StoredLayout to the class."
        ),
        (
            "@StoredComposite struct ‸LayoutChecks { var x: Int = 1 }",
            "@StoredComposite adds a type with the name LayoutChecks to the struct."
        ),
        (
            "@StoredEntity class ‸Swift: ManagedObject {}",
            "Swift is also the name of a module, and the code of @StoredEntity uses types of this module."
        ),
        (
            "class A: ManagedObject { @Stored(.codable) var x: ‸[SuperLayout.B]? }",
            "The macros add a type with the name SuperLayout"
        ),
        (
            "‸@Background @StoredEntity class A: ManagedObject { var x: Int }",
            "@Background can isolate A to an actor"
        ),
        ("‸@MainActor @StoredEntity class A: ManagedObject { var x: Int }", "A is isolated to @MainActor"),
        ("@StoredComposite ‸@MainActor struct A { var x: Int = 1 }", "A is isolated to @MainActor"),
        ("@StoredEntity class ‸`My A`: ManagedObject {}", "My A is not a name of letters"),
        ("@StoredComposite struct ‸`My A` { var x: Int = 1 }", "My A is not a name of letters"),
        ("class A: ManagedObject { var x: Int\nenum ‸A {} }", "The name A hides a type or a module"),
        ("class A: ManagedObject { var x: Int\ntypealias ‸A = Int }", "The name A hides a type or a module"),
        ("@StoredComposite struct A { var x: Int = 1\nstruct ‸A {} }", "The name A hides a type or a module"),
        ("class A: ManagedObject { let ‸x: Int }", "x is a let"),
        ("class A: ManagedObject { var ‸x = 5 }", "x has no type"),
        ("class A: ManagedObject { var ‸x: Int, y: Int }", "Declare one property at a time"),
        ("class A: ManagedObject { lazy var ‸x: Int = 5 }", "x is lazy"),
        ("class A: ManagedObject { weak var ‸x: B? }", "x is weak"),
        ("class A: ManagedObject { unowned(safe) var ‸x: B }", "x is unowned"),
        ("class A: ManagedObject { var ‸x: Int = 1 { didSet {} } }", "x has observers"),
        ("class A: ManagedObject { ‸@available(*, unavailable) var x: Int }", "x is unavailable"),
        ("class A: ManagedObject { ‸@Published var x: Int }", "x has the attribute @Published"),
        ("class A: ManagedObject { ‸@My.Stored var x: Int = 5 }", "x has the attribute @My.Stored"),
        ("class A: ManagedObject { ‸@My.Unstored var x: Int = 5 }", "x has the attribute @My.Unstored"),
        ("class A: ManagedObject { ‸@My.Related var x: Int = 5 }", "x has the attribute @My.Related"),
        (
            "class A: ManagedObject { @Related(onDelete: ‸My.cascade) var x: B? }",
            "The argument onDelete of @Related must be one of"
        ),
        ("class A: ManagedObject {\n#if DEBUG\nvar ‸x: Int\n#endif\n}", "x is in an #if"),
        ("class A: ManagedObject { var x: ‸Int8 }", "Int8 cannot be stored"),
        ("class A: ManagedObject { var x: ‸[String] }", "[String] cannot be stored"),
        ("class A: ManagedObject { var x: ‸(Int, Int) }", "(Int, Int) cannot be stored"),
        ("class A: ManagedObject { var x: ‸Int?? }", "Int?? cannot be stored"),
        ("class A: ManagedObject { var x: ‸Int! }", "Int! cannot be stored. Write a question mark"),
        ("class A: ManagedObject { var x: ‸RelatedObjects<B> }", "RelatedObjects<B> is a relationship"),
        ("class A: ManagedObject { @Related var x: ‸B }", "x is a to-one relationship"),
        ("class A: ManagedObject { @Related var x: ‸RelatedObjects<B>? }", "x is a to-many relationship"),
        ("class A: ManagedObject { @Related var x: ‸Int? }", "A relationship leads to a class"),
        ("class A: ManagedObject { @Related var x: B? = ‸nil }", "A relationship has no initial value"),
        (
            "class A: ManagedObject { @Related(inverse: ‸\"a.b\") var x: B? }",
            "\"a.b\" is not the name of a property"
        ),
        ("class A: ManagedObject { @Related(count: ‸1...2) var x: B? }", "A to-one relationship has no count"),
        ("class A: ManagedObject { @Related(count: ‸-1...2) var x: [B] }", "A count is a range of whole numbers"),
        (
            "class A: ManagedObject { @Related(onDelete: ‸.destroy) var x: B? }",
            "The argument onDelete of @Related must be one of"
        ),
        (
            "class A: ManagedObject { @Related(isTransient: ‸true) var x: [B] }",
            "A transient to-many relationship has no links"
        ),
        ("class A: ManagedObject { var x: Int16 = ‸40_000 }", "40_000 is not a value of Int16"),
        ("class A: ManagedObject { var x: String = ‸5 }", "5 is not a value of String"),
        ("class A: ManagedObject { var x: Bool = ‸nil }", "x is not optional"),
        ("class A: ManagedObject { @Stored(default: ‸\"x\") var x: Int }", "This is not a value of the attribute"),
        ("class A: ManagedObject { @Stored(default: ‸1) var x: Int = 2 }", "x has two default values"),
        ("class A: ManagedObject { var ‸description: String }", "description is a member of ManagedObject already"),
        (
            "class A: ManagedObject { var x: Int\n@Stored(name: \"x\") var ‸y: Int }",
            "Two properties of this entity have the name x"
        ),
        ("class A: ManagedObject { ‸@Stored var x: Int { 1 } }", "x is computed"),
        ("class A: ManagedObject { ‸@Stored static var x: Int = 1 }", "x is static or marked with @Unstored"),
        ("class A: ManagedObject { ‸@Stored @Related var x: B? }", "x is either an attribute or a relationship"),
        (
            "class A: ManagedObject { @Stored(name: ‸name) var x: Int }",
            "The argument name of @Stored must be a literal"
        ),
        ("class A: ManagedObject { @Stored(name: ‸\"\") var x: Int }", "A name in a model must not be empty"),
        (
            "class A: ManagedObject { @Stored(name: ‸1) var x: Int }",
            "The argument name of @Stored must be a string literal"
        ),
        ("class A: ManagedObject { @Stored(raw: ‸1) var x: K? }", "The argument raw of @Stored must be a type"),
        (
            "class A: ManagedObject { @Stored(.codable, raw: ‸Int16.self) var x: K? }",
            "x is stored in two ways at once"
        ),
        ("class A: ManagedObject { var ‸💡: Int }", "💡 is not a name of letters"),
        ("class A: ManagedObject { @Stored(unknown: ‸1) var x: Int }", "@Stored has no argument unknown"),
        ("class A: ManagedObject { @Stored(raw: ‸Float.self) var x: K? }", "Raw values are stored as"),
        ("class A: ManagedObject { @Stored(raw: Int16.self) var x: ‸K }", "x needs a default value"),
        ("class A: ManagedObject { @Stored(.codable) var x: ‸[Int] }", "x needs an initial value"),
        (
            "class A: ManagedObject { @Stored(.transformable) var x: ‸Foo? }",
            "A transformable whose type Swift cannot name"
        ),
        ("class A: ManagedObject { @Stored(matching: ‸\"a\") var x: Int }", "Only strings can have a pattern"),
        (
            "class A: ManagedObject { @Stored(matching: ‸\"[0-9\") var x: String? }",
            "The pattern [0-9 of x is not a regular expression"
        ),
        ("class A: ManagedObject { @Stored(length: ‸1...2) var x: Int }", "Only strings have a length"),
        ("class A: ManagedObject { @Stored(in: ‸0...5) var x: String }", "A string has no least or greatest value"),
        ("class A: ManagedObject { @Stored(in: ‸5...1) var x: Int }", "The lower bound of this range is greater"),
        (
            "class A: ManagedObject { @Stored(in: ‸0.5...0.1) var x: Double }",
            "The lower bound of this range is greater"
        ),
        (
            "class A: ManagedObject { @Stored(length: ‸5...1) var x: String }",
            "The lower bound of this range is greater"
        ),
        (
            "class A: ManagedObject { @Related(count: ‸5...1) var x: [B] }",
            "The lower bound of this range is greater"
        ),
        (
            "class A: ManagedObject { @Stored(in: ‸0.5...5) var x: Int }",
            "The bounds must be literals of the type Int"
        ),
        ("class A: ManagedObject { @Stored(in: ‸0..<5) var x: Int }", "The argument in of @Stored must be a range"),
        (
            "class A: ManagedObject { @Stored(.composite, unique: ‸true) var x: B? }",
            "A composite has several columns"
        ),
        (
            "class A: ManagedObject { @Stored(indexed: true, isTransient: ‸true) var x: Int }",
            "A transient attribute has no column"
        ),
        (
            "class A: ManagedObject { @Stored(derived: ‸\"a.@count\") var x: Int = 1 }",
            "A derived attribute has no default value"
        ),
        (
            "class A: ManagedObject { @Stored(indexed: true, derived: \"b.name\") var ‸x: String?\n@Related var b: B? }",
            "x is derived from other objects and has no column"
        ),
        (
            "class A: ManagedObject { @Stored(unique: true, derived: \"count:(bs)\") var ‸x: Int }",
            "x is derived from other objects and has no column"
        ),
        (
            "class A: ManagedObject { @Stored(derived: ‸\"a\", raw: Int16.self) var x: K? }",
            "A derived attribute must have a plain type"
        ),
        (
            "class A: ManagedObject { @Stored(derived: ‸\"reverse:(a)\") var x: String? }",
            "x is derived from reverse:(a), which is not a known derivation"
        ),
        (
            "@StoredEntity(unique: ‸[\"a\"]) class A: ManagedObject { var a: Int }",
            "The argument unique of @StoredEntity must be a list of lists"
        ),
        (
            "@StoredEntity(userInfo: ‸[1: 2]) class A: ManagedObject {}",
            "The argument userInfo of @StoredEntity must be a dictionary"
        ),
        (
            "@StoredEntity(isAbstract: ‸1) class A: ManagedObject {}",
            "The argument isAbstract of @StoredEntity must be true or false"
        ),
        (
            "@StoredEntity(indexes: ‸1) class A: ManagedObject {}",
            "The argument indexes of @StoredEntity must be an array literal"
        ),
        ("@StoredComposite class ‸A {}", "@StoredComposite belongs to a struct"),
        ("@StoredComposite struct ‸A<T> {}", "A generic struct cannot be a composite"),
        ("@StoredComposite struct ‸A {}", "A has no stored property"),
        (
            "@StoredComposite struct A { @StoredPart(unique: true) var ‸x: Int }",
            "A composite has no index of its own"
        ),
        (
            "class A: ManagedObject { ‸@StoredPart(renamedFrom: \"y\") var x: Int }",
            "@StoredPart belongs to a property of a struct"
        ),
        ("@StoredComposite struct A { ‸@Stored var x: Int }", "@Stored belongs to a property of a class"),
        ("@StoredComposite struct A { var x: Int = 1\n‸@Related var b: B? }", "A composite has no relationships"),
        ("class A: ManagedObject { /* é */ var x: ‸Int8 }", "Int8 cannot be stored"),
    ]

    /// Spellings of SwiftData. The messages say what replaces them.
    private static let swiftDataMistakes: [(text: String, message: String)] = [
        (
            "class A: ManagedObject { @Related(deleteRule: ‸.cascade) var x: B? }",
            "@Related has no argument deleteRule. Write onDelete: instead."
        ),
        (
            "class A: ManagedObject { @Stored(originalName: ‸\"y\") var x: Int = 1 }",
            "@Stored has no argument originalName. Write renamedFrom: instead."
        ),
        (
            "class A: ManagedObject { @Stored(deleteRule: ‸1) var x: Int = 1 }",
            "@Stored has no argument deleteRule. Remove the argument."
        ),
        (
            "class A: ManagedObject { @Stored(‸.unique) var x: Int = 1 }",
            "@Stored has no .unique. Write @Stored(unique: true) instead."
        ),
        (
            "class A: ManagedObject { @Related(inverse: ‸\\B.a) var x: B? }",
            "The inverse is the name of a property, not a key path. Write inverse: \"a\"."
        ),
        (
            "class A: ManagedObject { @Related var x: ‸Set<B> }",
            "A relationship whose objects have no order is not a Set. Write RelatedObjects<B>."
        ),
        (
            "class A: ManagedObject { ‸@Attribute(.unique, originalName: \"y\") var x: Int = 1 }",
            "x has the attribute @Attribute of SwiftData. Write @Stored(unique: true, renamedFrom: \"y\") instead."
        ),
        (
            "class A: ManagedObject { ‸@Relationship(deleteRule: .cascade, inverse: \\B.a) var x: [B] = [] }",
            "x has the attribute @Relationship of SwiftData. Write @Related(inverse: \"a\", onDelete: .cascade) instead."
        ),
        (
            "class A: ManagedObject { ‸@Transient var x: Int = 1 }",
            "x has the attribute @Transient of SwiftData. Write @Unstored instead."
        ),
        (
            "class A: ManagedObject { var x: Int = 1\n‸init(x: Int) { self.x = x } }",
            "A context makes the objects of A. Remove the init, call context.insert(A.self)"
        ),
    ]

    /// Mistakes that the compiler refuses itself. `model-reset` also reads files that were never compiled.
    static let syntaxMistakes: [(text: String, message: String)] = [
        ("class A: ManagedObject { ‸vra x: Int }", "No declaration begins with vra."),
        ("class A: ManagedObject { var y: Int\n‸- x\nvar z: Int }", "No declaration begins with -."),
        ("@StoredComposite struct A { var x: Int = 1\n‸y: Int }", "No declaration begins with y."),
        ("class A: ManagedObject { var ‸x: Int = = 5 }", "What follows the equals sign of x is not one value."),
        ("class A: ManagedObject { var ‸x: Int =\nvar y: Int }", "What follows the equals sign of x is not one value."),
        ("class A: ManagedObject { var ‸x: Int = 5 6 }", "What follows the equals sign of x is not one value."),
        (
            "class A: ManagedObject { @Stored(unique: true, unique: ‸false) var x: Int }",
            "@Stored has two arguments unique."
        ),
        ("@StoredEntity(\"A\", ‸\"B\") class A: ManagedObject {}", "@StoredEntity has two arguments without a label."),
        ("class A: ManagedObject { @Stored ‸@Stored var x: Int }", "This declaration has @Stored already."),
        ("@StoredEntity ‸@StoredEntity class A: ManagedObject {}", "This declaration has @StoredEntity already."),
        (
            "@StoredComposite ‸@StoredComposite struct A { var x: Int = 1 }",
            "This declaration has @StoredComposite already."
        ),
        ("class A: ManagedObject { ‸@Stored func f() {} }", "@Stored belongs to a property."),
        ("class ‸A: ManagedObject", "A has no braces."),
    ]

    static func diagnostics(of text: String) -> [SourceDiagnostic] {
        let source = SwiftSource(text.replacing("‸", with: ""))
        var parser = DeclarationParser(source)
        var reader = EntityReader(source)
        guard let declaration = parser.declarations().first else { return [] }
        if text.contains("@StoredComposite") {
            _ = reader.composite(declaration)
        } else {
            _ = reader.entity(declaration)
        }
        return reader.diagnostics
    }

    /// A part of a composite has a column, and so has an attribute that is derived from it.
    @Test func onlyAttributesOfOtherObjectsHaveNoColumn() {
        func messages(_ constraints: String, _ derived: String) -> [String] {
            Self.diagnostics(
                of: "@StoredEntity(unique: [\(constraints)]) class A: ManagedObject { var y: Int\n"
                    + "@Stored(derived: \"\(derived)\") var x: String?\n@Related var b: B?\n"
                    + "@Stored(.composite) var place: Place? }"
            ).map(\.message)
        }
        #expect(messages("[\"y\", \"x\"]", "b.name").map { $0.prefix(14) } == ["x is derived f"])
        #expect(messages("[\"y\", \"x\"]", "place.city") == [] && messages("[\"y\"]", "b.name") == [])
    }

    /// The code of the macros names these modules before the names of types.
    @Test(arguments: ["enum Swift {}", "typealias CoreDataSource = Int", "private final class Swift {}"])
    func aTypeInAClassHidesNoModule(_ type: String) {
        let messages = Self.diagnostics(of: "class A: ManagedObject { var x: Int\n\(type) }").map(\.message)
        #expect(messages.count == 1 && messages[0].contains(" hides a type or a module"), "\(messages)")
        let others = "enum B { enum A {}; enum Swift {} }\nfunc Swift() {}\nextension A {}"
        #expect(Self.diagnostics(of: "class A: ManagedObject { var x: Int\n\(others) }").isEmpty)
    }

    @Test(arguments: mistakes + syntaxMistakes)
    func aMistakeIsADiagnosticAtItsPlace(_ mistake: (text: String, message: String)) throws {
        let offset = try #require(mistake.text.range(of: "‸")).lowerBound.utf16Offset(in: mistake.text)
        let before = mistake.text.prefix(offset).utf8.count
        let diagnostics = Self.diagnostics(of: mistake.text)
        #expect(diagnostics.map(\.offset) == [before])
        let message = try #require(diagnostics.first?.message)
        #expect(message.hasPrefix(mistake.message))
        #expect(message.hasSuffix(".") && message.contains(" "))
    }
}
