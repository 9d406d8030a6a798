import CoreDataSourceStores
import Foundation

/// JSON files of a folder that change together: all of them or none, even if the process is killed.
///
/// The changes are first written to a journal. Once the journal has its name, the changes count, and are carried out. If the
/// process ends before, the next opening of the folder carries them out.
final class JournaledFolder: Sendable {
    private let url: URL
    private let mode: mode_t
    /// Whether no change may be lost in a power cut.
    private let isSynchronous: Bool
    private let lock: Int32
    private let didStep: @Sendable () -> Void
    private static let journal = "journal.json"

    /// Makes the folder if there is none, and locks it.
    init(_ url: URL, _ options: StoreOptions, _ didStep: @escaping @Sendable () -> Void) throws(DataSourceError) {
        (self.url, self.didStep) = (url, didStep)
        (mode, isSynchronous) = (mode_t(truncatingIfNeeded: options.fileMode), options.synchronous == .full)
        if mkdir(url.path, 0o700) != 0, errno != EEXIST { throw DataSourceError(systemCallOn: url.path) }
        let path = url.appending(path: "lock").path
        lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        guard lock >= 0 else { throw DataSourceError(systemCallOn: path) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw DataSourceError(.storeInUse, "Another container or process has \(url.path) open. Close it first.")
        }
    }

    deinit {
        unlock()
        _ = close(lock)
    }

    /// Unlocks the folder. Closing the descriptor is not enough, because a child process may still have a copy.
    func unlock() { _ = flock(lock, LOCK_UN) }

    /// The files in the subfolders with an ending, such as `ContactEntity/12.json`.
    func files(_ ending: String = ".json") throws(DataSourceError) -> [String] {
        let paths = try readable("") { try FileManager.default.subpathsOfDirectory(atPath: url.path) }
        return paths.filter { $0.contains("/") && $0.hasSuffix(ending) }.sorted()
    }

    /// The decoded contents of a file; nil if there is no file.
    func decoded<Value: Decodable>(_ type: Value.Type, _ file: String) throws(DataSourceError) -> Value? {
        guard FileManager.default.fileExists(atPath: path(file)) else { return nil }
        let data = try readable(file) { try Data(contentsOf: url.appending(path: file)) }
        do { return try JSONDecoder().decode(type, from: data) } catch {
            throw (error as? DataSourceError) ?? DataSourceError(damagedFile: file, "\(error)")
        }
    }

    /// Writes files, and removes files without contents. If it throws, every file is unchanged.
    func change(_ files: [String: String?]) throws(DataSourceError) {
        try finish()
        let new = Self.journal + ".new"
        try put(encoded(files), new)
        try check(rename(path(new), path(Self.journal)), Self.journal)
        do throws(DataSourceError) { try sync("") } catch {
            // The disk may have the journal, so the journal must be removed.
            guard unlink(path(Self.journal)) == 0, (try? sync("")) != nil else {
                throw DataSourceError(.outcomeUnknown, "The last save may be stored. Open the store again to find out.")
            }
            throw error
        }
        // From here on the changes count. If they cannot be carried out now, the next change does so.
        try? finish()
    }

    /// Carries out the journal, if there is one.
    func finish() throws(DataSourceError) {
        guard let files = try decoded([String: String?].self, Self.journal) else { return }
        let folders = Set(files.keys.map { String($0.split(separator: "/").dropLast().first ?? "") }).union([""])
        for folder in folders where mkdir(path(folder), 0o700) != 0 && errno != EEXIST {
            throw DataSourceError(systemCallOn: path(folder))
        }
        for (file, contents) in files {
            if let contents { try put(contents, file) } else { try remove(file) }
        }
        for folder in folders { try sync(folder) }
        try remove(Self.journal)
        try sync("")
    }

    private func put(_ contents: String, _ file: String) throws(DataSourceError) {
        let descriptor = open(path(file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try check(descriptor, file)
        defer { _ = close(descriptor) }
        didStep()
        var rest = Array(contents.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            try check(count < 0 ? -1 : 0, file)
            rest = rest.dropFirst(count)
        }
        didStep()
        if isSynchronous { try check(fsync(descriptor), file) }
    }

    private func remove(_ file: String) throws(DataSourceError) {
        if unlink(path(file)) != 0, errno != ENOENT { throw DataSourceError(systemCallOn: path(file)) }
        didStep()
    }

    /// Waits until the disk has the names of a folder's files.
    private func sync(_ folder: String) throws(DataSourceError) {
        didStep()
        guard isSynchronous else { return }
        let descriptor = open(path(folder), O_RDONLY | O_CLOEXEC)
        try check(descriptor, folder)
        defer { _ = close(descriptor) }
        try check(fsync(descriptor), folder)
    }

    private func path(_ file: String) -> String { file.isEmpty ? url.path : url.appending(path: file).path }

    private func check(_ result: Int32, _ file: String) throws(DataSourceError) {
        if result < 0 { throw DataSourceError(systemCallOn: path(file)) }
    }

    private func readable<R>(_ file: String, _ body: () throws -> R) throws(DataSourceError) -> R {
        do { return try body() } catch {
            throw DataSourceError(.storeUnreadable, "\(path(file)) cannot be read.", cause: "\(error)")
        }
    }
}

func encoded(_ value: some Encodable) throws(DataSourceError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do { return String(decoding: try encoder.encode(value), as: UTF8.self) } catch {
        throw DataSourceError(.storeUnreadable, "A save cannot be written as JSON.", cause: "\(error)")
    }
}

extension DataSourceError {
    init(damagedFile file: String, _ cause: String) {
        self.init(.storeCorrupt, "\(file) cannot be read. Correct it, or restore it from a copy.", cause: cause)
    }

    /// The error of the system call that has just failed.
    fileprivate init(systemCallOn path: String) {
        let codes: [Int32: Code] = [
            ENOSPC: .diskFull, EACCES: .permissionDenied, ENOENT: .notAFile, ENOTDIR: .notAFile,
        ]
        let number = errno
        self.init(
            codes[number] ?? .storeUnreadable, "\(path) cannot be read or written.",
            cause: String(cString: strerror(number)))
    }
}
