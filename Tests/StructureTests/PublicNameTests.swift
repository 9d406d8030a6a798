import Foundation
import TestSupport
import Testing

/// Names that an app can use beside those of Apple's frameworks.
///
/// The code of the articles is compiled beside the module `FrameworkNames` (`DocumentationTests`). Here every public name is compared, and
/// those of macros.
struct PublicNameTests {
    /// The macros of Foundation, SwiftData, SwiftUI, Observation and Xcode.
    private static let macros: Set<String> = [
        "Attribute", "Bindable", "Bundle", "Entry", "Expression", "Index", "Model", "ModelActor", "Observable",
        "ObservationIgnored", "ObservationTracked", "Play", "Predicate", "Preview", "Previewable", "Query",
        "Relationship",
        "Transient", "Unique", "URL",
    ]

    private static let modules = [
        "CoreDataSource", "CoreDataSourceActiveRecord", "CoreDataSourceStores", "DataSourceTesting", "ManagedModel",
        "ModelMigration", "ModelReader", "QueryLanguage", "RowStore",
    ]

    private func matches(_ pattern: Regex<(Substring, Substring)>, in folder: String) throws -> Set<String> {
        let root = PackageFiles.root.appending(path: folder)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
        return try paths.reduce(into: []) { names, path in
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            names.formUnion(text.matches(of: pattern).map { String($0.output.1) })
        }
    }

    @Test func noPublicNameCollidesWithAFramework() throws {
        let types =
            /^(?:@\w+(?:\([^)]*\))? )*(?:nonisolated )?(?:public|open) (?:final |indirect )*(?:struct|class|enum|protocol|actor|typealias|macro) (\w+)/
            .anchorsMatchLineEndings()
        let ours = try Self.modules.reduce(into: Set<String>()) { names, module in
            names.formUnion(try matches(types, in: "Sources/\(module)"))
        }
        let theirs = try matches(#/^public enum (\w+) /#.anchorsMatchLineEndings(), in: "Tests/Support/FrameworkNames")
        #expect(ours.count > 100 && ours.contains("ManagedObject"))
        #expect(theirs.count > 400 && theirs.contains("FetchRequest"))
        #expect(ours.intersection(theirs.union(Self.macros)) == [])
        for prefix in ["NS", "UI", "CK"] {
            #expect(!ours.contains { $0.hasPrefix(prefix) && $0.dropFirst(2).first?.isUppercase == true })
        }
    }
}
