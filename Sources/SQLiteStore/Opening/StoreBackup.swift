internal import Foundation
internal import ManagedModel
internal import RowStore

/// Keeps an old store as a backup. A backup is one file beside the new store, and can be opened as a store.
struct StoreBackup {
    let files: StoreFiles
    let series: BackupSeries
    /// The number of backups of the series that are kept.
    let keep: Int

    init(_ files: StoreFiles, _ maker: BackupSeries.Maker, keep: Int) {
        self.files = files
        series = BackupSeries(files: files, maker: maker)
        self.keep = keep
    }

    /// Turns the connection's store into a backup, and closes the connection.
    ///
    /// First copies the log into the main file, so that one file is the whole store; then moves the main file. If the
    /// process is killed before the move, the old store still exists. If the process is killed after the move, there is
    /// a backup, but no store.
    ///
    /// - Parameter onRemoval: Called after the move of the main file, even if a later step fails.
    func move(_ connection: Connection, onRemoval: () -> Void = {}) throws(DataSourceError) -> URL {
        let path = try series.freePath()
        try connection.set(pragma: "synchronous", to: 2)
        try connection.copyWholeLog()
        connection.close(copyingLog: true)
        guard try !files.hasLog() else {
            throw DataSourceError(
                .storeBusy,
                "The log of \(files.main) could not be copied into the file, so the file cannot become a backup. Try again later."
            )
        }
        try files.move(files.main, to: path)
        onRemoval()
        try files.syncFolder()
        try StoreReset(files: files).removeRemains()
        series.prune(except: path, keep: keep)
        return URL(fileURLWithPath: path)
    }

    /// Copies the connection's store to a backup, and keeps the store. The copy gets its final name when it is complete.
    func copy(_ connection: Connection) throws(DataSourceError) -> URL {
        let path = try series.freePath()
        let partial = path + BackupSeries.partialSuffix
        try files.make(partial)
        try connection.run("VACUUM INTO \(partial.quotedText)")
        try files.sync(partial)
        try files.move(partial, to: path)
        try files.syncFolder()
        series.prune(except: path, keep: keep)
        return URL(fileURLWithPath: path)
    }
}

/// The backups of one store that one policy has made. The form of their names distinguishes them from all other files.
struct BackupSeries {
    /// The policy that makes the backups. A backup's name is the store's name, the raw value and the date.
    enum Maker: String, CaseIterable {
        case backup = ".backup-"
        case standard = ".standard-backup-"
    }

    let files: StoreFiles
    let maker: Maker
    var now = Date()

    /// The suffix of an incomplete copy.
    static let partialSuffix = ".partial"

    private static let style = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, timeSeparator: .omitted, includingFractionalSeconds: true)

    private var prefix: String { URL(fileURLWithPath: files.main).lastPathComponent + maker.rawValue }

    /// Returns a free path for the next backup. The path of the backup's incomplete copy is also free.
    func freePath() throws(DataSourceError) -> String {
        let names = Set(try files.names())
        var date = now
        while true {
            let name = prefix + date.formatted(BackupSeries.style)
            if !names.contains(name) && !names.contains(name + BackupSeries.partialSuffix) {
                return files.folder + "/" + name
            }
            date += 0.001
        }
    }

    /// Returns the URLs of the backups, oldest first.
    func urls() throws(DataSourceError) -> [URL] {
        try found(files.names()).finished.map { URL(fileURLWithPath: "\(files.folder)/\($0)") }
    }

    /// Whether the series has no backups and no incomplete copies.
    var isEmpty: Bool {
        get throws(DataSourceError) {
            let (finished, unfinished) = found(try files.names())
            return finished.isEmpty && unfinished.isEmpty
        }
    }

    /// Removes all backups and incomplete copies. Returns after the removal has reached the disk.
    ///
    /// - Returns: The URLs of the removed backups, oldest first.
    func removeAll() throws(DataSourceError) -> [URL] {
        let (finished, unfinished) = found(try files.names())
        for name in finished + unfinished { try remove(name) }
        if !(finished + unfinished).isEmpty { try files.syncFolder() }
        return finished.map { URL(fileURLWithPath: "\(files.folder)/\($0)") }
    }

    /// Removes all incomplete copies, and all backups except the newest. Ignores a file that cannot be removed, because the new
    /// backup matters more. The next call tries again.
    ///
    /// - Parameters:
    ///   - path: The path of the new backup.
    ///   - count: The number of backups to keep, including the new backup.
    func prune(except path: String, keep count: Int) {
        let new = URL(fileURLWithPath: path).lastPathComponent
        guard let names = try? files.names() else { return }
        let (finished, unfinished) = found(names.filter { $0 != new })
        for name in finished.dropLast(max(0, count - 1)) + unfinished { try? remove(name) }
    }

    private func remove(_ name: String) throws(DataSourceError) {
        // An incomplete copy may have a journal. Another program that has opened a backup may have left the other files.
        for suffix in ["", "-wal", "-shm", "-journal"] { try files.remove("\(files.folder)/\(name)\(suffix)") }
    }

    private func found(_ names: [String]) -> (finished: [String], unfinished: [String]) {
        let suffix = BackupSeries.partialSuffix.utf8
        let unfinished = names.filter {
            $0.utf8.suffix(suffix.count).elementsEqual(suffix)
                && isBackup(String($0.utf8.dropLast(suffix.count)) ?? "")
        }
        return (names.filter(isBackup).sorted(), unfinished)
    }

    private func isBackup(_ name: String) -> Bool {
        guard let date = name.remainder(afterPrefix: prefix) else { return false }
        let digits = date.utf8.map { (0x30...0x39).contains($0) ? 0x30 : $0 }
        return String(decoding: digits, as: UTF8.self) == "00000000T000000.000Z"
    }
}

