// error: var 'kept' is not concurrency-safe because it is nonisolated global shared mutable state
import CoreDataSource

var kept: Contact?
