import Foundation
import TestSupport

/// The library as it was built for this test run, to which generated programs are linked.
struct RealLibrary: Sendable {
    private let folder: URL

    /// Linked once for all tests.
    static let shared = Task { try await RealLibrary() }

    #if PostgreSQL
    private static let modules = [
        "DeclarationRules", "ManagedModel", "ModelMigration", "RowStore", "QueryLanguage", "MigrationSQL",
        "PredicateSQL", "SQLiteStore",
        "PostgreSQLStore",
        "CoreDataSource",
    ]
    private static let systemLibraries = ["-lsqlite3", "-lxxhash", "-lpq"]
    #else
    private static let modules = [
        "DeclarationRules", "ManagedModel", "ModelMigration", "RowStore", "QueryLanguage", "MigrationSQL",
        "PredicateSQL", "SQLiteStore",
        "CoreDataSource",
    ]
    private static let systemLibraries = ["-lsqlite3", "-lxxhash"]
    #endif
    private static let name = "BuiltCoreDataSource"

    private init() async throws {
        folder = PackageFiles.products.appending(component: "RelationshipPrograms")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // An incremental build leaves the objects of sources that are gone.
        let objects = RealLibrary.modules.flatMap { module -> [String] in
            let sources = FileManager.default.enumerator(
                at: PackageFiles.root.appending(path: "Sources/\(module)"), includingPropertiesForKeys: nil)
            return (sources?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
                PackageFiles.products.appending(path: "\(module).build/\($0.lastPathComponent).o").path
            }
        }
        try await RealLibrary.compile(
            ["-emit-library", "-o", folder.appending(component: "lib\(RealLibrary.name).so").path] + objects
                + RealLibrary.systemLibraries)
    }

    /// Compiles the files to a program, as strictly as this package compiles itself, and runs it.
    ///
    /// - Parameter flags: Further flags of the compiler.
    func run(_ files: [String], in directory: URL, flags: [String] = []) async throws -> Subprocess {
        let program = directory.appending(component: "program").path
        try await RealLibrary.compile(
            RealLibrary.flags + flags + ["-o", program, "-L", folder.path, "-l\(RealLibrary.name)"]
                + ["-Xlinker", "-rpath", "-Xlinker", folder.path] + files)
        return try await Subprocess(program, [])
    }

    private static func compile(_ arguments: [String]) async throws {
        let run = try await Subprocess("swiftc", arguments)
        guard run.status == 0 else { throw Failure(description: run.errors) }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let flags: [String] = {
        var flags = ["-parse-as-library", "-module-name", "Program", "-swift-version", "6", "-warnings-as-errors"]
        for feature in [
            "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
        ] {
            flags += ["-enable-upcoming-feature", feature]
        }
        flags += PackageFiles.importFlags
        // A cache of its own: one that is reached by two paths does not work, and the build's may be.
        let cache = PackageFiles.products.resolvingSymlinksInPath().appending(component: "RelationshipModuleCache")
        return flags + ["-module-cache-path", cache.path]
    }()
}
