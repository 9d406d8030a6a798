import Foundation
import TestSupport
import Testing

/// The folders of each target from the bottom to the top: the code of a folder names types of its own and of those below it.
///
/// So nobody has to know the upper folders to understand a lower one, and there is no circle.
struct FolderOrderTests {
    /// What is not in a folder is above all of them.
    private static let orders: [String: [String]] = [
        "ManagedModel": ["Model", "Columns", "Derivation", "Text", "Validation", "Hash", "Migration", "Stored"],
        "ModelReader": ["Values", "Report", "XML", "Build", "Link", "Bundle"],
        "ModelCodeGenerator": ["Names", "Source", "Types", "Plan", "Literal", "Text"],
        "RowStore": [
            "Rows", "Errors", "Locking", "Changes", "Layout", "Queries", "Sharing", "Store", "InMemory", "Opening",
        ],
        "SQLiteStore": [
            "Schema", "Connection", "Files", "Probe", "Sharing", "Migration", "Reading", "Opening", "Writing",
        ],
        "PostgreSQLStore": [
            "Connection", "Queries", "Schema", "Sharing", "Migration", "Opening", "Reading", "Writing",
        ],
        "CoreDataSource": [
            "Algorithms", "Scheduling", "Validation", "Failures", "Root", "Object", "Query", "Stack", "Context", "Read",
            "Editing", "Relationships", "Private", "LiveQueries", "Main", "Drafts", "DataSource", "Container", "Lists",
            "Transfer",
        ],
        "ModelResetCommands": [
            "Output", "Stores", "Arguments", "Diagram", "Comparison", "Inspection", "Lock", "Commands",
        ],
    ]

    @Test(arguments: orders.keys.sorted())
    func noFolderNamesATypeOfAFolderAboveIt(target: String) throws {
        let order = try #require(Self.orders[target])
        let files = try SourceFile.all(of: target)
        let folders = Set(files.map(\.folder)).subtracting([""])
        #expect(folders == Set(order), "every folder has a place in the order")
        func height(_ folder: String) -> Int { order.firstIndex(of: folder) ?? order.count }
        // A name that two folders use says nothing.
        var heights: [String: Int] = [:]
        for (name, declarations) in Dictionary(grouping: files.flatMap(\.declarations), by: \.name) {
            let found = Set(declarations.map { height($0.folder) })
            if found.count == 1 { heights[name] = found.first }
        }
        #expect(heights.count > files.count / 3, "types were found")
        for file in files {
            let above = file.names.filter { heights[$0].map { $0 > height(file.folder) } ?? false }
            #expect(above.isEmpty, "\(file.path) is below \(above.sorted())")
        }
    }

    @Test func namesInCommentsAndStringsAreNone() {
        let file = SourceFile(
            target: "T", path: "A/B.swift",
            text: """
                /// A ``Comment``. /* Not this */
                public final class One: Two { /* Three
                  Four */ let text = "Five \\"Six" // Seven
                    struct Inner {}
                }
                let long = \"""
                    Eight
                    \"""
                extension Nine {}
                """)
        #expect(file.folder == "A")
        #expect(file.declarations.map(\.name) == ["One"])
        #expect(file.names.isSuperset(of: ["One", "Two", "Inner", "Nine"]))
        #expect(file.names.isDisjoint(with: ["Comment", "Not", "Three", "Four", "Five", "Six", "Seven", "Eight"]))
    }
}

/// A Swift file of the package, as names.
private struct SourceFile {
    /// From the folder of the target.
    let path: String
    /// The outermost folder; empty for a file that is in none.
    let folder: String
    /// The types that are declared outside of all others.
    let declarations: [(name: String, folder: String)]
    /// Every word of the code.
    let names: Set<String>

    init(target: String, path: String, text: String) {
        self.path = path
        let parts = path.split(separator: "/")
        folder = parts.count > 1 ? String(parts[0]) : ""
        let code = text.replacing(/"""[\s\S]*?"""/, with: "").replacing(/\/\*[\s\S]*?\*\//, with: "")
            .replacing(/\/\/[^\n]*/, with: "").replacing(/"(\\.|[^"\\\n])*"/, with: "")
        let declaration =
            /^(?:@\w+ |public |package |internal |final |open |indirect )*(?:struct|class|enum|protocol|actor) (\w+)/
            .anchorsMatchLineEndings()
        let folder = folder
        declarations = code.matches(of: declaration).map { (String($0.output.1), folder) }
        names = Set(code.matches(of: /\b[A-Z]\w*/).map { String($0.output) })
    }

    static func all(of target: String) throws -> [SourceFile] {
        let folder = PackageFiles.root.appending(components: "Sources", target)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") }.map { path in
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            return SourceFile(target: target, path: path, text: text)
        }
    }
}
