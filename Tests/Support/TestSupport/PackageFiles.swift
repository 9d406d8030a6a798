package import Foundation

/// The files of this package while its tests run.
package enum PackageFiles {
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folder with models of real apps, which are not part of the package: beside the package, or COREDATASOURCE_MODELS.
    package static let models =
        ProcessInfo.processInfo.environment["COREDATASOURCE_MODELS"].map { URL(filePath: $0) }
        ?? root.appending(path: "../shared/models").standardizedFileURL

    package static let tests = root.appending(component: "Tests")

    /// The folder of the built executables and modules: next to the test bundle.
    package static let products: URL = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        return (bundle ?? Bundle.main.executableURL ?? root).deletingLastPathComponent()
    }()

    /// The compiler flags to import the library as it was built for this test run.
    package static let importFlags: [String] = {
        var flags = ["-I", products.appending(component: "Modules").path]
        for module in ["CSQLite", "CXXHash"] { flags += ["-I", root.appending(components: "Sources", module).path] }
        flags += ["-load-plugin-executable", products.appending(component: "EntityMacros-tool").path + "#EntityMacros"]
        #if PostgreSQL
        flags += ["-I", root.appending(components: "Sources", "CPostgreSQL").path]
        // The flags of pkg-config for libpq on Debian, and on macOS with Homebrew.
        for folder in ["/usr/include/postgresql", "/opt/homebrew/opt/libpq/include", "/usr/local/opt/libpq/include"] {
            if FileManager.default.fileExists(atPath: folder) { flags += ["-Xcc", "-I\(folder)"] }
        }
        #endif
        return flags
    }()

    package static func swiftFiles(in directory: URL) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return files.filter { $0.pathExtension == "swift" }.map(\.path).sorted()
    }
}
