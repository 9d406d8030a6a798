import Foundation
import ManagedModel
import ModelSource
import TestSupport
import Testing

/// What a class says and this library does not do is a warning of the compiler, and the class is expanded all the same.
struct UnsupportedDeclarationTests {
    static let declarations = UnsupportedDeclaration.allCases.filter {
        UnsupportedModel.all["\($0)"]?.macroArgument != nil
    }

    /// The class of a model, without the model.
    private static func entity(_ declaration: UnsupportedDeclaration) throws -> (text: String, argument: String) {
        let model = try #require(UnsupportedModel.all["\(declaration)"])
        let text = try #require(model.swift?.split(separator: "\n").dropFirst().joined(separator: "\n"))
        return (text, try #require(model.macroArgument))
    }

    private static func words(_ declaration: UnsupportedDeclaration) -> String {
        declaration.effect.filter { $0 != "`" }
    }

    @Test(arguments: declarations) func eachIsAWarningAtItsArgument(_ declaration: UnsupportedDeclaration) throws {
        let (text, argument) = try Self.entity(declaration)
        let expansion = MacroExpansion(
            macro: "StoredEntity", role: .member, attribute: "@StoredEntity", declaration: text)
        #expect(expansion.text.contains("static func entity()"))
        #expect(expansion.diagnostics.count == 1 && expansion.diagnostics.allSatisfy(\.isWarning))
        let warning = try #require(expansion.diagnostics.first)
        #expect(warning.message.hasSuffix(Self.words(declaration)), "\(warning.message)")
        let place = try #require(text.range(of: "\(argument): ")).upperBound
        #expect(warning.offset == text.utf8.distance(from: text.startIndex, to: place))
    }

    @Test(.timeLimit(.minutes(30)), .enabled(if: Subprocess.isInPath("swiftc")))
    func theCompilerWarnsAndGoesOn() async throws {
        var text = "import CoreDataSource\nimport Foundation\n"
        var expected: [(place: String, words: String)] = []
        for (number, declaration) in Self.declarations.enumerated() {
            let (entity, argument) = try Self.entity(declaration)
            let place = try #require(entity.range(of: "\(argument): ")).upperBound
            text += "enum N\(number) {\n"
            let lines = (text + entity[..<place]).split(separator: "\n", omittingEmptySubsequences: false)
            expected.append(("\(lines.count):\((lines.last?.utf8.count ?? 0) + 1)", Self.words(declaration)))
            text += "\(entity)\n}\n"
        }
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(component: "Unsupported.swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let cache = PackageFiles.products.resolvingSymlinksInPath().appending(component: "MisuseModuleCache")
        let run = try await Subprocess(
            "swiftc",
            ["-typecheck", "-parse-as-library", "-swift-version", "6", "-module-cache-path", cache.path]
                + ["-diagnostic-style", "llvm"] + PackageFiles.importFlags + [file.path])
        #expect(run.status == 0, "\(run.errors)")
        let warnings = run.errors.matches(of: /Unsupported\.swift:(\d+:\d+): warning: ([^\n]*)/)
        for (place, words) in expected {
            #expect(
                warnings.contains { $0.1 == place && $0.2.contains(words) }, "\(place): \(words): \(run.errors)")
        }
        #expect(warnings.count == expected.count, "\(run.errors)")
    }
}
