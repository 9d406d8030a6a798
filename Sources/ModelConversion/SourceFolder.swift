internal import Foundation
internal import ManagedModel
internal import ModelReader
internal import ModelSource

/// The Swift files of a folder, or a single Swift file.
struct SourceFolder {
    /// A file with its tokens.
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
    /// The given path of each file, by the file's path without symbolic links.
    private var paths: [String: String] = [:]

    /// Limits far above the size of any real program.
    static let byteLimit = 256 << 20
    static let fileLimit = 50_000

    /// Reads the files at the paths, and the Swift files in the folders at the paths.
    init(_ paths: [String]) throws(ModelReaderError) {
        for path in paths {
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
                throw ModelReaderError(
                    .notFound, file: path, "No file or folder has this path. Check the path of the model.")
            }
            for file in isDirectory.boolValue ? try swiftFiles(in: path) : [path] { try add(file) }
        }
    }

    /// The paths of the Swift files in a folder, sorted. Adds a warning for each file and folder that might have classes
    /// but is not read.
    private mutating func swiftFiles(in path: String) throws(ModelReaderError) -> [String] {
        let folder = URL(filePath: path, directoryHint: .isDirectory).resolvingSymlinksInPath()
        guard Self.canOpen(folder) else {
            throw ModelReaderError(
                .unreadable, file: path, "The folder cannot be opened. Check its permissions.")
        }
        let keys: Set<URLResourceKey> = [.isSymbolicLinkKey, .isRegularFileKey, .isDirectoryKey]
        let found = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: Array(keys), options: [.skipsHiddenFiles, .skipsPackageDescendants])
        var paths: [String] = []
        var warnings: [ModelDiagnostic] = []
        while let url = found?.nextObject() as? URL {
            let values = try? url.resourceValues(forKeys: keys)
            let isLink = values?.isSymbolicLink == true
            let isClosed = values?.isDirectory == true && !isLink && !Self.canOpen(url)
            let isFile = url.pathExtension == "swift" && values?.isDirectory != true
            guard isFile || isClosed || isLink && Self.isFolder(url) else { continue }
            let name = (path.hasSuffix("/") ? path : path + "/") + SourceFolder.relative(url, to: folder)
            guard !isLink, values?.isRegularFile == true else {
                let message =
                    isLink
                    ? "This is a symbolic link, which is not followed. If classes of the model are there, give their path."
                    : isClosed
                        ? "This folder cannot be opened, and is not read. Check its permissions."
                        : values?.isRegularFile == nil
                            ? "No file has this name, so it is not read. If the name on the disk is not UTF-8, rename the file or its folder."
                            : "This is not a regular file, and is not read. Remove it, or move it out of the folder."
                warnings.append(ModelDiagnostic(file: name, line: 1, message: message))
                continue
            }
            paths.append(name)
            guard paths.count <= Self.fileLimit else {
                throw ModelReaderError(
                    .tooLarge, file: path,
                    "The folder has more than \(Self.fileLimit) files. Give a smaller folder with the model.")
            }
        }
        diagnostics += warnings.sorted { $0.file < $1.file }
        return paths.sorted()
    }

    /// The line of the first bytes that are not UTF-8.
    private static func lineOfFault(in data: Data) -> Int {
        var (decoder, bytes, line) = (UTF8(), data.makeIterator(), 1)
        while case .scalarValue(let scalar) = decoder.decode(&bytes) {
            if scalar == "\n" { line += 1 }
        }
        return line
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    private static func canOpen(_ folder: URL) -> Bool {
        FileManager.default.isReadableFile(atPath: folder.path)
            && FileManager.default.isExecutableFile(atPath: folder.path)
    }

    private static func relative(_ url: URL, to folder: URL) -> String {
        url.standardizedFileURL.pathComponents.dropFirst(folder.standardizedFileURL.pathComponents.count).joined(
            separator: "/")
    }

    private mutating func read(_ path: String) throws(ModelReaderError) -> String {
        let data: Data
        do {
            // The path can be a symbolic link to something that is not a file, such as a device.
            let file = URL(filePath: path).resolvingSymlinksInPath()
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw ModelReaderError(
                    .notAModel, file: path, "This is not a regular file. Give the path of a Swift file or a folder.")
            }
            if let other = paths.updateValue(path, forKey: file.path) {
                throw ModelReaderError(
                    .duplicateName, file: path,
                    "This file is given twice, the first time as \(other). Give each file once, and no file of a folder that is given."
                )
            }
            byteCount += (attributes[.size] as? NSNumber)?.intValue ?? 0
            guard byteCount <= Self.byteLimit else {
                throw ModelReaderError(
                    .tooLarge, file: path,
                    "The files have more than \(Self.byteLimit) bytes. Give a smaller folder with the model.")
            }
            data = try Data(contentsOf: file)
        } catch let error as ModelReaderError {
            throw error
        } catch {
            throw ModelReaderError(
                .unreadable, file: path,
                "The file cannot be read (\(error.localizedDescription)). Check its permissions.")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ModelReaderError(
                .unsupportedEncoding, file: path, line: Self.lineOfFault(in: data),
                "The file is not UTF-8 text. Save the file as UTF-8.")
        }
        return text
    }

    private mutating func add(_ path: String) throws(ModelReaderError) {
        let text = try read(path)
        let source = SwiftSource(text)
        if let syntaxError = source.syntaxError {
            // A file without these strings contains no part of a model, so its fault is ignored.
            guard ["@StoredEntity", "@StoredComposite", "ManagedObjectModel("].contains(where: text.contains) else {
                return
            }
            throw File(path: path, source: source).error(.malformedSwift, at: syntaxError.offset, syntaxError.message)
        }
        files.append(File(path: path, source: source))
    }
}

extension ModelError.Code {
    /// A Swift file cannot be parsed, or a class is not a valid part of a model.
    static let malformedSwift = ModelError.Code("malformedSwift")
    /// The files contain no model or more than one model.
    static let ambiguousModel = ModelError.Code("ambiguousModel")
}