/// Moves an old store to a folder that the user has chosen.
struct FolderBackup {
    let files: StoreFiles
    let folder: URL

    /// Moves all files of a store that no process has open.
    ///
    /// First copies the log into the main file, so that one file is the whole store. A rename then moves the main file, so the
    /// store is always complete in exactly one of the two folders.
    ///
    /// - Returns: The new URL of the main file.
    func move() throws(DataSourceError) -> URL {
        try checkFileSystem()
        try makeFolder()
        try copyLog()
        let target = freePath()
        for suffix in ["", "-wal", "-shm"] where files.exists(files.main + suffix) {
            guard rename(files.main + suffix, target + suffix) == 0 else {
                throw DataSourceError(systemError: errno, path: files.main + suffix, while: "moving")
            }
        }
        try StoreFiles(URL(filePath: target), files.calls, mode: Int(files.mode)).syncFolder()
        try files.syncFolder()
        return URL(filePath: target)
    }

    private func makeFolder() throws(DataSourceError) {
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            throw DataSourceError(
                .notAFile, "The folder \(folder.path) for the backup cannot be made. Choose another folder.",
                cause: error.localizedDescription)
        }
    }

    /// Checks that the folder, or its nearest existing parent, is on the same file system as the store.
    private func checkFileSystem() throws(DataSourceError) {
        var nearest = folder.standardizedFileURL
        while !files.exists(nearest.path), nearest.path != "/" { nearest.deleteLastPathComponent() }
        var here = stat()
        var there = stat()
        guard stat(files.main, &here) == 0, stat(nearest.path, &there) == 0 else {
            throw DataSourceError(systemError: errno, path: folder.path, while: "opening")
        }
        guard here.st_dev == there.st_dev else {
            throw DataSourceError(
                .notAFile,
                "The folder \(folder.path) is on another file system than the store, so the store cannot be moved "
                    + "there in one step. Choose a folder beside the store.")
        }
    }

    private func copyLog() throws(DataSourceError) {
        let connection = try Connection(path: files.main, isReader: false)
        defer { connection.close(copyingLog: true) }
        try connection.configure()
        let outcome = try connection.values("PRAGMA wal_checkpoint(TRUNCATE)")
        guard outcome.first?.first == .integer(0) else {
            throw DataSourceError(
                .storeBusy,
                "Another connection, in this or another process, keeps \(files.main) locked. Close that connection, or "
                    + "try again later."
            )
        }
    }

    /// Returns a free path in the folder. The file has the store's name, followed by a number if that name is taken.
    private func freePath() -> String {
        let name = URL(filePath: files.main)
        let base = folder.appending(component: name.deletingPathExtension().lastPathComponent).path
        let suffix = name.pathExtension.isEmpty ? "" : ".\(name.pathExtension)"
        var number = 1
        var path = base + suffix
        while ["", "-wal", "-shm"].contains(where: { files.exists(path + $0) }) {
            number += 1
            path = "\(base)-\(number)\(suffix)"
        }
        return path
    }
}
