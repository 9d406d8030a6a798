/// How much of the file SQLite keeps in memory for a transaction, in kilobytes.
///
/// A save of very many rows gets more: an index of random values does not fit into the usual cache, so that each of its pages would be
/// written to the log, and read again, time after time. The rows themselves are in memory, and take several times as much.
struct WriterCache {
    private static let usual = Int(Connection.writerCache)
    private static let largest = 128_000
    /// For how many inserted rows the usual cache is enough.
    private static let fewRows = 100_000

    private(set) var size = WriterCache.usual
    private var rowCount = 0

    /// Rows are about to be inserted.
    ///
    /// - Returns: The new size, if it changes.
    mutating func grow(byRows count: Int) -> Int? {
        rowCount += count
        let wanted = min(WriterCache.usual + max(0, rowCount - WriterCache.fewRows) / 8, WriterCache.largest)
        // In large steps, because each of them is a statement.
        guard wanted > size, wanted >= size + size / 2 || wanted == WriterCache.largest else { return nil }
        size = wanted
        return wanted
    }

    /// The transaction has ended.
    ///
    /// - Returns: The new size, if it changes.
    mutating func shrink() -> Int? {
        defer { self = WriterCache() }
        return size == WriterCache.usual ? nil : WriterCache.usual
    }
}

extension Writer {
    func growCache(byRows count: Int) { setCache(cache.grow(byRows: count)) }

    func shrinkCache() { setCache(cache.shrink()) }

    private func setCache(_ size: Int?) {
        // It is only slower if that fails.
        if let size { try? connection.run("PRAGMA cache_size = -\(size)") }
    }
}
