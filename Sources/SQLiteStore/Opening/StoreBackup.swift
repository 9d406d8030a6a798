internal import Foundation
internal import ManagedModel
internal import RowStore

/// Sets an old store aside as one file beside the new one: a whole store that can be opened.
struct StoreBackup {
    let files: StoreFiles
    /// How many backups stay.
    let keep: Int
    var now = Date()

    private static let style = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, timeSeparator: .omitted, includingFractionalSeconds: true)

    /// Moves the store away that the connection has open, and closes it.
    ///
    /// The log is copied into the main file first, so that one file is the whole store: whoever is killed before the move
    /// leaves the old store, and after it no store.
    ///
    /// - Parameter onRemoval: Called once the main file is moved, whatever fails after that.
    func move(_ connection: Connection, onRemoval: () -> Void = {}) throws(DataSourceError) -> URL {
        let path = try freePath()
        try connection.set(pragma: "synchronous", to: 2)
        try connection.copyWholeLog()
        connection.close(copyingLog: true)
        guard try !files.hasLog() else {
            throw DataSourceError(
                .storeBusy,
                "The log of \(files.main) could not be copied, so there is no whole file to set aside. Try again later."
            )
        }
        try files.move(files.main, to: path)
        onRemoval()
        try files.syncFolder()
        try StoreReset(files: files).removeRemains()
        prune(except: path)
        return URL(fileURLWithPath: path)
    }

    /// Copies the store that the connection has open, which stays as it is. The copy gets its name when it is whole.
    func copy(_ connection: Connection) throws(DataSourceError) -> URL {
        let path = try freePath()
        let partial = path + StoreBackup.partialSuffix
        try files.make(partial)
        try connection.run("VACUUM INTO \(partial.quotedText)")
        try files.sync(partial)
        try files.move(partial, to: path)
        try files.syncFolder()
        prune(except: path)
        return URL(fileURLWithPath: path)
    }

    // MARK: Names

    private static let partialSuffix = ".partial"

    private var prefix: String { URL(fileURLWithPath: files.main).lastPathComponent + ".backup-" }

    /// A path that no file has, not even a copy that was never finished.
    private func freePath() throws(DataSourceError) -> String {
        let names = Set(try files.names())
        var date = now
        while true {
            let name = prefix + date.formatted(StoreBackup.style)
            if !names.contains(name) && !names.contains(name + StoreBackup.partialSuffix) {
                return files.folder + "/" + name
            }
            date += 0.001
        }
    }

    /// Removes all but the newest backups, and copies that were never finished. What cannot be removed stays until the
    /// next time: the new backup is what matters.
    private func prune(except path: String) {
        let new = URL(fileURLWithPath: path).lastPathComponent
        guard let names = try? files.names() else { return }
        let finished = names.filter { $0 != new && isBackup($0) }.sorted()
        let suffix = StoreBackup.partialSuffix.utf8.count
        let unfinished = names.filter {
            $0.utf8.suffix(suffix).elementsEqual(StoreBackup.partialSuffix.utf8)
                && isBackup(String($0.utf8.dropLast(suffix)) ?? "")
        }
        for name in finished.dropLast(max(0, keep - 1)) + unfinished {
            for suffix in ["", "-wal", "-shm", "-journal"] { try? files.remove("\(files.folder)/\(name)\(suffix)") }
        }
    }

    private func isBackup(_ name: String) -> Bool {
        guard let date = name.remainder(afterPrefix: prefix) else { return false }
        let digits = date.utf8.map { (0x30...0x39).contains($0) ? 0x30 : $0 }
        return String(decoding: digits, as: UTF8.self) == "00000000T000000.000Z"
    }
}

extension Connection {
    /// Copies all of the log into the main file and empties it.
    fileprivate func copyWholeLog() throws(DataSourceError) {
        guard case .integer(0) = try values("PRAGMA wal_checkpoint(TRUNCATE)").first?.first else {
            throw DataSourceError(
                .storeBusy, "Another program kept \(path) locked. Close that program, or try again later.")
        }
    }
}
