public import Foundation
internal import ManagedModel

/// A `.xcdatamodeld` bundle, which contains the versions of a model and the name of the current version. A separate
/// `.xcdatamodel` directory counts as a bundle with one version.
public struct ModelBundle: Sendable {
    /// The location of the bundle.
    public let url: URL
    /// The name of the model without its extension.
    public let name: String
    /// The names of the versions without `.xcdatamodel`, sorted by name and not by age.
    public let versions: [String]
    /// The current version: the version that the bundle names, or the only version if the bundle names none. Nil if the named
    /// version does not exist, or if a bundle with several versions names none.
    public let currentVersion: String?
    /// The version that the bundle names as current, even if this version does not exist.
    private let namedVersion: String?
    /// The reason why the current version is unknown.
    private let namingError: ModelReaderError?
    private let isSingleVersion: Bool

    /// Finds the versions of a bundle, but does not read them.
    ///
    /// ```swift
    /// let bundle = try ModelBundle(at: url)
    /// print(bundle.name, bundle.versions)
    /// ```
    ///
    /// - Complexity: O(n log n) in the number of versions.
    ///
    /// - Throws: ``ModelReaderError`` if there is no model at the URL.
    public init(at url: URL) throws(ModelReaderError) {
        self.url = url
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelReaderError(
                .notFound, file: url.path, "No file or folder has this path. Check the path of the model.")
        }
        guard isDirectory.boolValue, ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) else {
            throw ModelReaderError(
                .notAModel, file: url.path,
                "This is not a data model. Give the path of a .xcdatamodeld or .xcdatamodel directory.")
        }
        let ownName = url.deletingPathExtension().lastPathComponent
        isSingleVersion = url.pathExtension == "xcdatamodel"
        if isSingleVersion {
            let bundle = url.deletingLastPathComponent()
            name = bundle.pathExtension == "xcdatamodeld" ? bundle.deletingPathExtension().lastPathComponent : ownName
            versions = [ownName]
            namedVersion = ownName
            namingError = nil
        } else {
            name = ownName
            versions = try Self.versions(in: url)
            (namedVersion, namingError) = Self.namedVersion(in: url)
        }
        if let namedVersion {
            currentVersion = versions.first { $0 == namedVersion }
        } else {
            currentVersion = versions.count == 1 && namingError == nil ? versions.first : nil
        }
    }

    /// - Parameter name: The name of a version, with or without its extension; nil for the current version.
    func version(named name: String?) throws(ModelReaderError) -> String {
        guard let name else {
            if let currentVersion { return currentVersion }
            if let namingError { throw namingError }
            throw ModelReaderError(.noCurrentVersion, file: url.path, missingCurrentVersion)
        }
        let plain = Self.withoutExtension(name)
        // The directory's name on disk can have a different Unicode form. The file system treats the forms as different
        // names, so the name on disk is returned.
        guard let version = versions.first(where: { $0 == name || $0 == plain }) else {
            throw ModelReaderError(.unknownVersion, file: url.path, "There is no version \(plain). \(listing)")
        }
        return version
    }

    func contents(of version: String) throws(ModelReaderError) -> (data: Data, path: String) {
        let directory = isSingleVersion ? url : url.appending(path: "\(version).xcdatamodel")
        let contents = directory.appending(path: "contents")
        if let data = try BoundedFile.read(contents, limit: MarkupScan.byteLimit) { return (data, contents.path) }
        let elements = directory.appending(path: "elements")
        guard FileManager.default.fileExists(atPath: elements.path) else {
            throw ModelReaderError(.notFound, file: contents.path, "The version \(version) has no contents file.")
        }
        throw ModelReaderError(
            .binaryModel, file: elements.path,
            "The version \(version) is in the binary format of Xcode 3. Open the model in Xcode 4 or newer, and save the model again."
        )
    }

    private var listing: String {
        versions.isEmpty ? "The bundle has no versions." : "The bundle has: \(versions.joined(separator: ", "))."
    }

    private var missingCurrentVersion: String {
        let cause =
            if let namedVersion {
                "The file .xccurrentversion names \(namedVersion) as the current version, but the bundle has no such version."
            } else {
                "The bundle does not say which version is current."
            }
        return "\(cause) \(listing) Choose the current version in Xcode's file inspector, or name a version."
    }

    private static func versions(in url: URL) throws(ModelReaderError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: url.path)
                .filter { $0.hasSuffix(versionSuffix) }.map(withoutExtension).sorted()
        } catch {
            throw ModelReaderError(
                .unreadable, file: url.path, "The directory cannot be listed (\(error.localizedDescription)).")
        }
    }

    /// Reads the name of the current version from `.xccurrentversion`. It is no error if the file is missing, empty, or
    /// an empty dictionary.
    private static func namedVersion(in url: URL) -> (name: String?, error: ModelReaderError?) {
        let file = url.appending(path: ".xccurrentversion")
        guard let data = try? BoundedFile.read(file, limit: 64 << 10) else { return (nil, nil) }
        if let line = ConflictMarker.firstLine(in: data) {
            return (nil, .mergeConflict(file: file.path, line: line))
        }
        if data.isEmpty { return (nil, nil) }
        do {
            let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            let name = list?["_XCCurrentVersionName"]
            if list != nil, name == nil || name is String { return ((name as? String).map(withoutExtension), nil) }
        } catch {}
        return (
            nil,
            ModelReaderError(
                .malformedXML, file: file.path,
                "The file does not name the current version in the format of Xcode. Restore the file, or choose the version in Xcode's file inspector."
            )
        )
    }

    private static let versionSuffix = ".xcdatamodel"

    /// Removes only this suffix, because the name of a version can contain dots.
    private static func withoutExtension(_ name: String) -> String {
        name.hasSuffix(versionSuffix) ? String(name.dropLast(versionSuffix.count)) : name
    }
}

