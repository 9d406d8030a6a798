internal import Foundation
internal import RowStore
internal import SQLiteStore
internal import StoreTestModel

extension SQLiteStore.Options {
    /// A store of the test model that often copies its WAL into the main file.
    static func copyingLogOften(
        _ url: URL, _ level: SynchronousLevel, _ calls: FileCalls = .system
    ) -> SQLiteStore.Options {
        var options = SQLiteStore.Options(
            url: url, layout: TestModel.layout, identity: TestModel.identity(), synchronous: level, resetPolicy: .fail,
            calls: calls)
        options.logLimit = 10
        return options
    }
}

extension SQLiteStore {
    /// Writes a save. Returns the error's code if the save fails.
    func failure(of save: ChangeSet) -> DataSourceError.Code? {
        do throws(DataSourceError) {
            try write([save])
            return nil
        } catch {
            return error.code
        }
    }
}
