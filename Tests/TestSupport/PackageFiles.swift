package import Foundation

/// Where the files of this package are while its tests run.
package enum PackageFiles {
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

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

    package static func swiftFiles(in directory: URL) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return files.filter { $0.pathExtension == "swift" }.map(\.path).sorted()
    }
}
