import Foundation
import ModelSource
import TestSupport
import Testing

/// The compiler says each mistake at its place.
@Suite(.enabled(if: Subprocess.isInPath("swiftc"))) struct CompiledDiagnosticTests {
    /// What the mistakes name.
    private static let support = """
        import CoreDataSource
        import Foundation

        @StoredEntity class B: ManagedObject { @Related var a: B? }
        enum K: Int16, AttributeStorable { case a }
        struct Foo {}
        @propertyWrapper struct Published<Value> { var wrappedValue: Value }
        enum My {
            @propertyWrapper struct Stored<Value> { var wrappedValue: Value }
            @propertyWrapper struct Unstored<Value> { var wrappedValue: Value }
            @propertyWrapper struct Related<Value> { var wrappedValue: Value }
            static let cascade = DeleteRule.deny
        }
        let name = "x"
        @globalActor actor Background { static let shared = Background() }
        struct Unequal: Codable {}

        """

    private struct Expected {
        let line: Int
        let column: Int
        let lastLine: Int
        let message: String
    }

    private struct CompilerError {
        /// The number of the namespace, or the line in the file.
        let namespace: Int?
        let line: Int?
        let text: Substring
    }

    /// The compiler expands no macro with a wrong argument, and says itself what is wrong where ‸ is.
    private static let wrongArguments = [
        "@StoredEntity(unique: [‸\"a\"]": "cannot convert value of type 'String' to expected element type '[String]'",
        "@StoredEntity(userInfo: [‸1: 2]":
            "cannot convert value of type 'Int' to expected dictionary key type 'String'",
        "@StoredEntity(isAbstract: ‸1": "integer literal value '1' cannot be used as a boolean",
        "@StoredEntity(indexes: ‸1":
            "cannot convert value of type 'Int' to expected argument type '[FetchIndexDescription]'",
        "@StoredEntity(\"A\", ‸\"B\"": "cannot convert value of type 'String' to expected argument type 'Bool'",
    ]

    /// Returns both texts without the ‸ of the second, and the line and column of the ‸.
    private static func withoutMark(_ text: String, after before: String) -> (text: String, line: Int, column: Int) {
        let parts = text.split(separator: "‸", omittingEmptySubsequences: false)
        // As characters, \r\n would be no line break.
        let lines = Array((before + parts[0]).utf8).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return (before + parts.joined(), lines.count, (lines.last?.count ?? 0) + 1)
    }

    /// What the compiler says about a mistake, with its place marked: its own sentence about a wrong argument, or the sentence of
    /// the macro.
    private static func said(_ mistake: (text: String, message: String)) -> (text: String, message: String) {
        let text = mistake.text.replacing("‸", with: "")
        for (argument, message) in wrongArguments {
            let plain = argument.replacing("‸", with: "")
            if text.hasPrefix(plain) { return (argument + text.dropFirst(plain.count), message) }
        }
        return mistake
    }

    /// The declaration with a macro.
    private static func withMacro(_ text: String) -> String {
        let hasMacro = text.contains("@StoredEntity") || text.contains("@StoredComposite")
        return hasMacro ? text : "@StoredEntity \(text)"
    }

    /// One file with all mistakes, each in a namespace of its own.
    private static func program() -> (text: String, expected: [Expected]) {
        var text = support
        var expected: [Expected] = []
        for (number, mistake) in DiagnosticTests.mistakes.map(said).enumerated() {
            text += "enum N\(number) { "
            let (whole, line, column) = withoutMark(withMacro(mistake.text), after: text)
            text = whole + " }\n"
            expected.append(
                Expected(
                    line: line, column: column, lastLine: text.count { $0 == "\n" }, message: mistake.message))
        }
        return (text, expected)
    }

    /// The errors of the compiler, which names an expansion by the type with the macro.
    private func compile(_ text: String) async throws -> [CompilerError] {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(component: "Mistakes.swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let cache = PackageFiles.products.resolvingSymlinksInPath().appending(component: "MisuseModuleCache")
        let run = try await Subprocess(
            "swiftc",
            ["-typecheck", "-parse-as-library", "-swift-version", "6", "-module-cache-path", cache.path]
                + ["-diagnostic-style", "llvm"] + PackageFiles.importFlags + [file.path])
        return run.errors.split(separator: "\n").compactMap { line in
            if let match = line.firstMatch(of: #/^.*/Mistakes\.swift:(\d+):\d+: error: /#) {
                return CompilerError(
                    namespace: nil, line: Int(match.1), text: line.dropFirst(file.path.count + 1))
            }
            guard let match = line.firstMatch(of: #/^.*@__swiftmacro_8Mistakes\d+N(\d+)O.*:\d+:\d+: (error: .*)$/#)
            else {
                return nil
            }
            return CompilerError(namespace: Int(match.1), line: nil, text: match.2)
        }
    }

    @Test(.timeLimit(.minutes(30))) func everyMistakeIsAnErrorOfTheCompilerAtItsPlace() async throws {
        let (text, expected) = Self.program()
        let errors = try await compile(text)
        var firstLine = expected.first?.line ?? 0
        for (number, mistake) in expected.enumerated() {
            let own = errors.filter { error in
                error.namespace == number || error.line.map { (firstLine...mistake.lastLine).contains($0) } == true
            }
            firstLine = mistake.lastLine + 1
            let place = "\(mistake.line):\(mistake.column)"
            let said = own.filter { $0.text.hasPrefix("\(place): error: \(mistake.message)") }
            #expect(!said.isEmpty, "\(place): \(mistake.message): \(own.map(\.text))")
            #expect(own.count - said.count <= 2, "\(mistake.message): \(own.map(\.text))")
        }
    }

    /// What is read as right and is not, because a name means something else, or leads nowhere; what is said where ‸ is; and how
    /// many errors there are in all.
    static let claims: [(text: String, message: String, count: Int)] = [
        (
            "enum M { struct String {}\n@StoredEntity class A: ManagedObject { var x: ‸String\nvar y: Int } }",
            "The library stores a different type with this name. Say how to store the property with the first argument of @Stored, or add the module to the type's name, as in Swift.String.",
            3
        ),
        ("@StoredEntity class A: ManagedObject { @Stored(raw: Int32.self) var x: ‸K? }", "requires the types", 1),
        // The compiler expands no macro with a wrong argument. It says twice itself what is wrong with the argument.
        (
            "@StoredEntity class A: ManagedObject { @Stored(unknown: ‸1) var x: Int }",
            "@Stored has no argument unknown.", 3
        ),
        (
            "@StoredEntity class A: ManagedObject { @Stored(userInfo: ‸[1: 2]) var x: Int\nvar y: Int = 1 }",
            "The argument userInfo of @Stored must be a dictionary of string literals.", 3
        ),
        (
            "@StoredEntity class A: ManagedObject { @Related(unknown: ‸1) var x: RelatedObjects<B> }",
            "@Related has no argument unknown.", 3
        ),
        (
            "@StoredComposite struct A { @StoredPart(unknown: ‸1) var x: Int }",
            "@StoredPart has no argument unknown.", 3
        ),
        (
            "@StoredEntity class A: ManagedObject { @Stored(.codable) var x: ‸Foo? }",
            "A value that is stored as JSON must be Codable and Sendable. Conform its type to both.", 2
        ),
        (
            "@StoredEntity class A: ManagedObject { @Stored(.composite) var x: ‸Foo? }",
            "The type of a composite must be a struct with @StoredComposite. Add @StoredComposite to the struct.", 2
        ),
        (
            "@StoredComposite struct A { @StoredPart(.codable) var x: ‸Foo? }",
            "A value that is stored as JSON must be Codable and Sendable. Conform its type to both.", 6
        ),
        // Only the compiler knows whether a type is Hashable. It says so three times itself.
        (
            "@StoredComposite struct A { @StoredPart(.codable) var x: ‸Unequal? }",
            "The type of a part of a composite must be Hashable. Conform the type to Hashable.", 4
        ),
        // The compiler says twice that it does not know a type: once where the app names it, and once in the expansion.
        ("@StoredEntity class A: ‸Missing { var x: Int }", "cannot find type 'Missing' in scope", 2),
        (
            "@StoredEntity class A: ManagedObject { @Related var x: ‸Missing? }", "cannot find type 'Missing' in scope",
            2
        ),
        (
            "@StoredEntity class A: ManagedObject { @Stored(.codable) var x: ‸Missing? }",
            "cannot find type 'Missing' in scope", 2
        ),
        (
            "@StoredEntity class A: ManagedObject { @Stored(.composite) var x: ‸Missing? }",
            "cannot find type 'Missing' in scope", 2
        ),
        (
            "@StoredEntity class A: ManagedObject { @Stored(raw: Int16.self) var x: ‸Missing? }",
            "cannot find type 'Missing' in scope", 2
        ),
        (
            "@Background @StoredEntity nonisolated class ‸A: ManagedObject { var x: Int }",
            "has multiple actor-isolation attributes", 1
        ),
        (
            "@StoredEntity class A: ManagedObject { @Related var x: ‸Foo? }",
            "A relationship must lead to a class with @StoredEntity. Add @StoredEntity to the destination's class.", 3
        ),
        (
            "@StoredEntity class A: ManagedObject { @Related var x: ‸RelatedObjects<Foo> }",
            "A relationship must lead to a class with @StoredEntity. Add @StoredEntity to the destination's class.", 3
        ),
        (
            "@StoredEntity class A: ManagedObject { @Related var x: ‸[Foo] }",
            "A relationship must lead to a class with @StoredEntity. Add @StoredEntity to the destination's class.", 3
        ),
        (
            "@StoredEntity class A: ManagedObject { @Related(inverse: ‸\"misspelt\") var x: B? }",
            "reference to member 'misspelt' cannot be resolved", 1
        ),
        (
            "@StoredEntity class A: ManagedObject {\n@Related(\n/* é */ inverse: ‸\"misspelt\") var x: B? }",
            "reference to member 'misspelt' cannot be resolved", 1
        ),
        ("@StoredEntity class A: ‸Foo { var x: Int }", "A class with @StoredEntity inherits from ManagedObject", 3),
        ("@StoredEntity class A: ‸Codable { var x: Int }", "A class with @StoredEntity inherits from ManagedObject", 2),
        (
            "class Base {}\n@StoredEntity class A: ‸Base { var x: Int\nvar y: String = \"\"\n@Related var z: B?\n"
                + "@Stored(.codable) var c: [Int] = [] }",
            "A class with @StoredEntity inherits from ManagedObject, or from a class with @StoredEntity. Change its superclass.",
            3
        ),
        (
            "@StoredEntity class A: ManagedObject { var n: Int\n@Related(inverse: ‸\"n\") var x: A? }",
            "'name(ofInverse:)' is unavailable: The inverse of a relationship is a relationship. Name the property of the destination that points back.",
            1
        ),
        (
            "class A: ManagedObject { ‸@Stored var x: Int }",
            "@Stored belongs to a property of a class with @StoredEntity", 1
        ),
        // The other properties of a class with a mistake, and its subclasses, are not to blame.
        (
            "@StoredEntity class A: ManagedObject { var x: ‸Int8\nvar y: String = \"\"\nvar t = Date()\n@Related var z: B?\n"
                + "@Stored(.codable) var c: [Int] = [] }\n@StoredEntity class S: A { var w: String?\n@Related var b: B? }",
            "Int8 cannot be stored.", 3
        ),
        ("@StoredEntity class ‸A { var x: Int\nvar y: String\n@Related var z: B? }", "A inherits from no class.", 1),
        ("@StoredEntity class ‸A<T>: ManagedObject { var x: Int\n@Related var z: B? }", "A generic class cannot", 1),
        ("@StoredEntity struct ‸A { var x: Int\nvar y: String\n@Related var z: B? }", "belongs to a class.", 1),
        (
            "‸@MainActor @StoredEntity class A: ManagedObject { var x: Int = 1\n@Stored(.codable) var y: [Int] = [1]\n"
                + "@Related var z: A? }\n@StoredEntity class S: A { var w: String? }",
            "A is isolated to @MainActor", 3
        ),
        (
            "@StoredEntity class ‸StoredLayout: ManagedObject { var x: Int\n@Stored(.codable) var y: [Int] = [1] }",
            "@StoredEntity adds a type with the name StoredLayout to the class.", 1
        ),
    ]

    @Test(.timeLimit(.minutes(30)), arguments: claims)
    func theCompilerReportsEveryClaimedMistake(_ claim: (text: String, message: String, count: Int)) async throws {
        let (text, line, column) = Self.withoutMark(claim.text, after: Self.support + "enum N0 {\n")
        let errors = try await compile(text + "\n}\n")
        #expect(
            errors.contains { $0.text.hasPrefix("\(line):\(column): error: ") && $0.text.contains(claim.message) },
            "\(line):\(column): \(errors.map(\.text))")
        #expect(errors.count <= claim.count, "\(errors.map(\.text))")
    }

    /// Texts that the compiler refuses itself, and what is said where ‸ is.
    private static var brokenTexts: [(text: String, message: String)] {
        var texts = [(text: "@StoredEntity class A: ManagedObject‸", message: "expected '{' in class")]
        for mistake in DiagnosticTests.syntaxMistakes where !mistake.message.contains("no braces") {
            let (text, message) = said(mistake)
            texts.append((withMacro(text), message))
        }
        // The compiler pairs the brackets before it expands a macro.
        for fault in LexerTests.faults where !fault.message.hasPrefix("This bracket has no") {
            texts.append(("@StoredEntity class Entity: ManagedObject {\nvar y: Int\n\(fault.text)\n}", fault.message))
        }
        return texts
    }

    /// The macro adds nothing to what the compiler says itself about such a text, except its own sentence.
    @Test(.timeLimit(.minutes(30)), arguments: brokenTexts)
    func theMacroSaysOneSentenceAboutABrokenText(_ broken: (text: String, message: String)) async throws {
        let (text, line, column) = Self.withoutMark(broken.text, after: Self.support + "enum N0 {\n")
        let errors = try await compile(text + "\n}\n")
        #expect(
            errors.contains { $0.text.hasPrefix("\(line):\(column): error: \(broken.message)") },
            "\(line):\(column): \(errors.map(\.text))")
        // A macro that is written twice is expanded twice, so all that it declares is declared twice.
        let isDouble = broken.message.contains("already")
        let expanded = errors.filter { $0.namespace != nil }
        let others = expanded.filter { !isDouble || !$0.text.contains(#/redeclaration|redundant conformance|already/#) }
        #expect(others.isEmpty, "\(others.map(\.text))")
    }
}
