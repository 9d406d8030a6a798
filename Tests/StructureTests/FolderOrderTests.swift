import Foundation
import TestSupport
import Testing

/// The folders inside each folder from the bottom to the top: the code of a folder names types and members of its own and of those
/// below it.
///
/// So nobody has to know the upper folders to understand a lower one, and there is no circle.
struct FolderOrderTests {
    /// Below `Sources`. The folder's own files are `.`; without it they are above all of its folders.
    private static let orders: [String: [String]] = [
        "ManagedModel": ["Model", "Validation", "Hash"],
        "ModelMigration": ["Plan", "Stored"],
        "ModelReader": ["Document", "XML", "Build", "Bundle"],
        "ModelCodeGenerator": ["Source", "Types", "Plan", "Literal", "Text"],
        "ModelSource": ["Lex", "Declarations", "Description", "Expansion"],
        "RowStore": [
            "Rows", "Errors", "Locking", "Changes", "Layout", "Queries", "Sharing", "Store", "History", "InMemory",
            "Opening",
        ],
        "RowStore/Queries": ["Values", ".", "Joins"],
        "QueryLanguage": ["Values", "KeyPaths", "Tree", "Format", "Macro", "Resolve"],
        "SQLiteStore": [
            "Schema", "Connection", "Queries", "Files", "History", "Sharing", "Migration", "Reading", "Opening",
            "Writing",
        ],
        "PostgreSQLStore": ["Connection", "Queries", "Schema", "Sharing", "Opening", "Reading", "Writing"],
        "CoreDataSource": [
            "Save", "Object", "Query", "Context", "Model", "List", "Draft", "DataSource", "Container", "Transfer",
            "Unavailable",
        ],
        "CoreDataSource/Save": ["Pending"],
        "CoreDataSource/Context": ["Stack", "Reading", "Editing", "Private"],
        "CoreDataSource/List": ["Engine", "Schedule", "Main", "Observers"],
        "CoreDataSource/Draft": ["Context", "Merge"],
        "ModelResetCommands": ["Output", "Stores", "Arguments", "Diagram", "Inspection", "Lock", "Commands"],
        "Examples": ["AddressBook", "DebianControl", "PackageCatalog", "TerminalDrawing", "Mail", "Reader"],
        "Examples/DebianControl": ["Control", "Packages"],
        "Examples/Mail": ["MailApp", "Program"],
        "Examples/Reader": ["FeedServer", "ReaderApp", "Program"],
        "Examples/PackageCatalog": ["Report", "Input", "Arguments", "Catalog", "Watch"],
    ]

    /// Members of types of the standard library, which lower folders use.
    private static let standardMembers: Set<String> = [
        ".endIndex", ".isFinite", ".lowerBound", ".makeIterator", ".removeFirst", ".removeValue", ".startIndex",
        ".underestimatedCount",
    ]

    private static let files = Result { try SourceFile.all() }

    @Test func everyFolderWithFoldersHasAnOrder() throws {
        let folders = try Self.files.get().flatMap { file in
            (1..<max(1, file.folders.count)).map { file.folders.prefix($0).joined(separator: "/") }
        }
        #expect(Set(folders) == Set(Self.orders.keys))
    }

    @Test(arguments: orders.keys.sorted())
    func noFolderNamesWhatIsInAFolderAboveIt(parent: String) throws {
        let order = try #require(Self.orders[parent])
        let all = try Self.files.get()
        let files = all.filter { $0.path.hasPrefix(parent + "/") }
        let found = Set(files.map { $0.folder(in: parent) })
        #expect(found.union(["."]) == Set(order + ["."]), "every folder has a place in the order")
        func height(_ file: SourceFile) -> Int { order.firstIndex(of: file.folder(in: parent)) ?? order.count }
        // A name that two folders use says nothing, and neither does a member that other code has, too.
        var heights: [String: Set<Int>] = [:]
        for file in files { for name in file.declarations { heights[name, default: []].insert(height(file)) } }
        let others = all.lazy.filter { !$0.path.hasPrefix(parent + "/") }.flatMap(\.declarations)
        for name in Self.standardMembers.union(others.filter { $0.hasPrefix(".") }) { heights[name] = nil }
        #expect(heights.count > files.count / 3, "names were found")
        for file in files {
            let above = file.names.filter { name in
                guard let heights = heights[name], heights.count == 1 else { return false }
                return heights.contains { $0 > height(file) }
            }
            #expect(above.isEmpty, "\(file.path) is below \(above.sorted())")
        }
    }

    @Test func namesInCommentsAndStringsAreNone() {
        let file = SourceFile(
            path: "T/A/B.swift",
            text: """
                /// A ``Comment``. /* Not this */
                public final class One: Two { /* Three
                  Four */ let text = "Five \\"Six" // Seven
                    struct Inner {}
                    private(set) var innerText = one.otherText(.someCase)
                }
                let long = \"""
                    Eight
                    \"""
                extension Nine {}
                """)
        #expect(file.folder(in: "T") == "A")
        #expect(file.folder(in: "T/A") == ".")
        #expect(file.declarations == ["One", ".innerText"])
        #expect(file.names.isSuperset(of: ["One", "Two", "Inner", "Nine", ".otherText"]))
        #expect(
            file.names.isDisjoint(with: [
                "Comment", "Not", "Three", "Four", "Five", "Six", "Seven", "Eight", ".someCase",
            ]))
    }
}

/// A Swift file of the package, as names. Those of members have a dot and several words: `.innerText`.
private struct SourceFile {
    /// Below `Sources`.
    let path: String
    /// The types that are declared outside of all others, and members.
    let declarations: Set<String>
    /// Every type and every member in the code.
    let names: Set<String>

    init(path: String, text: String) {
        self.path = path
        let code = text.replacing(/"""[\s\S]*?"""/, with: "").replacing(/\/\*[\s\S]*?\*\//, with: "")
            .replacing(/\/\/[^\n]*/, with: "").replacing(/"(\\.|[^"\\\n])*"/, with: "")
        let type =
            /^(?:@\w+ |public |package |internal |final |open |indirect )*(?:struct|class|enum|protocol|actor) (\w+)/
            .anchorsMatchLineEndings()
        let member = /\b(?:func|var|let) ([a-z]\w*[A-Z]\w*)/
        declarations = Set(code.matches(of: type).map { String($0.output.1) })
            .union(code.matches(of: member).map { ".\($0.output.1)" })
        // A member without its owner is mostly a case.
        let owned = code.replacing(/[\s(\[{]\.[a-z]\w*/, with: "")
        names = Set(owned.matches(of: /\b[A-Z]\w*|\.[a-z]\w*/).map { String($0.output) })
    }

    var folders: [Substring] { path.split(separator: "/").dropLast() }

    /// The folder right inside that one in which the file is; `.` for the folder itself.
    func folder(in parent: String) -> String {
        let rest = path.dropFirst(parent.count + 1).split(separator: "/")
        return rest.count > 1 ? String(rest[0]) : "."
    }

    static func all() throws -> [SourceFile] {
        let folder = PackageFiles.root.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") }.map { path in
            SourceFile(path: path, text: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
        }
    }
}
