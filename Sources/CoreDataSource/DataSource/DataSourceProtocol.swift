/// Any data source, as a constraint of functions that take several of them.
///
/// ``PersistentContainer/perform(in:waitFor:_:)`` takes a parameter pack of data sources and passes one context for each. The
/// type of the context has to be an associated type for that: Swift cannot repeat a type that is the same for every element of
/// a pack.
///
/// Do not conform to it: subclass ``DataSource``. A type of your own that conforms to it ends the process when it is passed to a
/// container.
public nonisolated protocol DataSourceProtocol: AnyObject, Sendable {
    /// The context in which the entities of the data source are changed: always ``PrivateContext``.
    associatedtype Context: PrivateContext = PrivateContext
}

extension AnyDataSource: DataSourceProtocol {}
