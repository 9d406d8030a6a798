import Foundation
import TestSupport
import Testing

/// What the articles and the README show is compiled and run by tests.
struct ArticleTests {
    private static let catalog = PackageFiles.root.appending(path: "Sources/CoreDataSource/CoreDataSource.docc")

    private static let pages: [URL] = {
        let files = try? FileManager.default.contentsOfDirectory(at: catalog, includingPropertiesForKeys: nil)
        let articles = (files ?? []).filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
        return articles + [PackageFiles.root.appending(component: "README.md")]
    }()

    /// The sources of the tests, each without what white space it has.
    private static let sources: [String] = {
        let files = FileManager.default.enumerator(at: PackageFiles.tests, includingPropertiesForKeys: nil)
        return (files?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" && !$0.path.contains("/.build/") }
            .compactMap { try? String(contentsOf: $0, encoding: .utf8) }.map(normalized)
    }()

    private static func normalized(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    @Test func thereAreArticles() {
        #expect(Self.pages.count > 15)
        #expect(Self.sources.count > 100)
    }

    @Test(arguments: pages)
    func everySwiftBlockIsCompiled(_ page: URL) throws {
        let text = try String(contentsOf: page, encoding: .utf8)
        for block in text.components(separatedBy: "```swift\n").dropFirst() {
            let code = try #require(block.components(separatedBy: "```").first)
            // Only what no test on Linux can compile says so: UIKit, SwiftUI, and parts of manifests.
            if code.hasPrefix("// Not compiled here: ") || code.hasPrefix("// swift-tools-version") { continue }
            let wanted = Self.normalized(code)
            #expect(
                !wanted.isEmpty && Self.sources.contains { $0.contains(wanted) }, "Not compiled by a test:\n\(code)")
        }
    }

    /// The files with the types that an app meets, below `Sources`.
    private static let types = [
        "CoreDataSource/Container/DataSourceDirectory",
        "CoreDataSource/Container/ObjectPages",
        "CoreDataSource/Container/PersistentContainer",
        "CoreDataSource/Container/PersistentContainer+Configuration",
        "CoreDataSource/Container/PersistentContainer+Name",
        "CoreDataSource/Container/PersistentContainer+Termination",
        "CoreDataSource/Container/StoreLease",
        "CoreDataSource/Container/StoreLocation",
        "CoreDataSource/Context/Editing/EditingContext",
        "CoreDataSource/Context/Editing/FetchPredicate+Relationships",
        "CoreDataSource/Context/Editing/RelatedObjects",
        "CoreDataSource/Context/Private/Batch",
        "CoreDataSource/Context/Private/PendingChanges",
        "CoreDataSource/Context/Private/PrivateContext",
        "CoreDataSource/Context/Private/PrivateContext+Preload",
        "CoreDataSource/Context/Private/PrivateContext+Save",
        "CoreDataSource/Context/Private/SaveCompletion",
        "CoreDataSource/Context/Private/Sweep",
        "CoreDataSource/Context/Private/SyncRules",
        "CoreDataSource/Context/Reading/ManagedObjectContext",
        "CoreDataSource/Context/Reading/ManagedObjectContext+Explain",
        "CoreDataSource/Context/Reading/ManagedObjectContext+Reading",
        "CoreDataSource/Context/Reading/ReadTier",
        "CoreDataSource/Context/Reading/RowValueReader",
        "CoreDataSource/Context/Stack/PersistentStack",
        "CoreDataSource/DataSource/BatchProgress",
        "CoreDataSource/DataSource/DataSource",
        "CoreDataSource/DataSource/DataSource+Add",
        "CoreDataSource/DataSource/DataSource+Load",
        "CoreDataSource/DataSource/DataSource+ReadThrough",
        "CoreDataSource/DataSource/DataSource+Scopes",
        "CoreDataSource/DataSource/DataSource+Sync",
        "CoreDataSource/DataSource/EntityDataSource+Aggregates",
        "CoreDataSource/DataSource/EntityDataSource+Lists",
        "CoreDataSource/DataSource/ServerAnswer",
        "CoreDataSource/Draft/Context/DraftContext",
        "CoreDataSource/Draft/Merge/DraftChange",
        "CoreDataSource/Draft/Merge/DraftMerge",
        "CoreDataSource/List/Main/MainContext",
        "CoreDataSource/List/Observers/DataSourceDelegate",
        "CoreDataSource/List/Observers/ListSnapshot",
        "CoreDataSource/List/Observers/LiveAggregate",
        "CoreDataSource/List/Observers/ListUpdates",
        "CoreDataSource/List/Schedule/ListReason",
        "CoreDataSource/Object/AttributeStorable",
        "CoreDataSource/Object/ManagedObject",
        "CoreDataSource/Object/ManagedObjectConvertible",
        "CoreDataSource/Query/AttributeRange",
        "CoreDataSource/Query/FetchAggregate",
        "CoreDataSource/Query/FetchOrder",
        "CoreDataSource/Query/FetchPredicate",
        "CoreDataSource/Query/ListSections",
        "CoreDataSource/Query/ObjectRequest",
        "CoreDataSource/Query/ScopeEviction",
        "CoreDataSource/Query/SyncScope",
        "CoreDataSource/Save/StoreFailure",
        "CoreDataSource/Transfer/ObjectGraph",
        "CoreDataSourceActiveRecord/PersistenceService",
        "CoreDataSourceActiveRecord/ReadingAndWriting",
        "DataSourceTesting/DataSourceContract",
        "DataSourceTesting/DataSourceRule",
        "DataSourceTesting/GraphFixture",
        "ManagedModel/Hash/ModelHash",
        "ManagedModel/Model/AttributeDescription",
        "ManagedModel/Model/EntityDescription",
        "ManagedModel/Model/FetchRequestTemplate",
        "ManagedModel/Model/ManagedObjectModel",
        "ManagedModel/Model/RelationshipDescription",
        "ManagedModel/Validation/Columns",
        "ManagedModel/Validation/ModelError",
        "ManagedModel/Validation/ModelLookup",
        "ManagedModel/Validation/ModelValidation",
        "ModelReader/Bundle/ModelBundle",
        "ModelReader/Document/ModelDocument",
        "ModelReader/Document/ModelReaderError",
        "ModelReader/ModelReader",
        "RowStore/Store/ResetPolicy",
        "RowStore/Store/StatementTrace",
        "RowStore/Store/StoreStartup",
    ]

    @Test(arguments: types)
    func theExamplesOfATypeAreCompiled(_ type: String) throws {
        let file = PackageFiles.root.appending(path: "Sources/\(type).swift")
        let blocks = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "/// ```swift\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let code = try #require(block.components(separatedBy: "/// ```").first)
                .replacing(/(?m)^ *\/\/\/ ?/, with: "")
            let wanted = Self.normalized(code)
            #expect(
                !wanted.isEmpty && Self.sources.contains { $0.contains(wanted) }, "Not compiled by a test:\n\(code)")
        }
    }

    @Test(arguments: pages)
    func uncompiledBlocksSayWhy(_ page: URL) throws {
        let text = try String(contentsOf: page, encoding: .utf8)
        for match in text.matches(of: /\/\/ Not compiled here: (.*)/) {
            #expect(["needs UIKit.", "needs SwiftUI.", "part of a manifest."].contains(String(match.output.1)))
        }
    }

    @Test(.enabled(if: Subprocess.isInPath("swift")))
    func theManifestOfTheTutorialIsRead() async throws {
        let page = Self.catalog.appending(component: "GettingStarted.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").compactMap { $0.components(separatedBy: "```").first }
        let manifest = try #require(blocks.first { $0.hasPrefix("// swift-tools-version") })
        let directory = try TemporaryDirectory()
        let sources = directory.url.appending(path: "Sources/app")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try Data(manifest.utf8).write(to: directory.url.appending(component: "Package.swift"))
        let run = try await Subprocess("swift", ["package", "dump-package"], in: directory.url)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("\"CoreDataSource\"") && !run.output.contains("ModelPlugin"))
    }

    /// A claim stands beside the test that shows it.
    @Test(arguments: pages)
    func everyTestThatIsNamedExists(_ page: URL) throws {
        let text = try String(contentsOf: page, encoding: .utf8)
        for match in text.matches(of: /`(\w+(?:Tests|Promises|Snippets))\.(\w+)`/) {
            let (suite, test) = (match.output.1, match.output.2)
            #expect(
                Self.sources.contains { $0.contains("struct\(suite)") && $0.contains("func\(test)(") },
                "There is no test \(suite).\(test)")
        }
    }

    @Test(arguments: pages)
    func everyScriptThatIsNamedExists(_ page: URL) throws {
        let text = try String(contentsOf: page, encoding: .utf8)
        for script in Set(text.matches(of: /Scripts\/[a-z]+(-[a-z]+)*/).map { String($0.output.0) }) {
            let path = PackageFiles.root.appending(path: script).path
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(script)")
        }
    }
}
