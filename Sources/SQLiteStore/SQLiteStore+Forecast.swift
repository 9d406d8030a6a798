package import Foundation
package import RowStore

extension SQLiteStore {
    /// What the next opening would do, without changing a byte or making a file. Others may have the store open.
    ///
    /// - Parameter countsRows: Whether to count rows for a reset even if the store would be kept.
    /// - Returns: The reason, how many objects would be dropped, and which backups would be removed.
    /// - Throws: What opening would throw.
    package static func forecast(
        _ options: Options, countsRows: Bool = false
    ) throws(DataSourceError) -> StoreStartup {
        try look(options) { (forecast) throws(DataSourceError) in try forecast.run(countsRows: countsRows) }
            ?? StoreStartup(reason: .firstLaunch)
    }

    /// What a migration would do; nil if the store was made for this model, or does not exist.
    package static func migrationForecast(_ options: Options) throws(DataSourceError) -> MigrationForecast? {
        try look(options) { (forecast) throws(DataSourceError) in try forecast.migration() } ?? nil
    }

    /// The outlook of a store that would be kept; nil if it does not exist, or would be reset.
    package static func outlook(_ options: Options) throws(DataSourceError) -> StoreOutlook? {
        try look(options) { (forecast) throws(DataSourceError) in try forecast.outlook() } ?? nil
    }

    /// Nil if there is no store.
    private static func look<R>(
        _ options: Options, _ body: (StoreForecast) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R? {
        let schema = try StoreSchema(options.layout)
        let files = try StoreFiles(options.url, options.calls)
        guard try files.mainExists() else { return nil }
        return try body(StoreForecast(files: files, schema: schema, options: options))
    }

    /// Who has a store open, here or in another process.
    package static func occupants(_ url: URL) throws(DataSourceError) -> StoreOccupants {
        try StoreFiles(url, .system).occupants()
    }
}
