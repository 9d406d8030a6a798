// Exports the module for apps and the public types that a store uses, so that the author of a store needs only one
// import.
@_exported public import CoreDataSource
@_exported public import struct RowStore.ChangeSet
@_exported public import struct RowStore.CodableRow
@_exported public import struct RowStore.ColumnLayout
@_exported public import struct RowStore.ColumnSet
@_exported public import enum RowStore.ColumnStorage
@_exported public import struct RowStore.CommitOutcome
@_exported public import struct RowStore.EntityChanges
@_exported public import class RowStore.EntityLayout
@_exported public import enum RowStore.FeedEvent
@_exported public import class RowStore.InMemoryRows
@_exported public import struct RowStore.LeaseEpoch
@_exported public import struct RowStore.LeaseTable
@_exported public import struct RowStore.LeaseTimes
@_exported public import struct RowStore.LeaseTrust
@_exported public import class RowStore.ModelLayout
@_exported public import protocol RowStore.PersistentStore
@_exported public import struct RowStore.QueryExplanation
@_exported public import enum RowStore.ReadIsolation
@_exported public import struct RowStore.RowQuery
@_exported public import struct RowStore.RowSnapshot
@_exported public import enum RowStore.RowValue
@_exported public import struct RowStore.FeedPage
@_exported public import protocol RowStore.ScopeReader
@_exported public import protocol RowStore.ScopeStore
@_exported public import struct RowStore.StartupPlan
@_exported public import struct RowStore.StoreMember
@_exported public import struct RowStore.StoreMetadata
@_exported public import struct RowStore.StoreOptions
@_exported public import protocol RowStore.StoreReader
@_exported public import protocol RowStore.StoreSharing
@_exported public import struct RowStore.StoredRow
@_exported public import struct RowStore.StoredScope
@_exported public import struct RowStore.UpdatedRow
