public import Foundation
internal import ManagedModel
internal import ModelMigration

/// Reads data model files in the format of Xcode: `.xcdatamodeld` bundles and separate `.xcdatamodel` directories.
///
///     let document = try ModelReader.read(URL(filePath: "Models/Contacts.xcdatamodeld"))
///     for diagnostic in document.diagnostics { print(diagnostic) }
///     let model = document.model
///
/// Unusual values from older tools are loaded with a diagnostic. If the model is valid without a reference to an
/// unknown element, the reference is removed with a diagnostic. Otherwise, the reference is an error. A hostile file
/// causes an error, but never a trap. The cost of reading is proportional to the size of the file.
///
/// **Isolation**: none. Calls are independent and can run on any thread. A call blocks its thread while it reads files.
public struct ModelReader: Sendable {
    private init() {}

    /// Reads one version of a model, with the names of its elements in earlier versions.
    ///
    /// ```swift
    /// let model = try ModelReader.read(url, version: "Contacts 2").model
    /// ```
    ///
    /// The earlier versions are in the bundle (see ``ModelBundle/versions(before:)``) and in the lock file that
    /// `model-reset check --update` writes. The reader looks for `model.lock` and `Models/model.lock` in the folders above the
    /// bundle, up to the folder with `Package.swift` or `.git`.
    ///
    /// - Parameters:
    ///   - url: A `.xcdatamodeld` bundle, or the `.xcdatamodel` directory of one version.
    ///   - version: The name of the version, with or without `.xcdatamodel`; nil for the current version.
    ///   - followsVersions: Whether to read the earlier versions, too. Only code that plans migrations needs them.
    /// - Throws: ``ModelReaderError`` with the file and the line of the fault.
    /// - Complexity: linear in the size of the files, plus the cost of one migration plan for each earlier version.
    public static func read(
        _ url: URL, version: String? = nil, followsVersions: Bool = true
    ) throws(ModelReaderError) -> ModelDocument {
        let bundle = try ModelBundle(at: url)
        let version = try bundle.version(named: version)
        let contents = try bundle.contents(of: version)
        var document = try read(data: contents.data, name: bundle.name, version: version, file: contents.path)
        guard followsVersions else { return document }
        let names = bundle.versions(before: version)
        var earlier: [ManagedObjectModel] = []
        for name in names.reversed() {
            do throws(ModelReaderError) {
                let contents = try bundle.contents(of: name)
                earlier.append(
                    try read(data: contents.data, name: bundle.name, version: name, file: contents.path).model)
            } catch {
                document.diagnostics.append(.unreadable(name, error))
                break
            }
        }
        let locked = LockedVersions(of: url)
        if let error = locked.error { document.diagnostics.append(.ignored(error)) }
        document.model.follow(
            locked.merged(
                with: earlier.reversed(), version: version, later: Set(bundle.versions).subtracting(names + [version]),
                isCurrent: version == bundle.currentVersion))
        return document
    }

    /// Reads a model from the bytes of a `contents` file.
    ///
    /// ```swift
    /// let document = try ModelReader.read(
    ///     data: Data(contentsOf: contents), name: "Contacts")
    /// ```
    ///
    /// - Complexity: linear in the size of the data.
    ///
    /// - Parameters:
    ///   - data: The XML of the `contents` file.
    ///   - name: The name of the model.
    ///   - version: The name of the version; nil to use the name of the model.
    ///   - file: The file name in errors and diagnostics; nil to use the name of the model.
    /// - Throws: ``ModelReaderError`` with the line of the fault.
    public static func read(
        data: Data, name: String, version: String? = nil, file: String? = nil
    ) throws(ModelReaderError) -> ModelDocument {
        let file = file ?? name
        let markup = try MarkupScan.check(data, file: file)
        let root = try MarkupParser.parse(markup, file: file)
        var builder = ModelBuilder(file: file)
        let unlinkedModel = try builder.unlinkedModel(of: root, name: name, version: version ?? name)
        var linker = ModelLinker(unlinkedModel)
        return try linker.link()
    }
}

/// Finds models by name.
extension ModelReader {
    /// The directories to search for models: the resources of the main bundle, the directory of the program, and the bundles in
    /// both directories. A package has its resources in such bundles. Each access reads the directories.
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

    /// Reads the model with the given name.
    ///
    /// ```swift
    /// let model = try ModelReader.read(named: "Contacts").model
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of a `.xcdatamodeld` bundle, or of an `.xcdatamodel` directory, without its extension.
    ///   - version: The name of the version, with or without `.xcdatamodel`; nil for the current version.
    ///   - directories: The directories to search. The first directory with the model is used. The default is nil, which means
    ///     ``modelDirectories``.
    /// - Throws: ``ModelReaderError``: `notFound` if no directory has the model, or an error of
    ///   ``read(_:version:followsVersions:)``.
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
        let paths = directories.map(\.path).joined(separator: ", ")
        throw ModelReaderError(
            .notFound, file: "\(name).xcdatamodeld",
            "There is no model with this name in \(paths). Add the model there as a resource, or give the path of the model."
        )
    }

    /// The resource bundles in a directory, sorted by name.
    private static func bundles(in directory: URL) -> [URL] {
        let content = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return (content ?? []).filter { ["resources", "bundle"].contains($0.pathExtension) }
            .map(\.standardizedFileURL).sorted { $0.path < $1.path }
    }
}
