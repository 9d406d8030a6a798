import Foundation
import TestSupport
import Testing

/// A folder with the arguments of a run of the tool and the file that it must write.
struct GoldenCase: CustomTestStringConvertible, Sendable {
    var folder: URL

    var testDescription: String { folder.lastPathComponent }

    /// The arguments, one per line, with paths from the package's root.
    var arguments: [String] {
        get throws {
            let text = try String(contentsOf: folder.appending(component: "arguments.txt"), encoding: .utf8)
            return text.split(separator: "\n").map(String.init)
        }
    }

    /// What the tool says, with paths from the package's root; nothing without a file of that.
    var warnings: String {
        get throws {
            let file = folder.appending(component: "warnings.txt")
            return FileManager.default.fileExists(atPath: file.path)
                ? try String(contentsOf: file, encoding: .utf8) : ""
        }
    }

    var expected: URL { folder.appending(component: "Expected.swift") }

    static func named(_ name: String) -> GoldenCase {
        GoldenCase(folder: PackageFiles.cases.appending(components: "Golden", name))
    }

    static let all = ["AllTypes", "Contacts", "Manual", "Mixed", "Tasks"].map(named)
}
