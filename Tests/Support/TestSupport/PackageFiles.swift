package import Foundation

/// Where the files of this package are while its tests run.
package enum PackageFiles {
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Where models of real apps are: beside the package, or where COREDATASOURCE_MODELS says. They are no part of it.
    package static let models =
        ProcessInfo.processInfo.environment["COREDATASOURCE_MODELS"].map { URL(filePath: $0) }
        ?? root.appending(path: "../shared/models").standardizedFileURL

    package static let tests = root.appending(component: "Tests")

    /// Where the executables and modules are built: next to the test bundle.
    package static let products: URL = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        return (bundle ?? Bundle.main.executableURL ?? root).deletingLastPathComponent()
    }()

    /// What a compiler needs to import the library as it was built for this test run.
    package static let importFlags: [String] = {
        var flags = ["-I", products.appending(component: "Modules").path]
        for module in ["CSQLite", "CXXHash"] { flags += ["-I", root.appending(components: "Sources", module).path] }
        flags += ["-load-plugin-executable", products.appending(component: "EntityMacros-tool").path + "#EntityMacros"]
        #if PostgreSQL
        flags += ["-I", root.appending(components: "Sources", "CPostgreSQL").path]
        // As pkg-config says it for libpq on Debian, and on macOS with Homebrew.
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
