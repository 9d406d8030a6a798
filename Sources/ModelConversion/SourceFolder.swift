internal import Foundation
internal import ManagedModel
internal import ModelReader
internal import ModelSource

/// The Swift files of a folder, or one of them.
struct SourceFolder {
    /// A file and its tokens.
    struct File {
        let path: String
        let source: SwiftSource

        func error(_ code: ModelReaderError.Code, at offset: Int, _ message: String) -> ModelReaderError {
            ModelReaderError(code, file: path, line: source.line(of: offset), message)
        }
    }

    private(set) var files: [File] = []
    private(set) var diagnostics: [ModelDiagnostic] = []
    private var byteCount = 0

    /// Limits that no real program comes near.
    static let byteLimit = 256 << 20
    static let fileLimit = 50_000

    init(_ path: String) throws(ModelReaderError) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw ModelReaderError(
                .notFound, file: path, "No file or folder has this path. Check the path of the model.")
        }
        guard isDirectory.boolValue else {
            try add(path)
            return
        }
        let folder = URL(filePath: path, directoryHint: .isDirectory)
        let keys: [URLResourceKey] = [.isSymbolicLinkKey]
        let found = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: keys, options: [.skipsHiddenFiles, .skipsPackageDescendants])
        var paths: [String] = []
        while let url = found?.nextObject() as? URL {
            guard url.pathExtension == "swift" else { continue }
            let name = (path.hasSuffix("/") ? path : path + "/") + SourceFolder.relative(url, to: folder)
            if (try? url.resourceValues(forKeys: Set(keys)))?.isSymbolicLink == true {
                diagnostics.append(
                    ModelDiagnostic(
                        file: name, line: 1,
                        message: "This is a symbolic link, which is not followed. Give the path of the file."))
                continue
            }
            paths.append(name)
            guard paths.count <= Self.fileLimit else {
                throw ModelReaderError(
                    .tooLarge, file: path,
                    "The folder has more than \(Self.fileLimit) files. Give a smaller folder with the model.")
            }
        }
        for path in paths.sorted() { try add(path) }
    }

    private static func relative(_ url: URL, to folder: URL) -> String {
        url.standardizedFileURL.pathComponents.dropFirst(folder.standardizedFileURL.pathComponents.count).joined(
            separator: "/")
    }

    private mutating func add(_ path: String) throws(ModelReaderError) {
        let data: Data
        do {
            let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            guard type == .typeRegular || type == .typeSymbolicLink else {
                throw ModelReaderError(.notAModel, file: path, "This is not a regular file.")
            }
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as ModelReaderError {
            throw error
        } catch {
            throw ModelReaderError(
                .unreadable, file: path,
                "The file cannot be read (\(error.localizedDescription)). Check its permissions.")
        }
        byteCount += data.count
        guard byteCount <= Self.byteLimit else {
            throw ModelReaderError(
                .tooLarge, file: path, "The files have more than \(Self.byteLimit) bytes. Give a folder with the model."
            )
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ModelReaderError(
                .unsupportedEncoding, file: path, "The file is not UTF-8 text. Save the file as UTF-8.")
        }
        let source = SwiftSource(text)
        if let fault = source.fault {
            // A file without a model may be anything.
            guard ["@StoredEntity", "@StoredComposite", "ManagedObjectModel("].contains(where: text.contains) else {
                return
            }
            throw File(path: path, source: source).error(.malformedSwift, at: fault.offset, fault.message)
        }
        files.append(File(path: path, source: source))
    }
}

extension ModelError.Code {
    /// A Swift file cannot be read, or a class in it does not say what a model must.
    static let malformedSwift = ModelError.Code("malformedSwift")
    /// There is no model in the files, or more than one.
    static let ambiguousModel = ModelError.Code("ambiguousModel")
}
