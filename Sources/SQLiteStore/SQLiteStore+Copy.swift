package import Foundation
package import RowStore

extension SQLiteStore {
    /// Copies the store to a new file, as it is when the copy begins; commits continue meanwhile.
    ///
    /// - Throws: `fileExists`, `storeClosed`, the error of writing the file, and `cancelled` if the task is cancelled. No new
    ///   file exists then.
    package func copy(to url: URL) throws(DataSourceError) {
        let target = try StoreFiles(url, files.calls)
        let reader = try readers.take { () throws(DataSourceError) in
            try reopenIfLost()
            try checkUnchanged()
        }
        defer { readers.give(back: reader) }
        try StoreCopy(target: target).run(reader.connection)
    }
}
