import Foundation
import TestSupport

/// Compiles sources as strictly as this package compiles itself, against the library as it was built for this test run.
enum Compiler {
    /// Whether a compiler is in the path; without one there is nothing to test.
    static let isAvailable = Subprocess.isInPath("swiftc")

    /// What is wrong with a source, without what the compiler only draws. Warnings are errors.
    ///
    /// - Parameters:
    ///   - isOfMain: Whether the target is isolated to the main actor by default.
    ///   - more: More sources and flags.
    static func errors(in file: URL, isOfMain: Bool = false, more: [String] = []) async throws -> [String] {
        let support = MisuseCase.folder.appending(component: "Support.swift")
        let run = try await Subprocess(
            "swiftc", flags + (isOfMain ? ["-default-isolation", "MainActor"] : []) + [support.path, file.path] + more)
        let errors = run.errors.split(separator: "\n").filter { $0.wholeMatch(of: /[^|]*: error: .*/) != nil }
        // A compiler that stumbles over anything else has not judged the source.
        guard (run.status == 0) == errors.isEmpty else { throw Failure(description: run.errors) }
        return errors.map(String.init)
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Up to the intermediate language: what crosses isolation is judged there, and `-typecheck` stops before it.
    private static let flags: [String] = {
        var flags = ["-emit-sil", "-wmo", "-o", "/dev/null", "-parse-as-library", "-module-name", "Misuse"]
        flags += ["-swift-version", "6", "-warnings-as-errors"]
        for feature in [
            "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
        ] {
            flags += ["-enable-upcoming-feature", feature]
        }
        flags += PackageFiles.importFlags
        // A cache of its own: one that is reached by two paths does not work, and the build's may be.
        let cache = PackageFiles.products.resolvingSymlinksInPath().appending(component: "MisuseModuleCache")
        return flags + ["-module-cache-path", cache.path]
    }()
}
