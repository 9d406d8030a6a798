internal import RowStore

/// Keys of single data sources: `[ContactDataSource.self: "7"]`.
///
/// The database key covers all rows; the key of a data source covers the rows of its entities. If you change it, the next start
/// drops those rows and keeps all others. The key is stored in clear text. An empty key is the same as none: the rows keep the key that
/// they have.
public struct DataSourceKeys: Sendable, ExpressibleByDictionaryLiteral {
    private var keys: [(source: AnyDataSource.Type, key: String)]

    /// No keys.
    public init() {
        keys = []
    }

    public init(dictionaryLiteral elements: (AnyDataSource.Type, String)...) {
        self.init()
        for (source, key) in elements { self[source] = key }
    }

    /// The key of a data source.
    public subscript(source: AnyDataSource.Type) -> String? {
        get { keys.first { $0.source == source }?.key }
        set {
            keys.removeAll { $0.source == source }
            if let newValue { keys.append((source, newValue)) }
        }
    }

    /// The key of each concrete entity, by the entity's name.
    func entityKeys(_ layout: ModelLayout) -> [String: String] {
        var entityKeys: [String: String] = [:]
        for (source, key) in keys {
            for object in source.entities {
                // A name that is not in the model becomes an error when the data source is made.
                for entity in layout.entity(named: object.entityName)?.concreteFamily ?? [] {
                    entityKeys[layout.entities[entity].name] = key
                }
            }
        }
        return entityKeys
    }
}
