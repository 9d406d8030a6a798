internal import Foundation
internal import RowStore

/// Notices when the files of an open store were moved, replaced or deleted. Writing to them goes on without an error then,
/// and what is written is gone when they are closed.
///
/// It belongs to the writer, and only looks at names: no file is opened.
final class FileWatch {
    private struct Identity: Equatable {
        let device: UInt64
        let number: UInt64
    }

    private let files: StoreFiles
    /// Nil until seen for the first time.
    private var main: Identity?
    private var log: Identity?

    init(_ files: StoreFiles) {
        self.files = files
        main = try? identity(files.main)
    }

    /// - Throws: `storeMoved` if one of the files is not the one that was there before.
    func check() throws(DataSourceError) {
        try check(&main, files.main)
        try check(&log, files.log)
    }

    private func check(_ known: inout Identity?, _ path: String) throws(DataSourceError) {
        let found = try identity(path)
        guard let expected = known else {
            known = found
            return
        }
        guard found == expected else { throw DataSourceError(storeMoved: path) }
    }

    private func identity(_ path: String) throws(DataSourceError) -> Identity? {
        try files.state(path).map { Identity(device: UInt64($0.st_dev), number: UInt64($0.st_ino)) }
    }
}
