import Foundation
import TestSupport

/// Compiles generated files as strictly as this package compiles itself, against a stand-in for the library.
struct Compiler: Sendable {
    /// Where the modules are.
    let modules: URL

    /// Whether a compiler is in the path; without one there is nothing to test.
    static let isAvailable = Subprocess.isInPath("swiftc")

    /// Compiled once for all tests.
    static let shared = Task { try await Compiler() }

    private init() async throws {
        // Next to what was built, where it is found and thrown away with it.
        modules = PackageFiles.products.appending(component: "GeneratedCodeTests")
        try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: true)
        let model = PackageFiles.root.appending(components: "Sources", "ManagedModel", "Model")
        try await module("ManagedModel", of: PackageFiles.swiftFiles(in: model))
        let library = PackageFiles.cases.appending(component: "Library")
        try await module("CoreDataSource", of: PackageFiles.swiftFiles(in: library))
    }

    /// What the compiler says about the files, or nothing.
    func diagnostics(of files: [String]) async throws -> String {
        let options = ["-I", modules.path, "-parse-as-library", "-typecheck"]
        let run = try await Subprocess("swiftc", Self.flags + options + files)
        return run.status == 0 ? run.errors : run.errors + "\nstatus \(run.status)"
    }

    /// Compiles the files to a program and runs it.
    func run(_ files: [String]) async throws -> Subprocess {
        let program = modules.appending(component: "program").path
        let libraries = ["-I", modules.path, "-L", modules.path, "-lCoreDataSource", "-lManagedModel"]
        try await Self.compile(["-parse-as-library", "-o", program] + libraries + files, in: modules)
        return try await Subprocess(program, [])
    }

    private func module(_ name: String, of files: [String]) async throws {
        let output = ["-parse-as-library", "-emit-module", "-emit-library", "-static", "-module-name", name]
        try await Self.compile(output + ["-I", modules.path] + files, in: modules)
    }

    private static func compile(_ arguments: [String], in directory: URL) async throws {
        let run = try await Subprocess("swiftc", flags + arguments, in: directory)
        guard run.status == 0 else { throw Failure(description: run.errors) }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let flags =
        ["-swift-version", "6", "-warnings-as-errors", "-package-name", "generated"]
        + ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault"]
        .flatMap { ["-enable-upcoming-feature", $0] }
}
