internal import Foundation
internal import ManagedModel
internal import RowStore

/// The backups of one store that the same policy made. Their names distinguish them from all other files, and from each other.
struct BackupSeries {
    /// The policy that made a backup; the raw value follows the store's name in the backup's name.
    enum Maker: String, CaseIterable {
        case backup = ".backup-"
        case standard = ".standard-backup-"
    }

    let files: StoreFiles
    let maker: Maker
    var now = Date()

    /// The suffix of a copy that is not complete yet.
    static let partialSuffix = ".partial"

    private static let style = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, timeSeparator: .omitted, includingFractionalSeconds: true)

    private var prefix: String { URL(fileURLWithPath: files.main).lastPathComponent + maker.rawValue }

    /// A path that no file has, not even an incomplete copy.
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

    /// Where the backups are, the oldest first.
    func urls() throws(DataSourceError) -> [URL] {
        try found(files.names()).finished.map { URL(fileURLWithPath: "\(files.folder)/\($0)") }
    }

    /// Whether there is neither a backup nor an incomplete copy.
    var isEmpty: Bool {
        get throws(DataSourceError) {
            let (finished, unfinished) = found(try files.names())
            return finished.isEmpty && unfinished.isEmpty
        }
    }

    /// Removes all of them, and incomplete copies. It returns once the removal is on the disk.
    ///
    /// - Returns: Where they were, the oldest first.
    func removeAll() throws(DataSourceError) -> [URL] {
        let (finished, unfinished) = found(try files.names())
        for name in finished + unfinished { try remove(name) }
        if !(finished + unfinished).isEmpty { try files.syncFolder() }
        return finished.map { URL(fileURLWithPath: "\(files.folder)/\($0)") }
    }

    /// Removes all but the newest backups, and incomplete copies. Files that cannot be removed stay until the next time,
    /// because the new backup is more important.
    ///
    /// - Parameters:
    ///   - path: The new backup.
    ///   - count: How many stay, including the new one.
    func prune(except path: String, keep count: Int) {
        let new = URL(fileURLWithPath: path).lastPathComponent
        guard let names = try? files.names() else { return }
        let (finished, unfinished) = found(names.filter { $0 != new })
        for name in finished.dropLast(max(0, count - 1)) + unfinished { try? remove(name) }
    }

    private func remove(_ name: String) throws(DataSourceError) {
        // The journal belongs to an incomplete copy, or to another program.
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
