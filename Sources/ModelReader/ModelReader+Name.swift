public import Foundation

/// Finding a model by its name.
extension ModelReader {
    /// The directories that are searched for models: the resources of the program's bundle, the program's own directory, and
    /// the bundles in these two, where a package has its resources.
    public static var modelDirectories: [URL] {
        let program = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        var directories: [URL] = []
        for directory in [Bundle.main.resourceURL, program].compactMap(\.self) {
            let directory = directory.standardizedFileURL
            for found in [directory] + bundles(in: directory) where !directories.contains(found) {
                directories.append(found)
            }
        }
        return directories
    }

    /// Reads the model with that name.
    ///
    /// ```swift
    /// let model = try ModelReader.read(named: "Contacts").model
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of a `.xcdatamodeld` bundle, or of an `.xcdatamodel` directory, without its extension.
    ///   - version: As for ``read(_:version:followsVersions:)``.
    ///   - directories: The directories to search; the first one that has the model is used. Nil, the default, for
    ///     ``modelDirectories``.
    /// - Throws: ``ModelReaderError``: `notFound` if no directory has it; otherwise what ``read(_:version:followsVersions:)`` throws.
    public static func read(
        named name: String, version: String? = nil, in directories: [URL]? = nil
    ) throws(ModelReaderError) -> ModelDocument {
        let directories = directories ?? modelDirectories
        for directory in directories {
            for kind in ["xcdatamodeld", "xcdatamodel"] {
                let url = directory.appending(component: "\(name).\(kind)")
                if FileManager.default.fileExists(atPath: url.path) { return try read(url, version: version) }
            }
        }
        let places = directories.map(\.path).joined(separator: ", ")
        throw ModelReaderError(
            .notFound, file: "\(name).xcdatamodeld",
            "There is no model with this name in \(places). Add it there as a resource, or give its path.")
    }

    /// The bundles in a directory, sorted by name.
    private static func bundles(in directory: URL) -> [URL] {
        let content = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return (content ?? []).filter { ["resources", "bundle"].contains($0.pathExtension) }
            .map(\.standardizedFileURL).sorted { $0.path < $1.path }
    }
}
