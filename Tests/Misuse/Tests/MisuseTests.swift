import Foundation
import TestSupport
import Testing

/// The rules that no comment has to ask for, because what breaks them is no program.
///
/// Each source under `Tests/Misuse/Cases` breaks one rule, and says in its first lines what the compiler answers.
@Suite(.serialized, .enabled(if: Compiler.isAvailable)) struct MisuseTests {
    @Test(arguments: MisuseCase.all)
    func codeThatBreaksARuleDoesNotCompile(_ misuse: MisuseCase) async throws {
        let expected = try misuse.expectedErrors
        try #require(!expected.isEmpty)
        let errors = try await Compiler.errors(in: misuse.file)
        for error in expected {
            #expect(errors.contains { $0.contains(error) }, "It does not say: \(error)")
        }
        for error in errors {
            #expect(expected.contains { error.contains($0) }, "It says: \(error)")
        }
    }

    /// Swift 6.3 crashes here if the functions have an overload that takes a key path. The formatter cannot read this code, so it is
    /// in a string.
    @Test func aCallOnAKeyPathIsAnErrorAndNoCrash() async throws {
        let code = """
            import CoreDataSource

            extension Contact {
                var labels: RelatedObjects<Contact> { relatedObjects(at: 0) }
            }

            @MainActor func ask(_ contacts: ContactDataSource, _ label: Contact) throws {
                print(try contacts.fetch(Contact.self, where: \\.labels.contains("x")))
                print(try contacts.fetch(Contact.self, where: \\.labels.contains(label)))
                print(try contacts.fetch(Contact.self, where: \\.name.contains(5)))
                print(try contacts.count(Contact.self, where: \\.name.contains("x")))
            }
            """
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "Calls.swift")
        try Data(code.utf8).write(to: file)
        let errors = try await Compiler.errors(in: file)
        let known = [
            "cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'FetchPredicate<Contact>'",
            "cannot infer key path type from context; consider explicitly specifying a root type",
        ]
        #expect(!errors.isEmpty && errors.allSatisfy { error in known.contains { error.contains($0) } }, "\(errors)")
    }

    @Test func eachRuleHasACase() {
        let rules = Set(MisuseCase.all.map { $0.file.deletingLastPathComponent().lastPathComponent })
        #expect(rules == ["Asked", "Hook", "Kept", "Made", "Main", "Sent", "Spelt"])
    }

    /// Each unavailable declaration of the library has a case, so no spelling stops working unnoticed.
    @Test func eachUnavailableSpellingHasACase() throws {
        let folder = PackageFiles.root.appending(path: "Sources/CoreDataSource/Unavailable")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let expected = try MisuseCase.all.flatMap { try $0.expectedErrors }
        #expect(files.count > 5)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            let declared = text.matches(of: #/\n    (?:@MainActor )?public /#).count
            let messages = text.matches(of: /(?:message|renamed):\s*"((?:\\.|[^"\\])*)"/).map {
                String($0.output.1).replacing("\\\\", with: "\\").replacing("\\\"", with: "\"")
            }
            #expect(declared == messages.count, "\(file.lastPathComponent) has a declaration that is not unavailable")
            for message in messages {
                #expect(
                    expected.contains { $0.hasSuffix(message) || $0.hasSuffix("renamed to '\(message)'") },
                    "No case expects: \(message)")
            }
        }
    }

    /// As Xcode sets new apps up.
    @Test func codeThatKeepsTheRulesCompilesInATargetOfMain() async throws {
        let correct = MisuseCase.folder.appending(component: "CorrectOnMain.swift")
        #expect(try await Compiler.errors(in: correct, isOfMain: true) == [])
        #expect(try await Compiler.errors(in: correct) == [])
    }

    @Test func theArticleQuotesTheCompiler() async throws {
        let file = MisuseCase.folder.appending(component: "WithoutNonisolated.swift")
        #expect(try await Compiler.errors(in: file) == [])
        let errors = try await Compiler.errors(in: file, isOfMain: true)
        let article = PackageFiles.root.appending(
            path: "Sources/CoreDataSource/CoreDataSource.docc/IsolationAndTheCompiler.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let quotes = text.split(separator: "\n").compactMap { $0.firstMatch(of: /^\| `([^`]+'[^`]+)` \|/)?.output.1 }
        #expect(quotes.count == 2)
        for quote in quotes {
            let quote = quote.replacing("KeyPath<Contact, ", with: "KeyPath<PlaceData, ")
            #expect(errors.contains { $0.contains(quote) }, "The compiler does not say: \(quote)")
        }
    }

    @Test func codeThatKeepsTheRulesCompilesWithoutAnnotations() async throws {
        let correct = MisuseCase.folder.appending(component: "Correct.swift")
        #expect(try await Compiler.errors(in: correct) == [])
        let words = try String(contentsOf: correct, encoding: .utf8).split { !$0.isLetter && $0 != "@" }
        let annotations = ["@MainActor", "@Sendable", "@unchecked", "@preconcurrency", "@concurrent", "nonisolated"]
        #expect(Set(annotations.map { Substring($0) }).isDisjoint(with: words))
    }
}
