import Foundation
import ModelSource
import TestSupport
import Testing

/// The messages that the compiler of Swift 6.3.1 sent for a file with every macro, recorded between the compiler and the program.
///
/// The description of the build in each message is shortened.
///
/// Nothing was recorded from other compilers. Their messages are derived from the recorded ones, which have version 7 of the format:
/// - Every version: the number of the version is replaced.
/// - Older compilers: the keys that they did not send are removed, or are null.
/// - Newer compilers: the number of the version is replaced, and a key is added that no compiler has sent so far.
///
/// `CompilerMessageTests` has messages that no compiler has sent.
struct RecordedMessageTests {
    private let recording: [String]

    init() throws {
        let url = PackageFiles.tests.appending(path: "Fixtures/CompilerMessages/swift-6.3.1.jsonl")
        recording = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// The answers to the recording with changed messages.
    private func answers(_ change: ([String: Any]) -> [String: Any]) throws -> [String] {
        try recording.map { line in
            let message = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [String: Any]])
            let data = try JSONSerialization.data(withJSONObject: message.mapValues(change))
            return String(decoding: try #require(CompilerMessages.answer(to: data)), as: UTF8.self)
        }
    }

    /// The answers to the recording, as a compiler gets them that knows none of the keys.
    private func answers(without keys: Set<String>) throws -> [String] {
        try answers { content in content.filter { !keys.contains($0.key) } }
    }

    @Test func everyUseIsExpanded() throws {
        let answers = try answers(without: [])
        #expect(answers.count == 19)
        #expect(answers.first == #"{"getCapabilityResult":{"capability":{"features":[],"protocolVersion":7}}}"#)
        #expect(answers.dropFirst().allSatisfy { $0.hasPrefix(#"{"expandMacroResult":{"diagnostics":[]"#) })
        let expanded = zip(recording, answers).dropFirst().filter { !$1.contains(#""expandedSource":"""#) }
        let roles = expanded.map { String($0.0.firstMatch(of: /"macroRole":"(\w+)"/)?.output.1 ?? "") }
        // Each class and each struct gets members. `text` alone gets an attribute.
        let counts = Dictionary(roles.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(counts == ["member": 3, "extension": 1, "accessor": 5, "memberAttribute": 1])
    }

    /// What compilers did not send before Swift 6.3, 6.0 and 5.10.
    private static let laterKeys = [
        ["staticBuildConfiguration"], ["staticBuildConfiguration", "lexicalContext"],
        ["staticBuildConfiguration", "lexicalContext", "discriminator", "conformanceListSyntax", "parentDeclSyntax"],
    ]

    @Test(arguments: laterKeys)
    func anOlderCompilerGetsTheSameExpansions(_ keys: [String]) throws {
        let expected = try answers(without: [])
        #expect(try answers(without: Set(keys)) == expected)
        let nulls = Dictionary(uniqueKeysWithValues: keys.map { ($0, NSNull() as Any) })
        #expect(try answers { $0.merging(nulls) { $1 } } == expected)
    }

    /// The answer names the program's own version, and the keys of a message say what the compiler knows.
    @Test(arguments: 1...9)
    func everyVersionOfTheFormatGetsTheSameAnswers(_ version: Int) throws {
        let other = try answers { content in
            content["capability"] == nil ? content : ["capability": ["protocolVersion": version]]
        }
        #expect(try other == answers(without: []))
    }

    @Test func aNewerCompilerGetsTheSameExpansions() throws {
        let expected = try answers(without: [])
        for (line, answer) in zip(recording, expected) {
            let newer = line.replacing(#""macroRole":"#, with: #""newKey":{"a":[1,null]},"macroRole":"#).replacing(
                #""protocolVersion":7"#, with: #""protocolVersion":8"#)
            let data = try #require(CompilerMessages.answer(to: Data(newer.utf8)))
            #expect(String(decoding: data, as: UTF8.self) == answer)
        }
    }
}
