import Foundation
import TestSupport
import Testing

/// A source that must not compile.
struct MisuseCase: CustomTestStringConvertible, Sendable {
    var file: URL

    static let folder = PackageFiles.tests.appending(path: "Misuse/Cases")

    /// The sources in the folders of the rules; beside the folders are those that are right.
    static let all: [MisuseCase] = {
        let sources = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        return sources.compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" && $0.deletingLastPathComponent().lastPathComponent != "Cases" }
            .map(MisuseCase.init).sorted { $0.testDescription < $1.testDescription }
    }()

    /// The rule and what breaks it.
    var testDescription: String {
        "\(file.deletingLastPathComponent().lastPathComponent)/\(file.deletingPathExtension().lastPathComponent)"
    }

    /// What the compiler has to say, each in a line `// error: …` at the top; it may say nothing else.
    var expectedErrors: [String] {
        get throws {
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .prefix { $0.hasPrefix("// error: ") }.map { String($0.dropFirst("// error: ".count)) }
        }
    }
}
