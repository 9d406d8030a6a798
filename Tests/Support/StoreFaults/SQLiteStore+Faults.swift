internal import Foundation
internal import RowStore
internal import SQLiteStore
internal import StoreTestModel

extension SQLiteStore.Options {
    /// A store of the test model that copies its log into the main file again and again.
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
    /// Writes a save; returns the error's code if that fails.
    func failure(of save: ChangeSet) -> DataSourceError.Code? {
        do throws(DataSourceError) {
            try write([save])
            return nil
        } catch {
            return error.code
        }
    }
}
