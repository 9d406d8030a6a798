import Foundation
import ModelSource
import TestSupport
import Testing

/// No sentence of the macros is without a test that causes it.
struct EveryDiagnosticTests {
    /// The macro, the role, the declaration and the declaration around it, for what is said about no class or struct that can be read.
    private static let expansions: [(String, MacroExpansion.Role, String, String?, String)] = [
        ("StoredEntity", .member, "@StoredEntity", nil, "This declaration cannot be read. Write a class."),
        ("StoredComposite", .member, "@StoredComposite", nil, "This declaration cannot be read. Write a struct."),
        ("Stored", .accessor, "", nil, "This property cannot be read. Write a var with a type."),
        (
            "Stored", .accessor, "@Stored var x: Int", "class A: ManagedObject {}",
            "@Stored belongs to a property of a class with @StoredEntity. Add @StoredEntity to the class."
        ),
        (
            "Related", .accessor, "@Related var x: A?", "@StoredEntity class B: ManagedObject {}\nclass A {}",
            ""
        ),
    ]

    @Test func everyMistakeInAMacroIsReported() {
        for (macro, role, declaration, lexicalContext, message) in Self.expansions {
            let expansion = MacroExpansion(
                macro: macro, role: role, attribute: "@\(macro)", declaration: declaration,
                lexicalContext: lexicalContext.map { [$0] })
            #expect(expansion.diagnostics.map(\.message) == (message.isEmpty ? [] : [message]))
        }
    }

    /// The sentences that the tests cause.
    private func reportedMessages() -> Set<String> {
        var reportedMessages = Set(Self.expansions.map(\.4))
        for syntaxError in LexerTests.faults {
            if let found = SwiftSource(syntaxError.text.replacing("‸", with: "")).syntaxError {
                reportedMessages.insert(found.message)
            }
        }
        for mistake in DiagnosticTests.mistakes + DiagnosticTests.syntaxMistakes {
            reportedMessages.formUnion(DiagnosticTests.diagnostics(of: mistake.text).map(\.message))
        }
        return reportedMessages
    }

    /// The sentences in the string literals of a file, each with its line.
    private func sentences(in path: String) throws -> [(sentence: Sentence, line: Int)] {
        let url = PackageFiles.root.appending(path: path)
        let source = SwiftSource(try String(contentsOf: url, encoding: .utf8))
        return source.tokens.filter { $0.kind == .string }.map { token in
            (Sentence(literal: source.text(token.start..<token.end)), source.line(of: token.start))
        }.filter(\.sentence.isSentence)
    }

    @Test func everySentenceIsTested() throws {
        let folder = "Sources/ModelSource"
        let paths = try FileManager.default.subpathsOfDirectory(
            atPath: PackageFiles.root.appending(path: folder).path)
        let reportedMessages = reportedMessages()
        var count = 0
        for file in paths.sorted() where file.hasSuffix(".swift") {
            for (sentence, line) in try sentences(in: "\(folder)/\(file)") {
                count += 1
                #expect(
                    reportedMessages.contains(where: sentence.isPart),
                    "\(file):\(line): no test causes \(sentence.parts.joined(separator: "…"))")
            }
        }
        #expect(count >= 60)
    }

    /// The compiler says the sentences about types, at the checks in the code of the macros: what is wrong, and what to do.
    @Test func everySentenceAboutATypeIsTested() throws {
        let sentences = try sentences(in: "Sources/CoreDataSource/Model/StoredTypes.swift")
        for (sentence, line) in sentences {
            let text = sentence.parts.joined()
            #expect(
                CompiledDiagnosticTests.claims.contains { $0.message.contains(text) },
                "StoredTypes.swift:\(line): no test causes \(text)")
        }
        #expect(sentences.count >= 7)
    }
}

/// What a string literal says, in parts between its interpolations.
private struct Sentence {
    private(set) var parts = [""]

    init(literal: String) {
        var rest = literal.dropFirst().dropLast()
        while let character = rest.popFirst() {
            guard character == "\\", let escaped = rest.popFirst() else {
                parts[parts.count - 1].append(character)
                continue
            }
            guard escaped == "(" else {
                parts[parts.count - 1].append(escaped)
                continue
            }
            var depth = 1
            while depth > 0, let character = rest.popFirst() {
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
            }
            parts.append("")
        }
    }

    /// Words, and a full stop at the end.
    var isSentence: Bool {
        parts.last?.hasSuffix(".") == true && parts.joined().count { $0 == " " } >= 3
    }

    /// Whether a sentence has all parts, in their order.
    func isPart(of sentence: String) -> Bool {
        var rest = sentence[...]
        for part in parts where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