/// Reads files from other programs. Refuses files that are not regular, and files over a size limit.
enum BoundedFile {
    /// Returns the bytes of the file; nil if the file does not exist.
    ///
    /// - Parameter limit: The maximum size in bytes.
    static func read(_ url: URL, limit: Int) throws(ModelReaderError) -> Data? {
        let path = url.resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            // Reading a pipe could block forever, and reading a device might never end.
            let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            guard type == .typeRegular else {
                throw ModelReaderError(.notAModel, file: url.path, "This is not a regular file.")
            }
            let handle = try FileHandle(forReadingFrom: URL(filePath: path))
            let data = try handle.read(upToCount: limit + 1) ?? Data()
            try handle.close()
            guard data.count <= limit else {
                throw ModelReaderError(.tooLarge, file: url.path, "The file is larger than \(limit) bytes.")
            }
            return data
        } catch let error as ModelReaderError {
            throw error
        } catch {
            throw ModelReaderError(
                .unreadable, file: url.path,
                "The file cannot be read (\(error.localizedDescription)). Check its permissions.")
        }
    }
}

extension ModelBundle {
    /// Returns the versions that are older than a version, oldest first.
    ///
    /// ```swift
    /// let earlier = bundle.versions(before: "Contacts 3")
    /// // ["Contacts", "Contacts 2"]
    /// ```
    ///
    /// - Complexity: O(n log n) in the number of versions.
    ///
    /// The order follows from the names, as in Xcode. Names that differ only in a number at their end belong together, as in
    /// `Model`, `Model 2` and `Model 3`, or `1.9` and `1.10`. The name without a number comes first. Versions with other names
    /// are left out, because a bundle does not contain the age of its versions.
    public func versions(before version: String) -> [String] {
        let own = NumberedName(version)
        return versions.map(NumberedName.init).filter { $0.stem == own.stem && $0.precedes(own) }
            .sorted { $0.precedes($1) }.map(\.name)
    }
}

/// A name, split into a stem and a version number at its end.
private struct NumberedName {
    let name: String
    /// The part before the number, without the separator.
    let stem: String
    /// The parts of the number, which are separated by points.
    let numbers: [Int]

    init(_ name: String) {
        self.name = name
        var start = name.unicodeScalars.endIndex
        let scalars = name.unicodeScalars
        while start > scalars.startIndex {
            let before = scalars.index(before: start)
            guard ("0"..."9").contains(scalars[before]) || scalars[before] == "." else { break }
            start = before
        }
        let parts = String(scalars[start...]).split(separator: ".", omittingEmptySubsequences: true)
        let numbers = parts.compactMap { Int($0) }
        // Digits that are too large for an integer are part of the stem.
        guard numbers.count == parts.count else {
            (stem, self.numbers) = (name, [])
            return
        }
        self.numbers = numbers
        var stem = String(scalars[..<start])
        while let last = stem.last, " _-".contains(last) { stem.removeLast() }
        self.stem = stem
    }

    func precedes(_ other: NumberedName) -> Bool { numbers.lexicographicallyPrecedes(other.numbers) }
}
