import ErrorExpectations
import Foundation
import ManagedModel
import ModelConversion
import ModelReader
import TestSupport
import Testing

/// What the command cannot read in Swift is an error with file and line.
struct SwiftModelErrorTests {
    private static let model = "let model = ManagedObjectModel(\"M\") { A.self }\n"

    @Test(arguments: [
        ("@StoredEntity class A: ManagedObject { var x: Int }\n", 0, "These files contain no model."),
        (model + "@StoredEntity class A: ManagedObject {\n  var x: Int8\n}", 3, "Int8 cannot be stored."),
        (
            model + "@StoredEntity class A: ManagedObject {\n  var x: Int = (\n}", 3,
            "The next unmatched closing bracket"
        ),
        (model + "class A: ManagedObject {}", 1, "No class A with @StoredEntity is in these files."),
        (model + model + "@StoredEntity class A: ManagedObject {}", 2, "This is a second model: M"),
        (
            model + "@StoredEntity class A: ManagedObject {}\n@StoredEntity class A: ManagedObject {}", 3,
            "A is declared in"
        ),
        ("let x = ManagedObjectModel(name) { A.self }", 0, "The name of a model must be a string literal"),
        ("let x = ManagedObjectModel(\"M\") { if a { A.self } }", 1, "The classes of a model must be literal"),
        ("let x = ManagedObjectModel(\"M\") { for t in all { t } }", 1, "The classes of a model must be literal"),
        ("let x = ManagedObjectModel(\"M\", entities: list)", 1, "The classes of a model must follow in braces"),
        (
            "let x = ManagedObjectModel(\"M\", version: v) { A.self }", 1,
            "The argument version of a model must be a literal"
        ),
        (
            "let x = ManagedObjectModel(\"M\") { A.self\nA.self }\n@StoredEntity class A: ManagedObject {}", 2,
            "A is listed twice."
        ),
        (
            model + "@StoredEntity class A: Base {}", 2,
            "A inherits from Base, but these files have no such class with @StoredEntity"
        ),
        (
            model + "@StoredEntity class A: ManagedObject {\n@Related var b: B?\n}", 3,
            "These files have no class B with @StoredEntity"
        ),
        (
            model + "@StoredEntity class A: ManagedObject {\n@Related(inverse: \"x\") var b: A?\n}", 3,
            "A has no relationship x."
        ),
        (
            model + "@StoredEntity class A: ManagedObject {\n@Stored(.composite) var b: B?\n}", 3,
            "These files have no struct B with @StoredComposite"
        ),
        // The part of a declaration that is wrong can be in a line of its own.
        (model + "@StoredEntity class A:\n  Base {}", 3, "A inherits from Base, but these files have no such class"),
        (
            model + "@StoredEntity class A: ManagedObject {\n@Related var b:\n  B?\n}", 4,
            "These files have no class B with @StoredEntity"
        ),
        (
            model + "@StoredEntity class A: ManagedObject {\n@Related(\n  inverse: \"x\")\nvar b: A?\n}", 4,
            "A has no relationship x."
        ),
        (
            model + "@StoredEntity class A: ManagedObject {\n@Stored(.composite) var b:\n  B?\n}", 4,
            "These files have no struct B with @StoredComposite"
        ),
        (
            model + "@StoredEntity class A: ManagedObject {\ntypealias B = A\n@Related var b:\n  B?\n}", 5,
            "B is a typealias in"
        ),
        (
            model + "@StoredEntity(unique: [[\"y\"]]) class A: ManagedObject {\nvar x: Int\n}", 2,
            "A uniqueness constraint of A names y"
        ),
        (
            model
                + "@StoredEntity class A: ManagedObject {\n@Related(inverse: \"c\") var a: [A]\n@Related(inverse: \"c\") var b: [A]\n@Related var c: A? }",
            5, "Both A.a and A.b name A.c as their inverse."
        ),
        (
            model.replacing("A.self", with: "A.self; B.self")
                + "@StoredEntity class A: ManagedObject {\n@Related(inverse: \"c\") var b: B? }\n@StoredEntity class B: ManagedObject { @Related var c: B? }",
            3, "The inverse of A.b is B.c, which does not point back."
        ),
        (
            model.replacing("A.self", with: "A.self; B.self")
                + "@StoredEntity class A: ManagedObject {\n@Related(inverse: \"c\") var b: B?\n@Related(inverse: \"c\") var d: B? }\n@StoredEntity class B: ManagedObject { @Related(inverse: \"d\") var c: RelatedObjects<A> }",
            3, "The inverse of A.b is B.c, which does not point back."
        ),
        (
            model.replacing("A.self", with: "A.self; B.self")
                + "@StoredEntity(\"T\") class A: ManagedObject { var x: Int }\n@StoredEntity(\"T\") class B: ManagedObject { var x: Int }",
            2, "Two entities are called T."
        ),
        (
            model.replacing("A.self", with: "P.self; Q.self")
                + "@StoredComposite(\"T\") struct P { var x: Int }\n@StoredComposite(\"T\") struct Q { var x: Int }",
            2, "Two composites are called T."
        ),
        (
            model.replacing("A.self", with: "A.self; C.self")
                + "@StoredEntity class A: ManagedObject {\n@Related var r: A? }\n@StoredEntity class C: A {\n@Related(inverse: \"r\") var s: RelatedObjects<A> }",
            5, "The inverse of C.s is A.r, which does not point back."
        ),
        (
            model + "@StoredEntity(indexes: [foo()]) class A: ManagedObject { }", 2,
            "Each element must be a call of FetchIndexDescription"
        ),
    ])
    func aMistakeHasItsFileAndLine(_ text: String, _ line: Int, _ message: String) throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "A.swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let error = expectThrows(ModelReaderError.self) { _ = try SwiftModelReader.read([file.path]) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        if line > 0 { #expect(error?.line == line && error?.file == file.path) }
    }

    /// The raw values of cases in an #if, and implied values after the #if, are known only to the compiler.
    @Test(
        arguments: [
            ("#if FOO\ncase z\n#endif\ncase a, b", nil), ("#if FOO\ncase a = 5\n#else\ncase a = 6\n#endif", nil),
            ("case a\n#if FOO\ncase z\n#endif", 0), ("#if FOO\ncase z\n#endif\ncase y = 7, a", 8),
        ] as [(String, Int64?)])
    func aCaseInAConditionHasNoKnownValue(_ cases: String, _ expected: Int64?) throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "A.swift")
        let text =
            Self.model + "enum K: Int16, AttributeStorable {\n\(cases)\n}\n"
            + "@StoredEntity class A: ManagedObject { @Stored(raw: Int16.self) var k: K = .a }"
        try text.write(to: file, atomically: true, encoding: .utf8)
        let document = try SwiftModelReader.read([file.path])
        #expect(document.model.entities.first?.attributes.first?.defaultValue == expected.map { .integer($0) })
        #expect(
            document.diagnostics.map(\.message).contains { $0.contains("The raw value of K.a") } == (expected == nil))
    }

    @Test func aClassInNoModelAndALinkAreWarnings() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url.appending(component: "app")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try
            (Self.model + "@StoredEntity class A: ManagedObject { var x: Int }\n@StoredEntity class B: ManagedObject {}")
            .write(to: folder.appending(component: "A.swift"), atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(
            at: folder.appending(component: "B.swift"), withDestinationURL: folder.appending(component: "A.swift"))
        let document = try SwiftModelReader.read([folder.path])
        #expect(document.model.entities.map(\.name) == ["A"])
        #expect(
            document.diagnostics.map(\.message).map { String($0.prefix(20)) } == [
                "This is a symbolic l", "B is in no model. Li",
            ])
        #expect(document.diagnostics.map(\.line) == [1, 3])
    }

    @Test func aFileThatIsNotTextIsRefused() throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "A.swift")
        try Data([0xFF, 0xFE, 0x00]).write(to: file)
        let error = expectThrows(ModelReaderError.self) { _ = try SwiftModelReader.read([file.path]) }
        #expect(error?.code == .unsupportedEncoding)
        #expect(error?.message == "The file is not UTF-8 text. Save the file as UTF-8.")
    }

    @Test(.timeLimit(.minutes(30))) func aFolderMayHaveTenThousandClasses() throws {
        let directory = try TemporaryDirectory()
        let names = (0..<10_000).map { "E\($0)" }
        let classes = names.map { "@StoredEntity final class \($0): ManagedObject { var x: Int = 1 }\n" }.joined()
        let model = "let m = ManagedObjectModel(\"M\") {\n\(names.map { "\($0).self\n" }.joined())}\n"
        let file = directory.url.appending(component: "A.swift")
        try (model + classes).write(to: file, atomically: true, encoding: .utf8)
        #expect(try SwiftModelReader.read([file.path]).model.entities.count == 10_000)
    }
}
