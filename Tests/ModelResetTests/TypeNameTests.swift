import Foundation
import TestSupport
import Testing

/// Names of types mean in the command what they mean to the compiler, or are an error.
@Suite struct TypeNameTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    private func hash(_ text: String) async throws -> Subprocess {
        try text.write(to: program.file("M.swift"), atomically: true, encoding: .utf8)
        return try await program.run("hash", "--json", "M.swift")
    }

    private static let classes = """
        enum Z { @StoredEntity("ZB") class B: ManagedObject { var q: Int } }
        @StoredEntity class C: ManagedObject { var z: Int }
        enum Y { @StoredComposite struct P { var q: Int = 0 } }
        @StoredComposite struct Q { var z: Int32 = 0 }
        typealias B = C
        typealias P = Q

        """

    @Test(arguments: [
        ("@StoredEntity class A: ManagedObject { @Related var b: B? }", "A.self; C.self; Z.B.self"),
        ("@StoredEntity class A: B { var w: Int }", "A.self; C.self; Z.B.self"),
        ("@StoredEntity class A: ManagedObject { @Stored(.composite) var z: P? }", "A.self"),
        ("let other = 1", "B.self"),
    ])
    func aTypealiasIsAnError(_ declaration: String, _ list: String) async throws {
        let outcome = try await hash(
            Self.classes + declaration + "\nlet m = ManagedObjectModel(\"M\") { \(list) }")
        #expect(outcome.status == 3)
        let name = list == "A.self" ? "P is a typealias in M.swift:6." : "B is a typealias in M.swift:5."
        #expect(outcome.errors.contains(name), "\(outcome.errors)")
    }

    @Test func aTypealiasOfAnEnumLeavesItsValueUnknown() async throws {
        let outcome = try await hash(
            """
            enum Z { enum Kind: Int16, AttributeStorable { case a = 7 } }
            enum Real: Int16, AttributeStorable { case a = 1 }
            typealias Kind = Real
            @StoredEntity class A: ManagedObject { @Stored(raw: Int16.self) var k: Kind = .a }
            let m = ManagedObjectModel("M") { A.self }
            """)
        #expect(outcome.status == 0)
        #expect(outcome.errors.hasPrefix("M.swift:4: warning: The raw value of Kind.a"), "\(outcome.errors)")
    }

    @Test(arguments: [
        "@Related var b: Other.B?", "@Related var b: Z.C?", "@Related var b: B?",
    ])
    func aNameThatTheFilesDoNotHaveThereIsAnError(_ property: String) async throws {
        let outcome = try await hash(
            """
            enum Z { @StoredEntity("ZB") class B: ManagedObject { var q: Int } }
            @StoredEntity class C: ManagedObject { var z: Int }
            @StoredEntity class A: ManagedObject { \(property) }
            let m = ManagedObjectModel("M") { A.self; C.self; Z.B.self }
            """)
        #expect(outcome.status == 3 && outcome.errors.hasPrefix("M.swift:3: error: These files have no class"))
    }

    /// The same names in several types, as seen from inside, from a subclass and from outside.
    @Test func aNameIsLookedUpFromTheInsideOut() async throws {
        let outcome = try await hash(
            """
            enum X {
                @StoredEntity("XA") class A: ManagedObject { @Related(inverse: "back") var b: B? }
                @StoredEntity("XB") class B: ManagedObject { @Related var back: A? }
            }
            enum Y {
                @StoredEntity("YA") class A: ManagedObject { struct Part { var x: Int }; @Related var b: X.B? }
            }
            extension Y {
                @StoredEntity("YC") class C: A { @Stored(.composite) var p: Inner; @StoredComposite struct Inner { var i: Int } }
                static let m = ManagedObjectModel("M") { X.A.self; X.B.self; A.self; C.self }
            }
            class Unrelated { typealias A = Int; typealias B = String }
            """)
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let names = (json?["entities"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
        #expect(names == ["XA", "XB", "YA", "YC"])
    }
}
