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
        let name = "x"

        """

    private struct Expected {
        let line: Int
        let column: Int
        let message: String
        /// Whether the compiler refuses the argument itself, because it has another type.
        let isTypeError: Bool
    }

    /// One file with all mistakes, each in a namespace of its own.
    private static func program() -> (text: String, expected: [Expected]) {
        var text = support
        var expected: [Expected] = []
        for (number, mistake) in DiagnosticTests.mistakes.enumerated() {
            text += "enum N\(number) { "
            if !mistake.text.hasPrefix("@Stored") { text += "@StoredEntity " }
            let parts = mistake.text.split(separator: "‸", omittingEmptySubsequences: false)
            text += parts[0]
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            expected.append(
                Expected(
                    line: lines.count, column: (lines.last?.utf8.count ?? 0) + 1, message: mistake.message,
                    isTypeError: mistake.text.hasPrefix("@StoredEntity(")))
            text += parts[1] + " }\n"
        }
        return (text, expected)
    }

    private func compile(_ text: String) async throws -> [Substring] {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(component: "Mistakes.swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let cache = PackageFiles.products.resolvingSymlinksInPath().appending(component: "MisuseModuleCache")
        let run = try await Subprocess(
            "swiftc",
            ["-typecheck", "-parse-as-library", "-swift-version", "6", "-module-cache-path", cache.path]
                + PackageFiles.importFlags
                + [file.path])
        return run.errors.split(separator: "\n").filter {
            $0.wholeMatch(of: /[^|]*Mistakes\.swift:\d+:\d+: error: .*/) != nil
        }
        .map { $0.dropFirst(file.path.count + 1) }
    }

    @Test(.timeLimit(.minutes(30))) func everyMistakeIsAnErrorOfTheCompilerAtItsPlace() async throws {
        let (text, expected) = Self.program()
        let errors = try await compile(text)
        for mistake in expected {
            #expect(
                errors.contains {
                    $0.hasPrefix(
                        mistake.isTypeError
                            ? "\(mistake.line):" : "\(mistake.line):\(mistake.column): error: \(mistake.message)")
                },
                "\(mistake.line):\(mistake.column): \(mistake.message)")
        }
    }

    /// What is read as right and is not, because a name means something else, or leads nowhere.
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            (
                "enum M { struct String {}\n@StoredEntity class A: ManagedObject { var x: String } }",
                "cannot convert value of type"
            ),
            ("@StoredEntity class A: ManagedObject { @Stored(raw: Int32.self) var x: K? }", "requires the types"),
            (
                "@StoredEntity class A: ManagedObject { @Stored(.codable) var x: Foo? }",
                "requires that 'Foo' conform to"
            ),
            ("@StoredEntity class A: ManagedObject { @Stored(.composite) var x: Foo? }", "type 'Foo' has no member"),
            ("@StoredEntity class A: ManagedObject { @Related var x: Foo? }", "type 'Foo' has no member 'entityName'"),
            (
                "@StoredEntity class A: ManagedObject { @Related(inverse: \"misspelt\") var x: B? }",
                "type 'B' has no member 'misspelt'"
            ),
            ("@StoredEntity class A: Foo { var x: Int }", "inheritance from non-protocol, non-class type"),
            (
                "class Base {}\n@StoredEntity class A: Base { var x: Int }",
                "A class with @StoredEntity inherits from ManagedObject, or from a class with @StoredEntity."
            ),
            (
                "@StoredEntity class A: ManagedObject { var n: Int\n@Related(inverse: \"n\") var x: A? }",
                "The inverse of a relationship is a relationship. Name the property of the destination that points back."
            ),
            (
                "class A: ManagedObject { @Stored var x: Int }",
                "@Stored belongs to a property of a class with @StoredEntity"
            ),
        ])
    func theCompilerConfirmsWhatTheTextSays(_ text: String, _ message: String) async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(component: "Claims.swift")
        try (Self.support + text).write(to: file, atomically: true, encoding: .utf8)
        let cache = PackageFiles.products.resolvingSymlinksInPath().appending(component: "MisuseModuleCache")
        let run = try await Subprocess(
            "swiftc",
            ["-typecheck", "-parse-as-library", "-swift-version", "6", "-module-cache-path", cache.path]
                + PackageFiles.importFlags
                + [file.path])
        #expect(run.status != 0)
        #expect(run.errors.contains(message), "\(run.errors)")
    }
}
