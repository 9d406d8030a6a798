package import RowStore

extension PersistentStore {
    package func rows(_ query: RowQuery) throws(DataSourceError) -> [StoredRow] {
        try read(.statement) { (reader) throws(DataSourceError) in try reader.rows(query) }
    }

    package func keys(_ query: RowQuery = RowQuery(entity: TestModel.item)) throws(DataSourceError) -> [Int64] {
        try rows(query).map(\.key)
    }

    package func count(_ query: RowQuery = RowQuery(entity: TestModel.item)) throws(DataSourceError) -> Int {
        try read(.statement) { (reader) throws(DataSourceError) in try reader.count(query) }
    }

    package func row(_ key: Int64, entity: Int = TestModel.item) throws(DataSourceError) -> RowSnapshot? {
        try read(.statement) { (reader) throws(DataSourceError) in try reader.row(entity: entity, key: key) }
    }

    package func row(constraint: Int, _ values: RowValue...) throws(DataSourceError) -> StoredRow? {
        try read(.statement) { (reader) throws(DataSourceError) in
            try reader.row(entity: TestModel.item, constraint: constraint, values: values)
        }
    }

    /// The position of the newest save.
    package func position() throws(DataSourceError) -> Int64 {
        try read(.statement) { (reader) throws(DataSourceError) in reader.position }
    }
}

package func code(of body: () throws -> Void) -> DataSourceError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? DataSourceError)?.code
    }
}
